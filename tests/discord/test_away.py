"""Discord is away for ten minutes, or flooded: boards and hands come in the end, once, and the log stays short."""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.store import EmbeddedStore, open_store
from tests.bot.away import TEN_MINUTES, TWO_MINUTES, bot_tasks, check_outage_logged, play_unseen, wait_until
from tests.bot.fast_loop import run_fast
from tests.discord import gateway, players
from tests.discord.judge import Refused
from tests.discord.players import Observed, Person, buttons_of, on_discord, seat_people, text_of
from tests.discord.server import BAR, BOT, CHANNEL, PATIENCE, DiscordServer, Failure
from tests.long import long

# The bot's own times pass by the loop's clock, whatever the machine takes.
pytestmark = pytest.mark.usefixtures("real_timeouts")

LONGEST_PAUSE = 64
"""Seconds between two tries to connect, at most."""


class Timed(DiscordServer):
    """Discord, with the times by the loop's clock of what was asked for."""

    def __init__(self) -> None:
        super().__init__(seconds=PATIENCE)
        self.call_log: list[tuple[float, str, str, bool]] = []
        """When, which call, of which channel or interaction, and whether it was answered with a failure on order."""

    def _check_call(self, name: str, request: Any) -> None:
        super()._check_call(name, request)
        which = request.match_info.get("channel") or request.match_info.get("token", "")
        self.call_log.append((asyncio.get_running_loop().time(), name, which, bool(self._orders[name])))


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(players, "until", wait_until)
    # The library's heartbeats are a thread's and live in real time: so they come every few seconds of the loop's.
    monkeypatch.setattr(gateway, "HEARTBEAT_MILLISECONDS", 40)
    # Its pauses before it connects anew are by chance: here each is the longest that it may be.
    monkeypatch.setattr(Random, "uniform", lambda _self, _least, most: most)


@asynccontextmanager
async def running_game(folder: Path, **more: Any) -> AsyncIterator[tuple[Observed, Timed, list[Person]]]:
    """Two people at a table, on the platform's own paces."""
    valkey, server = EmbeddedStore(folder / "data"), Timed()
    await valkey.start()
    server.channel(CHANNEL, server.server(BAR))
    await server.start()
    try:
        async with open_store(valkey.url) as store, on_discord(store, server, quick=False, **more) as adapter:
            people = await seat_people(server, "metamazzo")
            await adapter.worker.settled()
            yield adapter, server, people
    finally:
        await server.stop()
        await valkey.stop()


async def play_visible(people: list[Person]) -> None:
    """One move, by whoever is to move, from a panel that is not old."""

    def find() -> tuple[Person, dict[str, Any], str] | None:
        for person in people:
            own = [one for one in person.private.messages.values() if one["author"] == BOT]
            for button in buttons_of(own[-1]) if own else ():
                if ":play " in button["custom_id"]:
                    return person, own[-1], button["custom_id"]
        return None

    await wait_until(lambda: find() is not None)
    person, message, data = find() or (people[0], {}, "")
    assert await person.send_press(person.private, message, data) == ""


def tricks_shown(server: DiscordServer, people: list[Person]) -> list[int]:
    """How many tricks have been taken, by the board and by each hand."""
    chats = [server.channels[CHANNEL], *(one.private for one in people)]
    texts = [text_of(message) for chat in chats for message in chat.messages.values()]
    lines = [line for text in texts for line in text.splitlines() if line.startswith("Tricks:")]
    return [sum(map(int, re.findall(r" (\d+)(?: ·|$)", line.partition(" · 8 cards")[0]))) for line in lines]


async def go_away(server: DiscordServer, how: str) -> None:
    """Be away from now on."""
    if how == "nobody listens":
        await server.stop()
    elif how == "502":
        server.away = Failure(Refused(502, 0, "Bad Gateway"))
        server.gateway.refuses_with = 502
        await server.gateway.drop()
    else:
        server.away = Failure(silent=True)
        server.gateway.silent = True


async def come_back(server: DiscordServer, how: str) -> None:
    server.away, server.gateway.refuses_with, server.gateway.silent = None, 0, False
    if how == "nobody listens":
        await server.start(server.port)


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
def test_game_survives_minutes_without_discord(
    tmp_path: Path, how: str, seconds: float, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run_fast(play_through_outage(tmp_path, how, seconds), monkeypatch)
    assert [line.getMessage() for line in caplog.records if line.name.startswith("discord")] == []


async def play_through_outage(folder: Path, how: str, seconds: float) -> None:
    async with running_game(folder) as (adapter, server, people):
        worker, channel, loop = adapter.worker, server.channels[CHANNEL], asyncio.get_running_loop()
        before = bot_tasks()
        server.gateway.attempted_at.clear()
        with capture_logs() as logs:
            begun = loop.time()
            await go_away(server, how)
            await play_unseen(worker, "discord:1", 8)
            await asyncio.sleep(seconds)
            assert (await worker.check_health())["adapters"]["discord"].startswith("down: ")
            # One for the table and one a surface, and one that watches.
            # A sharing out of tables among workers, which may be under way, is over in a moment.
            await wait_until(lambda: len(bot_tasks()) <= len(before) + 5)
            await come_back(server, how)
            ended = loop.time()
            await wait_until(lambda: any(line["event"] == "platform_back" for line in logs))
            await worker.settled()
            assert tricks_shown(server, people) == [4, 4, 4]
            for _ in range(4):
                await play_visible(people)
                await worker.settled()
            assert tricks_shown(server, people) == [6, 6, 6]
        # A challenge, a board, and a hand each.
        assert sum(one["author"] == BOT for one in channel.messages.values()) == 2
        for person in people:
            assert sum(one["author"] == BOT for one in person.private.messages.values()) == 1
        assert (await worker.check_health())["adapters"]["discord"] == "up"
        await wait_until(lambda: bot_tasks() == before)
        check_outage_logged(logs)
        tried = [begun, *server.gateway.attempted_at]
        assert tried[-1] > ended
        if how == "502":
            assert len(tried) > 5
            assert max(later - one for one, later in pairwise(tried)) < LONGEST_PAUSE + 10


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("rounds", [1, long(4)])
def test_command_flood_does_not_delay_boards(
    tmp_path: Path, rounds: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run_fast(flood_commands(tmp_path, rounds), monkeypatch)
    assert [line.getMessage() for line in caplog.records if line.name.startswith("discord")] == []


def slow_down(seconds: float) -> Failure:
    return Failure(Refused(429, 0, "You are being rate limited.", retry_after=seconds, **{"global": False}))


BY_A_PROXY = Failure(says=b"error code: 1015", kind="text/plain", status=429)
"""What Cloudflare says in front of Discord, without a word of how long to wait."""

WAITS = {"help": (slow_down(7), 7.0), "rules": (slow_down(50), 50.0), "tables": (BY_A_PROXY, 5.0)}
"""What is answered to an edit of the board or a hand, by the command just given, and how long the channel is then left
alone: the library waits for the first by itself, the others are the bot's to heed.
"""


async def flood_commands(folder: Path, rounds: int) -> None:
    async with running_game(folder, rate_limits=False) as (adapter, server, people):
        worker, channel = adapter.worker, server.channels[CHANNEL]
        crowd = [Person(server, number, f"P{number}") for number in range(10, 20)]
        given, moves = [], 0
        server.call_log.clear()
        with capture_logs() as logs:
            for number in range(rounds):
                for word in ("help", "leaderboard", "rules", "stats", "tables"):
                    server.order("answer", slow_down(2))
                    given += [person.begin(word, channel) for person in crowd]
                    if number == 0 and word in WAITS:
                        server.order("edit", WAITS[word][0])
                    await play_visible(people)
                    moves += 1
                    await asyncio.sleep(7)
            await wait_until(lambda: all(one.answer not in (0, 5) for one in given))
            await worker.settled()
        # Each got one answer, though many had to wait; the adapter asked for none of them twice.
        shown = Counter(server._made_by[number] for number in server._made_by if is_visible(channel, number))
        assert [shown[one.token] for one in given] == [1] * len(given)
        check_pauses(server, "answer", [2.0] * 5 * rounds)
        check_pauses(server, "edit", [seconds for _failure, seconds in WAITS.values()])
        # The board moved on meanwhile, and shows the latest, as the hands do.
        assert (
            sum(name == "edit" and which == str(CHANNEL) for _when, name, which, _failed in server.call_log)
            >= 2 * rounds
        )
        assert tricks_shown(server, people) == [moves // 2] * 3
        assert not [line for line in logs if line["log_level"] in ("warning", "error") and "store" not in line["event"]]


def is_visible(channel: Any, number: int) -> bool:
    return number in channel.messages or any(number in shelf for shelf in channel.ephemerals.values())


def check_pauses(server: Timed, name: str, waits: list[float]) -> None:
    """So many calls were told to wait, and each time nothing more came for that channel or interaction meanwhile."""
    told = [at for at, (_when, call, _which, failed) in enumerate(server.call_log) if call == name and failed]
    for at, seconds in zip(told, waits, strict=True):
        when, _call, which, _failed = server.call_log[at]
        after = [later for later, call, where, _ in server.call_log[at + 1 :] if call == name and where == which]
        assert after, "it was not tried again"
        assert after[0] >= when + seconds - 0.1
