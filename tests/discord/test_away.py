"""Boards and hands arrive once after an outage or a flood of commands, and the log stays short."""

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
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from bot.store import EmbeddedStore, open_store
from tests.bot.fast_loop import run_fast
from tests.bot.platform_outages import TEN_MINUTES, TWO_MINUTES, bot_tasks, check_outage_logged, play_unseen, wait_until
from tests.discord import gateway, players
from tests.discord.players import ObservedDiscord, Person, buttons_of, on_discord, seat_people, text_of
from tests.discord.server import BAR, BOT, CHANNEL, PATIENCE, DiscordServer, Failure
from tests.discord.validation import Refused
from tests.long import long

# The bot's timeouts use the loop's clock, so a slow machine does not matter.
pytestmark = pytest.mark.usefixtures("real_timeouts")

LONGEST_PAUSE = 64  # seconds between two attempts to connect, at most


class TimedServer(DiscordServer):
    """A fake Discord that logs the loop time of each call."""

    def __init__(self) -> None:
        super().__init__(seconds=PATIENCE)
        # Loop time, call, channel or token, and True if a test let the call fail.
        self.call_log: list[tuple[float, str, str, bool]] = []

    def _check_call(self, name: str, request: Any) -> None:
        super()._check_call(name, request)
        target = request.match_info.get("channel") or request.match_info.get("token", "")
        self.call_log.append((asyncio.get_running_loop().time(), name, target, bool(self._failures[name])))


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(players, "until", wait_until)
    # The library's heartbeats come from a thread in real time: 40 ms are a few seconds of loop time.
    monkeypatch.setattr(gateway, "HEARTBEAT_MILLISECONDS", 40)
    # The library's random pauses before it reconnects are as long as possible.
    monkeypatch.setattr(Random, "uniform", lambda _self, _least, most: most)


@asynccontextmanager
async def run_game(
    folder: Path, **settings_fields: Any
) -> AsyncIterator[tuple[ObservedDiscord, TimedServer, list[Person]]]:
    """Seat two people at a table, with the platform's real rate limits."""
    valkey, server = EmbeddedStore(folder / "data"), TimedServer()
    await valkey.start()
    server.add_channel(CHANNEL, server.add_server(BAR))
    await server.start()
    try:
        async with (
            open_store(valkey.url) as store,
            on_discord(store, server, quick=False, **settings_fields) as adapter,
        ):
            people = await seat_people(server, "metamazzo")
            await adapter.worker.wait_until_idle()
            yield adapter, server, people
    finally:
        await server.stop()
        await valkey.stop()


async def play_one_move(people: list[Person], used: set[str]) -> None:
    """Make one move for the player to move, and add the pressed button to ``used``."""

    def find_card() -> tuple[Person, dict[str, Any], str] | None:
        for person in people:
            panels = [message for message in person.private.messages.values() if message["author"] == BOT]
            for button in buttons_of(panels[-1]) if panels else ():
                if ":play " in button["custom_id"]:
                    return person, panels[-1], button["custom_id"]
        return None

    await wait_until(lambda: find_card() is not None)
    person, message, custom_id = find_card() or (people[0], {}, "")
    used.add(custom_id)
    assert await person.send_press(person.private, message, custom_id) == ""


def count_shown_tricks(server: DiscordServer, people: list[Person]) -> list[int]:
    """Return the number of tricks taken, as shown by the board and by each hand."""
    chats = [server.channels[CHANNEL], *(person.private for person in people)]
    texts = [text_of(message) for chat in chats for message in chat.messages.values()]
    trick_lines = [line for text in texts for line in text.splitlines() if line.startswith("Tricks:")]
    return [sum(map(int, re.findall(r" (\d+)(?:,| ·|$)", line.partition(" · 8 cards")[0]))) for line in trick_lines]


async def start_outage(server: DiscordServer, failure: str) -> None:
    """Start an outage: a closed port, errors (502) or silence."""
    if failure == "closed port":
        await server.stop()
    elif failure == "502":
        server.outage = Failure(Refused(502, 0, "Bad Gateway"))
        server.gateway.refuses_with = 502
        await server.gateway.drop()
    else:
        server.outage = Failure(silent=True)
        server.gateway.silent = True


async def end_outage(server: DiscordServer, failure: str) -> None:
    server.outage, server.gateway.refuses_with, server.gateway.silent = None, 0, False
    if failure == "closed port":
        await server.start(server.port)


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
def test_game_survives_minutes_without_discord(
    tmp_path: Path, failure: str, seconds: float, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run_fast(play_through_outage(tmp_path, failure, seconds), monkeypatch)
    assert [line.getMessage() for line in caplog.records if line.name.startswith("discord")] == []


async def play_through_outage(folder: Path, failure: str, seconds: float) -> None:
    async with run_game(folder) as (adapter, server, people):
        worker, channel, loop = adapter.worker, server.channels[CHANNEL], asyncio.get_running_loop()
        before = bot_tasks()
        server.gateway.attempted_at.clear()
        with capture_logs() as logs:
            started = loop.time()
            await start_outage(server, failure)
            await play_unseen(worker, "discord:1", 8)
            await asyncio.sleep(seconds)
            assert (await worker.check_health())["adapters"]["discord"].startswith("down: ")
            # One task per table, one per surface, and a watcher. A worker might also be assigning tables for a moment.
            await wait_until(lambda: len(bot_tasks()) <= len(before) + 5)
            await end_outage(server, failure)
            ended = loop.time()
            await wait_until(lambda: any(line["event"] == "platform_back" for line in logs))
            await worker.wait_until_idle()
            assert count_shown_tricks(server, people) == [4, 4, 4]
            used: set[str] = set()
            for _ in range(4):
                await play_one_move(people, used)
                await worker.wait_until_idle()
            assert count_shown_tricks(server, people) == [6, 6, 6]
        # A challenge, a board, and a hand for each player.
        assert sum(message["author"] == BOT for message in channel.messages.values()) == 2
        for person in people:
            assert sum(message["author"] == BOT for message in person.private.messages.values()) == 1
        assert (await worker.check_health())["adapters"]["discord"] == "up"
        await wait_until(lambda: bot_tasks() == before)
        check_outage_logged(logs)
        attempts = [started, *server.gateway.attempted_at]
        assert attempts[-1] > ended
        if failure == "502":
            assert len(attempts) > 5
            assert max(later - earlier for earlier, later in pairwise(attempts)) < LONGEST_PAUSE + 10


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


# The answer of Cloudflare, which is in front of Discord. It does not say how long to wait.
CLOUDFLARE_LIMIT = Failure(body=b"error code: 1015", kind="text/plain", status=429)

# By command: the failure of the next edit, and the seconds after which the edit can be repeated.
# The library waits after the first of these failures. The bot must wait after the others.
WAITS = {"help": (slow_down(7), 7.0), "rules": (slow_down(50), 50.0), "tables": (CLOUDFLARE_LIMIT, 5.0)}


async def flood_commands(folder: Path, rounds: int) -> None:
    async with run_game(folder, rate_limits=False) as (adapter, server, people):
        worker, channel = adapter.worker, server.channels[CHANNEL]
        crowd = [Person(server, number, f"P{number}") for number in range(10, 20)]
        interactions, moves, used = [], 0, set[str]()
        server.call_log.clear()
        limited_before = count_answers_429()
        with capture_logs() as logs:
            for number in range(rounds):
                for word in ("help", "leaderboard", "rules", "stats", "tables"):
                    server.fail_next("answer", slow_down(2))
                    interactions += [person.start_command(word, channel) for person in crowd]
                    if number == 0 and word in WAITS:
                        server.fail_next("edit", WAITS[word][0])
                    await play_one_move(people, used)
                    moves += 1
                    await asyncio.sleep(7)
            await wait_until(lambda: all(interaction.answer not in (0, 5) for interaction in interactions))
            await worker.wait_until_idle()
        # Each command has one answer, although many had to wait.
        answers = Counter(
            server._tokens_by_message[number] for number in server._tokens_by_message if is_visible(channel, number)
        )
        assert [answers[interaction.token] for interaction in interactions] == [1] * len(interactions)
        check_pauses(server, "answer", [2.0] * 5 * rounds)
        check_pauses(server, "edit", [seconds for _failure, seconds in WAITS.values()])
        assert count_answers_429() - limited_before == 5 * rounds + len(WAITS)
        # The board was edited during the flood, and now shows the latest state, as do the hands.
        assert (
            sum(name == "edit" and target == str(CHANNEL) for _time, name, target, _failed in server.call_log)
            >= 2 * rounds
        )
        assert count_shown_tricks(server, people) == [moves // 2] * 3
        assert not [line for line in logs if line["log_level"] in ("warning", "error") and "store" not in line["event"]]


def count_answers_429() -> float:
    return REGISTRY.get_sample_value("buongioco_rate_limited_total", {"platform": "discord"}) or 0.0


def is_visible(channel: Any, number: int) -> bool:
    return number in channel.messages or any(number in messages for messages in channel.ephemerals.values())


def check_pauses(server: TimedServer, name: str, pauses: list[float]) -> None:
    """Check that each failed call was repeated, and not before its wait was over."""
    failures = [
        index for index, (_time, call, _target, has_failed) in enumerate(server.call_log) if call == name and has_failed
    ]
    for index, seconds in zip(failures, pauses, strict=True):
        failed_at, _call, target, _has_failed = server.call_log[index]
        repeated_at = [
            time for time, call, other, _has_failed in server.call_log[index + 1 :] if (call, other) == (name, target)
        ]
        assert repeated_at, f"{name} was not repeated for {target}"
        assert repeated_at[0] >= failed_at + seconds - 0.1
