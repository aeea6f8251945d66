"""During an outage or a flood, boards and hands arrive once in the end, and the log stays short."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from adapters.telegram.adapter import Telegram
from bot.store import EmbeddedStore, open_store
from tests.bot.fast_loop import run_fast
from tests.bot.platform_outages import TEN_MINUTES, TWO_MINUTES, bot_tasks, check_outage_logged, play_unseen, wait_until
from tests.long import long
from tests.telegram import players
from tests.telegram.content import Refused
from tests.telegram.players import GROUP, Person, on_telegram, seat_people
from tests.telegram.server import BOT, Failure, TelegramServer

PER_MINUTE = 20

Body = Callable[[Telegram, "TimedServer"], Awaitable[None]]


class TimedServer(TelegramServer):
    """A server that notes the loop time of calls to groups."""

    def __init__(self) -> None:
        super().__init__()
        self.now = lambda: asyncio.get_running_loop().time()
        self.in_groups: list[tuple[float, str, bool]] = []
        """Loop time, method, and whether a test ordered a 429 for the call."""

    async def _read_fields(self, method: str, request: Any) -> dict[str, Any]:
        fields = await super()._read_fields(method, request)
        if fields.get("chat_id", 0) < 0:
            self.in_groups.append((self.now(), method, bool(self._orders[method])))
        return fields


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(players, "until", wait_until)


@asynccontextmanager
async def playing(folder: Path, **more: Any) -> AsyncIterator[tuple[Telegram, TimedServer, list[Person]]]:
    """Seat two people at a table, with the platform's real rate limits."""
    valkey, server = EmbeddedStore(folder / "data"), TimedServer()
    await valkey.start()
    await server.start()
    try:
        async with open_store(valkey.url) as store, on_telegram(store, server, quick=False, **more) as adapter:
            people = await seat_people(server, "metamazzo")
            await worker_of(adapter).settled()
            yield adapter, server, people
    finally:
        await server.stop()
        await valkey.stop()


def worker_of(adapter: Telegram) -> Any:
    return adapter.card_room.worker  # type: ignore[attr-defined]


async def play_one_move(people: list[Person]) -> None:
    """Make one move for the player whose turn it is."""

    def found() -> tuple[Person, dict[str, Any], str] | None:
        for person in people:
            own = [one for one in person.private.messages.values() if one["from"] == BOT]
            for row in own[-1].get("reply_markup", {}).get("inline_keyboard", ()) if own else ():
                for button in row:
                    if ":play " in button.get("callback_data", ""):
                        return person, own[-1], button["callback_data"]
        return None

    await wait_until(lambda: found() is not None)
    person, message, data = found() or (people[0], {}, "")
    assert await person.send_press(person.private, message, data) == ""


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("how", "seconds"),
    [
        ("502", TWO_MINUTES),
        long("502", TEN_MINUTES),
        long("nobody listens", TEN_MINUTES),
        long("silent", TEN_MINUTES),
    ],
)
def test_minutes_without_telegram(tmp_path: Path, how: str, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    run_fast(check_outage(tmp_path, how, seconds), monkeypatch)


async def check_outage(folder: Path, how: str, seconds: float) -> None:
    async with playing(folder) as (adapter, server, people):
        worker, group = worker_of(adapter), server.group(GROUP)
        before = bot_tasks()
        with capture_logs() as logs:
            if how == "nobody listens":
                await server.stop()
            else:
                server.away = Failure(silent=True) if how == "silent" else Failure(Refused(502, "Bad Gateway"))
            await play_unseen(worker, "telegram:1", 8)
            await asyncio.sleep(seconds)
            assert (await worker.check_health())["adapters"]["telegram"].startswith("down: ")
            # One task per table, one per surface, and a watcher. A worker may briefly be assigning tables too.
            await wait_until(lambda: len(bot_tasks()) <= len(before) + 5)
            server.away = None
            if how == "nobody listens":
                await server.start(server.port)
            await wait_until(lambda: any(line["event"] == "platform_back" for line in logs))
            await worker.settled()
            for _ in range(4):
                await play_one_move(people)
                await worker.settled()
        # A challenge, a board, and a hand each.
        assert sum(one["from"] == BOT for one in group.messages.values()) == 2
        for person in people:
            assert sum(one["from"] == BOT for one in person.private.messages.values()) == 1
        assert (await worker.check_health())["adapters"]["telegram"] == "up"
        check_outage_logged(logs)


@pytest.mark.long
@pytest.mark.timeout(400)
def test_flood_of_commands_delays_no_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_fast(check_flood(tmp_path), monkeypatch)


async def check_flood(folder: Path) -> None:
    async with playing(folder, rate_limits=False) as (adapter, server, people):
        worker, group, loop = worker_of(adapter), server.group(GROUP), asyncio.get_running_loop()
        crowd = [Person(server, number, f"P{number}") for number in range(10, 20)]
        server.group_limit = PER_MINUTE
        group.sent_at.clear()
        server.in_groups.clear()
        begun = loop.time()
        with capture_logs() as logs:
            for minute in range(4):
                wait = Refused(429, "Too Many Requests: retry after 7", retry_after=7)
                server.order("sendMessage", Failure(wait))
                for word in ("/help", "/leaderboard", "/rules", "/stats", "/challenge nonsense"):
                    for person in crowd:
                        person.say(word)
                    await asyncio.sleep(5)
                    if minute < 3:
                        await play_one_move(people)
                    await asyncio.sleep(7)
            await wait_until(lambda: not server._updates and not worker.delivery.answers.tasks)
            await worker.settled()
        calls = server.in_groups
        # Only the ordered failures happened, because the bot kept the group's limit.
        assert (
            sum(
                len(calls[at:]) > PER_MINUTE and calls[at + PER_MINUTE][0] - calls[at][0] < 55
                for at in range(len(calls) - PER_MINUTE)
            )
            == 0
        )
        ordered = [at for at, (_when, _method, refused) in enumerate(calls) if refused]
        assert len(ordered) == 4
        for at in ordered:
            assert all(when >= calls[at][0] + 6.9 for when, _method, _refused in calls[at + 1 :])
        # The board was edited every few moves, although answers waited all the time.
        edits = [when for when, method, _refused in calls if method == "editMessageText"]
        assert len(edits) >= 8
        answered = [one for one in group.messages.values() if one["from"] == BOT]
        assert len(answered) - 2 == sum(method == "sendMessage" and not refused for _when, method, refused in calls)
        assert loop.time() - begun > 200
        assert not [line for line in logs if line["log_level"] in ("warning", "error") and "store" not in line["event"]]
