"""The soak test: scripted people play whole games, and nothing must be left over.

    python -m tests.soak --games 10000 --seed 1

It runs a worker with a fake platform and a real embedded Valkey. People challenge, sit down and press the buttons of
their panels; some tables have robots. After every thousand games the bot becomes idle. Then these must hold:

- there are no more tasks or open files than at the first idle point;
- the store has only the data of finished games, people, chats and rankings, and keys that expire;
- memory is at most a tenth more than after the first thousand games.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import NamedTuple

from bot.panel import Panel
from bot.platform import SentMessage
from bot.store import EmbeddedStore, keys, open_store
from bot.store.store import CONNECTIONS
from bot.worker import Worker
from engine import GAMES
from tests.bot.fake_platform import FakePlatform, Player, open_worker

PEOPLE, CHATS = 60, 20
CONCURRENT_GAMES = 8
MESSAGES_KEPT = 30
RESIGN_SHARE = 0.7  # share of games in which a player resigns early

STUCK_SECONDS, STUCK_PRESSES = 120.0, 5000

STORED_KEYS = (
    "game:",
    "games_of:",
    "last:",
    "person:",
    "chat:",
    "handle:",
    "{games}:",
    "honours:",
    "schema",
    "secret",
    "{learn}:known:",
    "workers",
)
"""Prefixes of keys for finished games, people, chats and the store itself. Other keys belong to live tables."""

EXPIRING = "expiring keys"

MAX_MEMORY_GROWTH, WARM_UP_GAMES = 1.1, 1000
"""Largest growth of memory, as a factor, after this many games. By then the caches have filled."""


class Leak(AssertionError):
    """Data, tasks, files or memory left over after games."""


class Usage(NamedTuple):
    """Resources in use while the bot is idle."""

    games: int
    seconds: float
    megabytes: float
    store_megabytes: float
    tasks: int
    files: list[str]
    keys: Counter[str]


class ForgetfulPlatform(FakePlatform):
    """A fake platform that drops old messages."""

    def __init__(self) -> None:
        super().__init__(knows_keys=False)

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        message = await super().send(place, panel, key)
        self._keys.clear()
        self.calls.clear()
        messages = self.messages[place]
        while len(messages) > MESSAGES_KEPT:
            del messages[next(iter(messages))]
        return message


@dataclass
class Soak:
    """Scripted people who play a number of games."""

    worker: Worker
    fake: ForgetfulPlatform
    random: Random
    idle_players: list[Player] = field(default_factory=list)
    finished_games: Counter[str] = field(default_factory=Counter)
    presses: int = 0

    def __post_init__(self) -> None:
        names = ("Anna", "Bruno", "Carla", "Dino", "Elsa", "Furio")
        self.idle_players = [
            Player(self.worker, self.fake, names[n % 6], n, ("en", "it")[n % 2]) for n in range(1, PEOPLE + 1)
        ]

    async def play(self, games: int) -> None:
        """Play this many whole games, some at once. Return when the bot is idle."""
        remaining = iter(range(games))

        async def play_games() -> None:
            for _ in remaining:
                await self._play_game()

        await asyncio.gather(*(play_games() for _ in range(CONCURRENT_GAMES)))
        await self.worker.wait_until_idle()

    async def _play_game(self) -> None:
        game = self.random.choice(list(GAMES))
        seats = GAMES[game].seats
        robots = self.random.randint(1, seats - 1) if self.random.random() < 0.15 else 0
        players = [self.idle_players.pop(self.random.randrange(len(self.idle_players))) for _ in range(seats - robots)]
        chat = f"paper:g{self.random.randrange(CHATS)}"
        try:
            code = await self._seat_players(game, players, robots, chat)
            await self._press_until_gone(code, players)
            self.finished_games[game] += 1
        finally:
            self.idle_players += players

    async def _seat_players(self, game: str, players: list[Player], robots: int, chat: str) -> str:
        """Open a table with the shortest target and seat all players."""
        opener = players[0]
        key = f"s{next(Player.numbers)}"
        reply = await opener.say(f"/challenge {game}", chat, key=key)
        assert not reply.toast, reply.toast
        [table] = await self.worker.room.lists.tables_of(opener.person.id)
        choices = GAMES[game].rules.choices()
        if "target" in choices:
            # Short games leave time for more games.
            shortest = min(choices["target"], key=lambda value: abs(float(str(value))))
            assert not (await opener.send(f"1t{table.code}:rule target={shortest}", chat)).toast
        for player in players[1:]:
            await player.send(f"1t{table.code}:sit", chat)
            await self._accept_requests(table.code, players)
        for _ in range(robots):
            await opener.send(f"1t{table.code}:robot easy", chat)
            await self._accept_requests(table.code, players)
        table = await self.worker.room.load_cached(table.code)
        assert table.phase == "playing", (game, table.phase, table.chairs, table.asking)
        return table.code

    async def _accept_requests(self, code: str, players: list[Player]) -> None:
        """Accept every player who asks for a chair."""
        for seat in list((await self.worker.room.load_cached(code)).asking):
            for player in players:
                await player.send(f"1t{code}:accept {seat}", player.private)

    async def _press_until_gone(self, code: str, players: list[Player]) -> None:
        """Press offered buttons until the table is gone."""
        last_press, press_count = time.monotonic(), 0
        resigns_at = self.random.randint(5, 40) if self.random.random() < RESIGN_SHARE else STUCK_PRESSES
        while True:
            while self.worker.delivery.is_busy(code):
                await asyncio.sleep(0.001)
            if press_count == resigns_at:
                press_count += 1
                await self.random.choice(players).say(f"/resign {code}")
            has_pressed = False
            for player in players:
                if payload := self._choose_payload(player, code):
                    message = next(reversed(self.fake.messages[player.private]))
                    await player.send(payload, player.private, message)
                    self.presses += 1
                    press_count += 1
                    has_pressed, last_press = True, time.monotonic()
                    break
            if not has_pressed:
                if not await self.worker.store.client.exists(keys.table(code)):
                    return
                if time.monotonic() - last_press > STUCK_SECONDS:
                    raise Leak(f"no player can continue at table {code}")
                await asyncio.sleep(0.01)

    def _choose_payload(self, player: Player, code: str) -> str:
        """Return the payload of a button on the player's last panel that continues the game, or an empty text."""
        messages = self.fake.messages[player.private]
        if not messages:
            return ""
        panel = messages[next(reversed(messages))]
        payloads = [button.payload for row in panel.rows for button in row if button.kind == "press"]
        moves = [payload for payload in payloads if payload.startswith((f"1m{code}:", f"1t{code}:draft"))]
        if confirmations := [payload for payload in moves if payload.endswith(":resign")]:
            return confirmations[0]
        moves = [
            payload
            for payload in moves
            if not payload.endswith(("claim", "resign", ":browser")) and "blind" not in payload
        ]
        bids = [payload for payload in moves if ":bid " in payload]
        moves = [payload for payload in bids if payload.endswith(("bid 4", "bid 5"))] or moves
        return self.random.choice(moves) if moves else ""

    async def measure(self, start: float) -> Usage:
        """Return the resources in use. The bot must be idle."""
        # Open the largest number of connections, so that counts are comparable.
        await asyncio.gather(*(self.worker.store.client.ping() for _ in range(2 * CONNECTIONS)))
        counts = Counter[str]()
        async for key in self.worker.store.client.scan_iter(count=1000):
            name = key.decode()
            kind = next((kind for kind in STORED_KEYS if name.startswith(kind)), "")
            # -1 means that the key does not expire, and -2 that it has just expired.
            if not kind and await self.worker.store.client.pttl(key) != -1:
                kind = EXPIRING
            counts[kind or name] += 1
        memory = (await self.worker.store.client.info("memory"))["used_memory"]
        return Usage(
            self.finished_games.total(),
            time.monotonic() - start,
            read_memory() / 1e6,
            memory / 1e6,
            await count_lasting_tasks(),
            sorted(iter_open_files()),
            counts,
        )


async def count_lasting_tasks() -> int:
    """Return the number of tasks, except those that end within half a second, such as the renewal of 64 leases."""
    before = asyncio.all_tasks()
    await asyncio.sleep(0.5)
    return len(before & asyncio.all_tasks())


def read_memory() -> int:
    """Return the memory of this process in bytes, or 0 if the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def iter_open_files() -> Iterator[str]:
    """Yield open files as Linux and macOS list them, with their targets if known."""
    for folder in (Path("/proc/self/fd"), Path("/dev/fd")):
        if folder.exists():
            for file in folder.iterdir():
                with suppress(OSError):
                    yield str(file.readlink()) if file.is_symlink() else file.name
            return


def compare(usages: list[Usage], usage: Usage) -> None:
    """Raise Leak if tasks, files or keys are left over, or if memory has grown too much."""
    first = usages[0]
    if usage.tasks > first.tasks:
        raise Leak(f"{usage.tasks - first.tasks} tasks are left over")
    if len(usage.files) > len(first.files):
        raise Leak(f"files are left open: {first.files}, {usage.files}")
    if leftovers := [
        key for key in usage.keys if key not in (*STORED_KEYS, EXPIRING) and not key.endswith(":attended")
    ]:
        raise Leak(f"keys are left over: {leftovers[:20]}")
    baseline = next((earlier.megabytes for earlier in usages if earlier.games >= WARM_UP_GAMES), usage.megabytes)
    if usage.megabytes > MAX_MEMORY_GROWTH * baseline:
        raise Leak(f"{usage.megabytes:.0f} MB of memory, and {baseline:.0f} MB after {WARM_UP_GAMES} games")


async def run_soak(games: int, every: int, seed: int, folder: Path, *, show: bool = False) -> list[Usage]:
    """Play the games, and compare each idle point with the first one."""
    embedded = EmbeddedStore(folder / "data")
    await embedded.start()
    usages: list[Usage] = []
    try:
        fake = ForgetfulPlatform()
        async with open_store(embedded.url) as store, open_worker(store, fake) as worker:
            people = Soak(worker, fake, Random(seed))
            start = time.monotonic()
            for _ in count():
                await people.play(min(every, games - people.finished_games.total()))
                usages.append(await people.measure(start))
                if show:
                    print(format_usage(usages[-1], people.presses), flush=True)  # noqa: T201
                compare(usages, usages[-1])
                if people.finished_games.total() >= games:
                    return usages
    finally:
        await embedded.stop()
    raise AssertionError


def format_usage(usage: Usage, presses: int) -> str:
    key_counts = ", ".join(
        f"{name} {number:,}" for name, number in sorted(usage.keys.items()) if name in (*STORED_KEYS, EXPIRING)
    )
    return (
        f"{usage.games:,} games, {presses:,} presses, {usage.seconds:.0f} s: {usage.megabytes:.1f} MB, {usage.tasks} tasks, "
        f"{len(usage.files)} files; store {usage.store_megabytes:.1f} MB: {key_counts}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--every", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run_soak(arguments.games, arguments.every, arguments.seed, Path(folder), show=True))


if __name__ == "__main__":
    main()
