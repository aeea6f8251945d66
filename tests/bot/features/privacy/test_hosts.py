"""What hosts can do: forget somebody from the command line, and have unused profiles forgotten."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from typer.testing import CliRunner

from bot.cli import main as cli
from bot.features.privacy.feature import PrivacyFeature
from bot.features.privacy.unused import MOST_DAYS, UnusedProfiles
from bot.finished.file import to_line
from bot.people import People
from bot.platform import Person
from bot.pseudonyms import ForgettingMark, forgetting_marks
from bot.settings import BadSetting, read_settings
from bot.store import EmbeddedStore, Store, keys, open_store, schema
from tests.bot.away import until
from tests.bot.fake_platform import FakePlatform, open_worker
from tests.bot.features.privacy.traces import traces
from tests.bot.finished.games import finished, keep

pytestmark = pytest.mark.usefixtures("no_settings")


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
        assert runner.invoke(cli.app, ["forget", wrong, "--yes"]).exit_code == 2
    unknown = runner.invoke(cli.app, ["forget", "paper:777", "--yes"])
    assert unknown.exit_code == 2
    # Nor is anybody asked about what cannot be.
    for wrong in ("Zenobia", "paper:777", "paper:@nobody"):
        unasked = runner.invoke(cli.app, ["forget", wrong], input="y\n")
        assert unasked.exit_code == 2
        assert "Forget" not in unasked.output
    # It cannot be taken back, so it is asked first.
    assert runner.invoke(cli.app, ["forget", person], input="n\n").exit_code == 1
    unanswered = runner.invoke(cli.app, ["forget", person], input="")
    assert unanswered.exit_code == 1
    assert "nobody is here to answer that: --yes does not ask" in unanswered.stderr
    done = runner.invoke(cli.app, ["forget", person, "--yes", "--file", str(file)])
    assert done.exit_code == 0, done.output
    # It stood in the file alone: nobody counts "1 games".
    assert f"{person} is forgotten, and was named in 0 games, 0 ratings and 0 tables." in done.output
    assert person not in file.read_text()
    assert '"somebody"' in file.read_text()

    async def look() -> list[str]:
        async with _store(tmp_path) as store:
            return await traces(store, person, "zenobia")

    assert asyncio.run(look()) == []
    assert runner.invoke(cli.app, ["forget", person, "--yes"]).exit_code == 2


def test_a_person_may_be_named_by_their_at_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUONGIOCO_DATA", str(tmp_path / "data"))

    async def meet() -> None:
        async with _store(tmp_path) as store:
            people = People(store.client)
            await people.meet(Person("telegram:42", "Zenobia", "zenobia"))
            await people.meet(Person("discord:42", "Zenobia", "zenobia"))
            await people.meet(Person("discord:7", "Yves", "yves"))
            await keep(store, replace(finished(1), people=["discord:7", "telegram:42"]))

    asyncio.run(meet())
    runner = CliRunner()
    asked = runner.invoke(cli.app, ["forget", "telegram:@Zenobia"], input="n\n")
    assert asked.exit_code == 1
    assert "Forget Zenobia (telegram:42) for good, " in asked.output
    several = runner.invoke(cli.app, ["forget", "@zenobia", "--yes"])
    assert several.exit_code == 2
    assert all(person in several.output for person in ("discord:42", "telegram:42"))
    nobody = runner.invoke(cli.app, ["forget", "@xavier", "--yes"])
    assert nobody.exit_code == 2
    assert "/mydata" in nobody.output
    for wrong in ("", "yves", "discord", "discord:", "@", "a b"):
        refused = runner.invoke(cli.app, ["export", "--person", wrong])
        assert refused.exit_code == 2, wrong
        assert "is no person" in refused.output
    assert runner.invoke(cli.app, ["export", "--chat", "friends"]).exit_code == 2
    by_name = runner.invoke(cli.app, ["export", "--person", "@yves"])
    assert by_name.exit_code == 0
    assert "1 game\n" in by_name.output
    done = runner.invoke(cli.app, ["forget", "@yves", "--yes"])
    assert done.exit_code == 0, done.output
    assert "discord:7 is forgotten" in done.output


class _store:  # noqa: N801
    """The embedded store, as a bot opens it."""

    def __init__(self, folder: Path) -> None:
        self.embedded = EmbeddedStore(folder / "data")

    async def __aenter__(self) -> Store:
        await self.embedded.start()
        self.opened = open_store(self.embedded.url)
        return await self.opened.__aenter__()

    async def __aexit__(self, *about: object) -> None:
        await self.opened.__aexit__(None, None, None)
        await self.embedded.stop()


def test_forget_knows_by_the_stores_clock_whether_a_bot_runs(
    embedded: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", embedded.url)

    async def begin() -> None:
        async with open_store(embedded.url) as store:
            await schema.check(store.client)
            await People(store.client).meet(Person("paper:5", "Zenobia", "zenobia"))
            await store.attendance.report_alive("worker")

    asyncio.run(begin())
    real = time.time
    monkeypatch.setattr("time.time", lambda: real() + 4 * 365 * 86400)
    done = CliRunner().invoke(cli.app, ["forget", "paper:5", "--yes"])
    assert done.exit_code == 0, done.output
    assert "looks once more in a minute" in done.output


async def test_forget_reaches_a_running_bot(embedded: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the bot would go on with the profile that it remembers."""
    monkeypatch.setenv("REDIS_URL", embedded.url)
    async with open_store(embedded.url) as store, open_worker(store, FakePlatform()) as worker:
        await worker.people.meet(Person("paper:6", "Yolanda", "yolanda"))
        heard: list[str] = []
        monkeypatch.setattr(worker.updates, "on_profile_changed", heard.append)
        while not dict(await store.client.pubsub_numsub(keys.NOTIFICATIONS))[keys.NOTIFICATIONS.encode()]:
            await asyncio.sleep(0)
        done = await asyncio.to_thread(CliRunner().invoke, cli.app, ["forget", "paper:6", "--yes"])
        assert done.exit_code == 0, done.output
        await until(lambda: keys.person("paper:6") in heard)


async def profiles(store: Store, **used: int) -> None:
    """People by name, and the day on which each was last here."""
    for name, day in used.items():
        await store.client.hset(keys.person(f"paper:{name}"), mapping={"name": name, "used": day})


async def test_profiles_that_nobody_uses_are_forgotten_and_others_are_not(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        today = await store.attendance.current_day()
        await profiles(store, ada=today - 731, bea=today - 730)
        await store.client.hset(keys.person("paper:cleo"), mapping={"name": "Cleo"})
        unused = UnusedProfiles(store, worker.people, worker.feature(PrivacyFeature).forgetter, 730)
        assert await unused.run_round() == 1
        assert set(await forgetting_marks(store.client)) == {"paper:ada"}
        assert (await worker.people.reload("paper:bea")).name == "bea"
        # Of whom no day was known counts from the first round.
        assert await store.client.hget(keys.person("paper:cleo"), "used") == str(today).encode()
        assert await unused.run_round() is None  # once a day


async def test_a_workers_clock_that_is_years_ahead_forgets_nobody(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        today = await store.attendance.current_day()
        await profiles(store, ada=today, bea=today - 10)
        now = time.time() + 4 * 365 * 86400
        worker.people.now = worker.feature(PrivacyFeature).forgetter.now = lambda: now
        assert (
            await UnusedProfiles(store, worker.people, worker.feature(PrivacyFeature).forgetter, 730).run_round() == 0
        )
        assert await forgetting_marks(store.client) == {}


async def test_a_stores_clock_that_jumps_four_years_counts_as_a_few_days(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        # The last round was by the right clock, four years before what the store says now.
        before = await store.attendance.current_day() - 4 * 365
        await store.client.set(keys.SWEEPING_DAY, before)
        await profiles(store, ada=before, bea=before - 700)
        unused = UnusedProfiles(store, worker.people, worker.feature(PrivacyFeature).forgetter, 730)
        with capture_logs() as logs:
            assert await unused.run_round() == 0
        [warning] = [one for one in logs if one["event"] == "store_clock_jumped"]
        assert warning["counted"] == before + MOST_DAYS
        # It goes on from there: a bot that was down for four years forgets in the end.
        for _ in range(10):
            await store.client.delete(keys.SWEEPING)
            await unused.run_round()
        assert await store.client.get(keys.SWEEPING_DAY) == str(before + 11 * MOST_DAYS).encode()
        async with asyncio.timeout(30):
            while await store.client.exists(keys.person("paper:bea")):
                await worker.feature(PrivacyFeature).forgetter.work()
                await asyncio.sleep(0.01)
        assert await store.client.exists(keys.person("paper:ada"))


async def test_a_round_forgets_a_tenth_of_all_and_the_longest_unused_first(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        today = await store.attendance.current_day()
        await profiles(store, **{f"p{number}": today - 1000 - number for number in range(30)})
        unused = UnusedProfiles(store, worker.people, worker.feature(PrivacyFeature).forgetter, 730)
        begun: list[str] = []
        real = worker.feature(PrivacyFeature).forgetter.begin

        async def begin(person: str) -> ForgettingMark:
            begun.append(person)
            return await real(person)

        worker.feature(PrivacyFeature).forgetter.begin = begin  # type: ignore[method-assign]
        with capture_logs() as logs:
            assert await unused.run_round() == 3
        assert begun == ["paper:p29", "paper:p28", "paper:p27"]
        assert [one["due"] for one in logs if one["event"] == "unused_profiles_postponed"] == [30]


async def test_who_comes_back_while_profiles_are_looked_through_is_not_forgotten(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        today = await store.attendance.current_day()
        await profiles(store, ada=today - 1000, bea=today - 900, **{f"p{number}": today for number in range(20)})
        unused = UnusedProfiles(store, worker.people, worker.feature(PrivacyFeature).forgetter, 730)
        real = worker.feature(PrivacyFeature).forgetter.begin

        async def begin(person: str) -> ForgettingMark:
            await worker.people.meet(Person("paper:bea", "Bea", "bea"))
            return await real(person)

        worker.feature(PrivacyFeature).forgetter.begin = begin  # type: ignore[method-assign]
        assert await unused.run_round() == 1
        assert set(await forgetting_marks(store.client)) == {"paper:ada"}


async def test_a_profile_that_is_erased_while_it_is_looked_at_is_not_made_anew(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        unused = UnusedProfiles(store, worker.people, worker.feature(PrivacyFeature).forgetter, 730)
        key = keys.person("paper:ada")
        await store.client.hset(key, "name", "ada")
        real = store.client.execute_command

        async def erased_before_it_is_written(*words: object, **more: object) -> object:
            if words[:2] == ("HSET", key) or words[0] == "EVALSHA":
                monkeypatch.undo()
                await store.client.delete(key)
            return await real(*words, **more)

        monkeypatch.setattr(store.client, "execute_command", erased_before_it_is_written)
        today = 20_000
        assert await unused._last_used_day("paper:ada", today) == today
        assert not await store.client.exists(key)


@pytest.mark.parametrize("text", ["730", "0d", "two years", "-5d"])
def test_days_that_cannot_be_are_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUONGIOCO_FORGET_AFTER", text)
    with pytest.raises(BadSetting, match="BUONGIOCO_FORGET_AFTER must be a number of days"):
        read_settings()


def test_days_are_read_and_unset_is_never(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_settings({}).forget_after_days is None
    monkeypatch.setenv("BUONGIOCO_FORGET_AFTER", "730d")
    assert read_settings().forget_after_days == 730
