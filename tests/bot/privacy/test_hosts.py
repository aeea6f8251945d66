"""What hosts can do: forget somebody from the command line, and have unused profiles forgotten."""

import asyncio
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import main as cli
from bot.finished.file import to_line
from bot.people import People
from bot.platform import Person
from bot.privacy.unused import Unused
from bot.settings import BadSetting, read_settings
from bot.somebody import marks
from bot.store import EmbeddedStore, Store, keys, opened, schema
from tests.bot.finished.games import finished
from tests.bot.paper import Paper, open_house
from tests.bot.privacy.traces import traces


def test_forget_says_what_it_did_and_files_are_rewritten_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUONGIOCO_DATA", str(tmp_path / "data"))
    game = finished(1)
    person = game.people[0]
    file = tmp_path / "old.jsonl"
    file.write_bytes(to_line(1, game))

    async def meet() -> None:
        async with _store(tmp_path) as store:
            await People(store.client).meet(Person(person, "Zenobia", "zenobia"))

    asyncio.run(meet())
    runner = CliRunner()
    for wrong in ("robot:easy", "somebody:12345678", "Zenobia", "paper:"):
        assert runner.invoke(cli.app, ["forget", wrong]).exit_code == 2
    unknown = runner.invoke(cli.app, ["forget", "paper:777"])
    assert unknown.exit_code == 2
    done = runner.invoke(cli.app, ["forget", person, "--file", str(file)])
    assert done.exit_code == 0, done.output
    assert f"{person} is forgotten" in done.output
    assert person not in file.read_text()
    assert '"somebody"' in file.read_text()

    async def look() -> list[str]:
        async with _store(tmp_path) as store:
            return await traces(store, person, "zenobia")

    assert asyncio.run(look()) == []
    assert runner.invoke(cli.app, ["forget", person]).exit_code == 2


class _store:  # noqa: N801
    """The embedded store, as a bot opens it."""

    def __init__(self, folder: Path) -> None:
        self.embedded = EmbeddedStore(folder / "data")

    async def __aenter__(self) -> Store:
        await self.embedded.start()
        self.opened = opened(self.embedded.url)
        return await self.opened.__aenter__()

    async def __aexit__(self, *about: object) -> None:
        await self.opened.__aexit__(None, None, None)
        await self.embedded.stop()


def test_forget_knows_by_the_stores_clock_whether_a_bot_runs(
    embedded: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", embedded.url)

    async def begin() -> None:
        async with opened(embedded.url) as store:
            await schema.check(store.client)
            await People(store.client).meet(Person("paper:5", "Zenobia", "zenobia"))
            await store.attendance.present("worker")

    asyncio.run(begin())
    real = time.time
    monkeypatch.setattr("time.time", lambda: real() + 4 * 365 * 86400)
    done = CliRunner().invoke(cli.app, ["forget", "paper:5"])
    assert done.exit_code == 0, done.output
    assert "looks once more in a minute" in done.output


async def test_profiles_that_nobody_uses_are_forgotten_and_others_are_not(store: Store) -> None:
    async with open_house(store, Paper()) as house:
        day = 86400.0
        now = 20_000 * day
        house.people.now = lambda: now
        for number, name in enumerate(("Ada", "Bea"), 1):
            await house.people.meet(Person(f"paper:{number}", name, name.lower()))
        await store.client.hset(keys.person("paper:3"), mapping={"name": "Cleo"})
        unused = Unused(store, house.people, house.forgetter, 730)
        assert await unused.round() == 0
        now += 700 * day
        await house.people.meet(Person("paper:2", "Bea", "bea"))
        now += 31 * day
        assert await unused.round() is None  # once a day
        await store.client.delete(keys.SWEEPING)
        assert await unused.round() == 2  # Cleo's day of old was not known: it began with the first round
        assert set(await marks(store.client)) <= {"paper:1", "paper:3"}
        assert (await house.people.fresh("paper:2")).name == "Bea"


@pytest.mark.parametrize("text", ["730", "0d", "two years", "-5d"])
def test_days_that_cannot_be_are_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUONGIOCO_FORGET_AFTER", text)
    with pytest.raises(BadSetting, match="BUONGIOCO_FORGET_AFTER reads as a number of days"):
        read_settings()


def test_days_are_read_and_unset_is_never(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_settings({}).forget_after_days is None
    monkeypatch.setenv("BUONGIOCO_FORGET_AFTER", "730d")
    assert read_settings().forget_after_days == 730
