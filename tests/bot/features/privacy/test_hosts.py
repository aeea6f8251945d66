"""The command `buongioco forget`, and the forgetting of unused profiles."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from typer.testing import CliRunner

from bot.cli import main as cli
from bot.features.privacy.feature import PrivacyFeature
from bot.features.privacy.unused import MAX_DAYS, SWEEPING_KEY, UnusedProfiles
from bot.finished.archive_file import to_line
from bot.identity.pseudonyms import ForgettingMark, forgetting_marks
from bot.people import People
from bot.platform import Person
from bot.settings import BadSetting
from bot.settings_reader import read_settings
from bot.store import EmbeddedStore, Store, keys, layout_version, open_store
from tests.bot.fake_platform import FakePlatform, open_worker
from tests.bot.features.privacy.traces import find_traces
from tests.bot.finished.games import finished_game, store_game
from tests.bot.platform_outages import wait_until

pytestmark = pytest.mark.usefixtures("no_settings")


def test_forget_command_confirms_then_rewrites_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUONGIOCO_DATA", str(tmp_path / "data"))
    game = finished_game(1)
    person = game.people[0]
    file = tmp_path / "old.jsonl"
    file.write_bytes(to_line(1, game))

    async def meet() -> None:
        async with OpenedStore(tmp_path) as store:
            await People(store.client).meet(Person(person, "Zenobia", "zenobia"))

    asyncio.run(meet())
    runner = CliRunner()
    for invalid in ("robot:easy", "somebody:12345678", "Zenobia", "paper:"):
        assert runner.invoke(cli.app, ["forget", invalid, "--yes"]).exit_code == 2
    unknown = runner.invoke(cli.app, ["forget", "paper:777", "--yes"])
    assert unknown.exit_code == 2
    # An invalid person is refused before the question.
    for invalid in ("Zenobia", "paper:777", "paper:@nobody"):
        unasked = runner.invoke(cli.app, ["forget", invalid], input="y\n")
        assert unasked.exit_code == 2
        assert "Forget" not in unasked.output
    # Forgetting is final, so the command asks first.
    assert runner.invoke(cli.app, ["forget", person], input="n\n").exit_code == 1
    unanswered = runner.invoke(cli.app, ["forget", person], input="")
    assert unanswered.exit_code == 1
    assert "There is no terminal to ask. Add --yes" in unanswered.stderr
    result = runner.invoke(cli.app, ["forget", person, "--yes", "--file", str(file)])
    assert result.exit_code == 0, result.output
    # The game was only in the file, so the store's count is 0.
    assert f"{person} is forgotten, and was named in 0 games, 0 ratings and 0 tables." in result.output
    assert person not in file.read_text()
    assert '"somebody"' in file.read_text()

    async def read_traces() -> list[str]:
        async with OpenedStore(tmp_path) as store:
            return await find_traces(store, person, "zenobia")

    assert asyncio.run(read_traces()) == []
    assert runner.invoke(cli.app, ["forget", person, "--yes"]).exit_code == 2


def test_commands_accept_a_persons_handle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUONGIOCO_DATA", str(tmp_path / "data"))

    async def meet() -> None:
        async with OpenedStore(tmp_path) as store:
            people = People(store.client)
            await people.meet(Person("telegram:42", "Zenobia", "zenobia"))
            await people.meet(Person("discord:42", "Zenobia", "zenobia"))
            await people.meet(Person("discord:7", "Yves", "yves"))
            await store_game(store, replace(finished_game(1), people=["discord:7", "telegram:42"]))

    asyncio.run(meet())
    runner = CliRunner()
    result = runner.invoke(cli.app, ["forget", "telegram:@Zenobia"], input="n\n")
    assert result.exit_code == 1
    assert "Forget Zenobia (telegram:42) permanently, " in result.output
    result = runner.invoke(cli.app, ["forget", "@zenobia", "--yes"])
    assert result.exit_code == 2
    assert all(person in result.output for person in ("discord:42", "telegram:42"))
    result = runner.invoke(cli.app, ["forget", "@xavier", "--yes"])
    assert result.exit_code == 2
    assert "/mydata" in result.output
    for invalid in ("", "yves", "discord", "discord:", "@", "a b"):
        result = runner.invoke(cli.app, ["export", "--person", invalid])
        assert result.exit_code == 2, invalid
        assert "is not a person" in result.output
    assert runner.invoke(cli.app, ["export", "--chat", "friends"]).exit_code == 2
    result = runner.invoke(cli.app, ["export", "--person", "@yves"])
    assert result.exit_code == 0
    assert "1 game\n" in result.output
    result = runner.invoke(cli.app, ["forget", "@yves", "--yes"])
    assert result.exit_code == 0, result.output
    assert "discord:7 is forgotten" in result.output


class OpenedStore:
    """The embedded store, opened as a bot opens it."""

    def __init__(self, folder: Path) -> None:
        self.embedded = EmbeddedStore(folder / "data")

    async def __aenter__(self) -> Store:
        await self.embedded.start()
        self.opened = open_store(self.embedded.url)
        return await self.opened.__aenter__()

    async def __aexit__(self, *error: object) -> None:
        await self.opened.__aexit__(None, None, None)
        await self.embedded.stop()


def test_forget_command_detects_a_bot_by_the_stores_clock(
    embedded: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", embedded.url)

    async def prepare_store() -> None:
        async with open_store(embedded.url) as store:
            await layout_version.check(store.client)
            await People(store.client).meet(Person("paper:5", "Zenobia", "zenobia"))
            await store.leases.report_alive("worker")

    asyncio.run(prepare_store())
    real_time = time.time
    monkeypatch.setattr("time.time", lambda: real_time() + 4 * 365 * 86400)
    done = CliRunner().invoke(cli.app, ["forget", "paper:5", "--yes"])
    assert done.exit_code == 0, done.output
    assert "checks once more in a minute" in done.output


async def test_forget_command_notifies_a_running_bot(embedded: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the notification the bot would keep the profile in its memory."""
    monkeypatch.setenv("REDIS_URL", embedded.url)
    async with open_store(embedded.url) as store, open_worker(store, FakePlatform()) as worker:
        await worker.people.meet(Person("paper:6", "Yolanda", "yolanda"))
        changed_keys: list[str] = []
        monkeypatch.setattr(worker.updates, "on_profile_changed", changed_keys.append)
        while not dict(await store.client.pubsub_numsub(keys.NOTIFICATIONS))[keys.NOTIFICATIONS.encode()]:
            await asyncio.sleep(0)
        done = await asyncio.to_thread(CliRunner().invoke, cli.app, ["forget", "paper:6", "--yes"])
        assert done.exit_code == 0, done.output
        await wait_until(lambda: keys.person("paper:6") in changed_keys)


async def store_profiles(store: Store, **used: int) -> None:
    """Store people by name, with the day of their last visit."""
    for name, day in used.items():
        await store.client.hset(keys.person(f"paper:{name}"), mapping={"name": name, "used": day})


async def test_only_unused_profiles_are_forgotten(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        today = await store.leases.current_day()
        await store_profiles(store, ada=today - 731, bea=today - 730)
        await store.client.hset(keys.person("paper:cleo"), mapping={"name": "Cleo"})
        unused = UnusedProfiles(store, worker.people, worker.feature(PrivacyFeature).forgetter, 730)
        assert await unused.run_round() == 1
        assert set(await forgetting_marks(store.client)) == {"paper:ada"}
        assert (await worker.people.reload("paper:bea")).name == "bea"
        # A profile without a day counts as used on the day of its first round.
        assert await store.client.hget(keys.person("paper:cleo"), "used") == str(today).encode()
        assert await unused.run_round() is None  # once a day


async def test_fast_worker_clock_forgets_nobody(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        today = await store.leases.current_day()
        await store_profiles(store, ada=today, bea=today - 10)
        fast_time = time.time() + 4 * 365 * 86400
        worker.people.now = worker.feature(PrivacyFeature).forgetter.now = lambda: fast_time
        assert (
            await UnusedProfiles(store, worker.people, worker.feature(PrivacyFeature).forgetter, 730).run_round() == 0
        )
        assert await forgetting_marks(store.client) == {}


async def test_store_clock_jump_counts_as_a_few_days(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        # The last round used the right clock, four years before the store's present time.
        before = await store.leases.current_day() - 4 * 365
        await store.client.set(keys.SWEEPING_DAY, before)
        await store_profiles(store, ada=before, bea=before - 700)
        unused = UnusedProfiles(store, worker.people, worker.feature(PrivacyFeature).forgetter, 730)
        with capture_logs() as logs:
            assert await unused.run_round() == 0
        [warning] = [entry for entry in logs if entry["event"] == "store_clock_jumped"]
        assert warning["counted"] == before + MAX_DAYS
        # The next rounds continue from there, so a bot that was down for four years forgets in the end.
        for _ in range(10):
            await store.client.delete(SWEEPING_KEY)
            await unused.run_round()
        assert await store.client.get(keys.SWEEPING_DAY) == str(before + 11 * MAX_DAYS).encode()
        async with asyncio.timeout(30):
            while await store.client.exists(keys.person("paper:bea")):
                await worker.feature(PrivacyFeature).forgetter.work()
                await asyncio.sleep(0.01)
        assert await store.client.exists(keys.person("paper:ada"))


async def test_round_forgets_at_most_a_tenth_of_profiles(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        today = await store.leases.current_day()
        await store_profiles(store, **{f"p{number}": today - 1000 - number for number in range(30)})
        unused = UnusedProfiles(store, worker.people, worker.feature(PrivacyFeature).forgetter, 730)
        people: list[str] = []
        real = worker.feature(PrivacyFeature).forgetter.begin

        async def record_and_begin(person: str) -> ForgettingMark:
            people.append(person)
            return await real(person)

        worker.feature(PrivacyFeature).forgetter.begin = record_and_begin  # type: ignore[method-assign]
        with capture_logs() as logs:
            assert await unused.run_round() == 3
        assert people == ["paper:p29", "paper:p28", "paper:p27"]
        assert [entry["due"] for entry in logs if entry["event"] == "unused_profiles_postponed"] == [30]


async def test_person_returning_during_a_round_is_kept(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        today = await store.leases.current_day()
        await store_profiles(store, ada=today - 1000, bea=today - 900, **{f"p{number}": today for number in range(20)})
        unused = UnusedProfiles(store, worker.people, worker.feature(PrivacyFeature).forgetter, 730)
        real = worker.feature(PrivacyFeature).forgetter.begin

        async def return_and_begin(person: str) -> ForgettingMark:
            await worker.people.meet(Person("paper:bea", "Bea", "bea"))
            return await real(person)

        worker.feature(PrivacyFeature).forgetter.begin = return_and_begin  # type: ignore[method-assign]
        assert await unused.run_round() == 1
        assert set(await forgetting_marks(store.client)) == {"paper:ada"}


async def test_profile_erased_during_a_round_stays_erased(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        unused = UnusedProfiles(store, worker.people, worker.feature(PrivacyFeature).forgetter, 730)
        key = keys.person("paper:ada")
        await store.client.hset(key, "name", "ada")
        real = store.client.execute_command

        async def erase_before_writing(*arguments: object, **options: object) -> object:
            if arguments[:2] == ("HSET", key) or arguments[0] == "EVALSHA":
                monkeypatch.undo()
                await store.client.delete(key)
            return await real(*arguments, **options)

        monkeypatch.setattr(store.client, "execute_command", erase_before_writing)
        today = 20_000
        assert await unused._last_used_day("paper:ada", today) == today
        assert not await store.client.exists(key)


@pytest.mark.parametrize("text", ["730", "0d", "two years", "-5d"])
def test_invalid_forget_after_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUONGIOCO_FORGET_AFTER", text)
    with pytest.raises(BadSetting, match="BUONGIOCO_FORGET_AFTER must be a number of days"):
        read_settings()


def test_forget_after_defaults_to_never(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_settings({}).forget_after_days is None
    monkeypatch.setenv("BUONGIOCO_FORGET_AFTER", "730d")
    assert read_settings().forget_after_days == 730
