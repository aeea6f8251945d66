"""Boards and hands arrive once after an outage or a flood of commands, and the log stays short."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.store import EmbeddedStore, open_store
from tests.bot.fast_loop import run_fast
from tests.bot.platform_outages import TEN_MINUTES, TWO_MINUTES, bot_tasks, check_outage_logged, play_unseen, wait_until
from tests.long import long
from tests.telegram import players
from tests.telegram.content import Refused, payloads_of
from tests.telegram.players import GROUP, ObservedTelegram, Person, on_telegram, seat_people
from tests.telegram.server import BOT, Failure, TelegramServer

PER_MINUTE = 20


class TimedServer(TelegramServer):
    """A server that notes the loop time of calls to groups."""

    def __init__(self) -> None:
        super().__init__()
        self.now = lambda: asyncio.get_running_loop().time()
        self.group_calls: list[tuple[float, str, bool]] = []
        """Loop time, method, and true if a test let the call fail with a 429."""

    async def _read_fields(self, method: str, request: Any) -> dict[str, Any]:
        fields = await super()._read_fields(method, request)
        if fields.get("chat_id", 0) < 0:
            self.group_calls.append((self.now(), method, bool(self._failures[method])))
        return fields


@pytest.fixture(autouse=True)
def _loop_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(players, "until", wait_until)


@asynccontextmanager
async def run_game(
    folder: Path, **settings_fields: Any
) -> AsyncIterator[tuple[ObservedTelegram, TimedServer, list[Person]]]:
    """Seat two people at a table, with the platform's real rate limits."""
    valkey, server = EmbeddedStore(folder / "data"), TimedServer()
    await valkey.start()
    await server.start()
    try:
        async with (
            open_store(valkey.url) as store,
            on_telegram(store, server, quick=False, **settings_fields) as adapter,
        ):
            people = await seat_people(server, "metamazzo")
            await adapter.worker.wait_until_idle()
            yield adapter, server, people
    finally:
        await server.stop()
        await valkey.stop()


async def play_one_move(people: list[Person]) -> None:
    """Make one move for the player to move."""

    def find_card() -> tuple[Person, dict[str, Any], str] | None:
        for person in people:
            bot_messages = [message for message in person.private.messages.values() if message["from"] == BOT]
            for payload in payloads_of(bot_messages[-1]) if bot_messages else ():
                if ":play " in payload:
                    return person, bot_messages[-1], payload
        return None

    await wait_until(lambda: find_card() is not None)
    person, message, data = find_card() or (people[0], {}, "")
    assert await person.send_press(person.private, message, data) == ""


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("failure", "seconds"),
    [
        long("502", TWO_MINUTES),
        long("502", TEN_MINUTES),
        long("closed port", TEN_MINUTES),
        long("silent", TEN_MINUTES),
    ],
)
def test_game_survives_minutes_without_telegram(
    tmp_path: Path, failure: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_fast(check_outage(tmp_path, failure, seconds), monkeypatch)


async def check_outage(folder: Path, failure: str, seconds: float) -> None:
    async with run_game(folder) as (adapter, server, people):
        worker, group = adapter.worker, server.group(GROUP)
        before = bot_tasks()
        with capture_logs() as logs:
            if failure == "closed port":
                await server.stop()
            else:
                server.outage = Failure(silent=True) if failure == "silent" else Failure(Refused(502, "Bad Gateway"))
            await play_unseen(worker, "telegram:1", 8)
            await asyncio.sleep(seconds)
            assert (await worker.check_health())["adapters"]["telegram"].startswith("down: ")
            # One task per table, one per surface, and a watcher. A worker might also be assigning tables for a moment.
            await wait_until(lambda: len(bot_tasks()) <= len(before) + 5)
            server.outage = None
            if failure == "closed port":
                await server.start(server.port)
            await wait_until(lambda: any(line["event"] == "platform_back" for line in logs))
            await worker.wait_until_idle()
            for _ in range(4):
                await play_one_move(people)
                await worker.wait_until_idle()
        # A challenge, a board, and a hand for each player.
        assert sum(message["from"] == BOT for message in group.messages.values()) == 2
        for person in people:
            assert sum(message["from"] == BOT for message in person.private.messages.values()) == 1
        assert (await worker.check_health())["adapters"]["telegram"] == "up"
        check_outage_logged(logs)


@pytest.mark.long
@pytest.mark.timeout(400)
def test_flood_of_commands_delays_no_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_fast(check_flood(tmp_path), monkeypatch)


async def check_flood(folder: Path) -> None:
    async with run_game(folder, rate_limits=False) as (adapter, server, people):
        worker, group, loop = adapter.worker, server.group(GROUP), asyncio.get_running_loop()
        crowd = [Person(server, number, f"P{number}") for number in range(10, 20)]
        server.group_limit = PER_MINUTE
        group.sent_at.clear()
        server.group_calls.clear()
        started = loop.time()
        with capture_logs() as logs:
            for minute in range(4):
                wait = Refused(429, "Too Many Requests: retry after 7", retry_after=7)
                server.fail_next("sendMessage", Failure(wait))
                for word in ("/help", "/leaderboard", "/rules", "/stats", "/challenge nonsense"):
                    for person in crowd:
                        person.say(word)
                    await asyncio.sleep(5)
                    if minute < 3:
                        await play_one_move(people)
                    await asyncio.sleep(7)
            await wait_until(lambda: not server._updates and not worker.delivery.answers.tasks)
            await worker.wait_until_idle()
        calls = server.group_calls
        # The bot kept the group's limit, so only the test's failures happened.
        assert (
            sum(
                len(calls[index:]) > PER_MINUTE and calls[index + PER_MINUTE][0] - calls[index][0] < 55
                for index in range(len(calls) - PER_MINUTE)
            )
            == 0
        )
        refusals = [index for index, (_time, _method, is_refused) in enumerate(calls) if is_refused]
        assert len(refusals) == 4
        for index in refusals:
            assert all(time >= calls[index][0] + 6.9 for time, _method, _is_refused in calls[index + 1 :])
        # The board was edited every few moves although answers waited.
        edits = [time for time, method, _is_refused in calls if method == "editMessageText"]
        assert len(edits) >= 8
        bot_messages = [message for message in group.messages.values() if message["from"] == BOT]
        assert len(bot_messages) - 2 == sum(
            method == "sendMessage" and not is_refused for _time, method, is_refused in calls
        )
        assert loop.time() - started > 200
        assert not [line for line in logs if line["log_level"] in ("warning", "error") and "store" not in line["event"]]
