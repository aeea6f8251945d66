"""The soak test: scripted people play whole games, and nothing must be left over.

    python -m tests.soak --games 10000 --seed 1

It runs a worker with a fake platform and a real embedded Valkey. People challenge, sit down and press the buttons of
their panels; some tables have robots. After every thousand games the bot becomes idle. Then these must hold:

- there are as many tasks and open files as at the first idle point;
- the store has only the data of finished games, people, chats and rankings;
- memory is at most a tenth more than at the first idle point.
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
AT_ONCE = 8
MESSAGES_KEPT = 30
GIVEN_UP = 0.7  # share of games in which a player resigns early

STUCK_SECONDS, STUCK_PRESSES = 120.0, 5000

KEPT = ("game:", "games_of:", "last:", "person:", "chat:", "handle:", "{games}:", "schema", "secret", "workers")
"""Prefixes of keys that stay: finished games, people, chats and the store's own. Other keys belong to live tables."""

EXPIRING = "expiring keys"

MOST_MORE_MEMORY, LEAST_GAMES = 1.1, 1000
"""Largest growth of memory, as a factor, and the games before it is measured: until then caches fill."""


class Leak(AssertionError):
    """Data, tasks, files or memory left over after games."""


class Rest(NamedTuple):
    """Resources in use while the bot is idle."""

    games: int
    seconds: float
    megabytes: float
    store_megabytes: float
    tasks: int
    files: list[str]
    keys: Counter[str]


class Roll(FakePlatform):
    """A fake platform that drops old messages."""

    def __init__(self) -> None:
        super().__init__(knows_keys=False)

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        sent = await super().send(place, panel, key)
        self._keys.clear()
        self.calls.clear()
        shown = self.messages[place]
        while len(shown) > MESSAGES_KEPT:
            del shown[next(iter(shown))]
        return sent


@dataclass
class Soak:
    """Scripted people who play a number of games."""

    worker: Worker
    fake: Roll
    random: Random
    free: list[Player] = field(default_factory=list)
    over: Counter[str] = field(default_factory=Counter)
    presses: int = 0

    def __post_init__(self) -> None:
        names = ("Anna", "Bruno", "Carla", "Dino", "Elsa", "Furio")
        self.free = [Player(self.worker, self.fake, names[n % 6], n, ("en", "it")[n % 2]) for n in range(1, PEOPLE + 1)]

    async def play(self, games: int) -> None:
        """Play this many whole games, some at once. Return when the bot is idle."""
        left = iter(range(games))

        async def play_games() -> None:
            for _ in left:
                await self._game()

        await asyncio.gather(*(play_games() for _ in range(AT_ONCE)))
        await self.worker.settled()

    async def _game(self) -> None:
        game = self.random.choice(list(GAMES))
        seats = GAMES[game].seats
        robots = self.random.randint(1, seats - 1) if self.random.random() < 0.15 else 0
        players = [self.free.pop(self.random.randrange(len(self.free))) for _ in range(seats - robots)]
        chat = f"paper:g{self.random.randrange(CHATS)}"
        try:
            code = await self._seated(game, players, robots, chat)
            await self._played(code, players)
            self.over[game] += 1
        finally:
            self.free += players

    async def _seated(self, game: str, players: list[Player], robots: int, chat: str) -> str:
        """Open a table with the shortest target and seat all players."""
        opener = players[0]
        key = f"s{next(Player.numbers)}"
        reply = await opener.say(f"/challenge {game}", chat, key=key)
        assert not reply.toast, reply.toast
        [table] = await self.worker.room.lists.tables_of(opener.person.id)
        choices = GAMES[game].rules.choices()
        if "target" in choices:
            # Short games, so that there are many.
            shortest = min(choices["target"], key=lambda value: abs(float(str(value))))
            assert not (await opener.send(f"1t{table.code}:rule target={shortest}", chat)).toast
        for player in players[1:]:
            await player.send(f"1t{table.code}:sit", chat)
            await self._accepted(table.code, players)
        for _ in range(robots):
            await opener.send(f"1t{table.code}:robot easy", chat)
            await self._accepted(table.code, players)
        table = await self.worker.room.load_cached(table.code)
        assert table.phase == "playing", (game, table.phase, table.chairs, table.asking)
        return table.code

    async def _accepted(self, code: str, players: list[Player]) -> None:
        """Accept every player who asks for a chair."""
        for seat in list((await self.worker.room.load_cached(code)).asking):
            for player in players:
                await player.send(f"1t{code}:accept {seat}", player.private)

    async def _played(self, code: str, players: list[Player]) -> None:
        """Press offered buttons until the table is gone."""
        moved, made = time.monotonic(), 0
        resigns_after = self.random.randint(5, 40) if self.random.random() < GIVEN_UP else STUCK_PRESSES
        while True:
            while self.worker.delivery.is_busy(code):
                await asyncio.sleep(0.001)
            if made == resigns_after:
                made += 1
                await self.random.choice(players).say(f"/resign {code}")
            pressed = False
            for player in players:
                if payload := self._choice(player, code):
                    message = next(reversed(self.fake.messages[player.private]))
                    await player.send(payload, player.private, message)
                    self.presses += 1
                    made += 1
                    pressed, moved = True, time.monotonic()
                    break
            if not pressed:
                if not await self.worker.store.client.exists(keys.table(code)):
                    return
                if time.monotonic() - moved > STUCK_SECONDS:
                    raise Leak(f"no player can continue at table {code}")
                await asyncio.sleep(0.01)

    def _choice(self, player: Player, code: str) -> str:
        """Return a button on the player's last panel that continues the game."""
        shown = self.fake.messages[player.private]
        if not shown:
            return ""
        panel = shown[next(reversed(shown))]
        payloads = [button.payload for row in panel.rows for button in row if button.kind == "press"]
        mine = [one for one in payloads if one.startswith((f"1m{code}:", f"1t{code}:draft"))]
        if asked := [one for one in mine if one.endswith(":resign")]:
            return asked[0]
        mine = [one for one in mine if not one.endswith(("claim", "resign", ":browser")) and "blind" not in one]
        bids = [one for one in mine if ":bid " in one]
        mine = [one for one in bids if one.endswith(("bid 4", "bid 5"))] or mine
        return self.random.choice(mine) if mine else ""

    async def rest(self, start: float) -> Rest:
        """Wait until the bot is idle and return the resources in use."""
        # Open the largest number of connections, so that counts are comparable.
        await asyncio.gather(*(self.worker.store.client.ping() for _ in range(2 * CONNECTIONS)))
        found = Counter[str]()
        async for key in self.worker.store.client.scan_iter(count=1000):
            name = key.decode()
            kind = next((kind for kind in KEPT if name.startswith(kind)), "")
            # A key that has gone in the meantime expired. Milliseconds, because seconds round down to 0.
            if not kind and await self.worker.store.client.pttl(key) != -1:
                kind = EXPIRING
            found[kind or name] += 1
        memory = (await self.worker.store.client.info("memory"))["used_memory"]
        return Rest(
            self.over.total(),
            time.monotonic() - start,
            resident() / 1e6,
            memory / 1e6,
            len(asyncio.all_tasks()),
            sorted(open_files()),
            found,
        )


def resident() -> int:
    """Return the memory of this process in bytes, or 0 if the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def open_files() -> Iterator[str]:
    """Yield open files as Linux and macOS list them, with their targets if known."""
    for folder in (Path("/proc/self/fd"), Path("/dev/fd")):
        if folder.exists():
            for file in folder.iterdir():
                with suppress(OSError):
                    yield str(file.readlink()) if file.is_symlink() else file.name
            return


def compare(rests: list[Rest], now: Rest) -> None:
    """Raise Leak if more is in use than at the first idle point, apart from stored games and people."""
    first = rests[0]
    if now.tasks > first.tasks:
        raise Leak(f"{now.tasks - first.tasks} tasks are left over")
    if len(now.files) > len(first.files):
        raise Leak(f"files are left open: {first.files}, {now.files}")
    if more := [key for key in now.keys if key not in (*KEPT, EXPIRING) and not key.endswith(":attended")]:
        raise Leak(f"keys are left over: {more[:20]}")
    settled = next((rest.megabytes for rest in rests if rest.games >= LEAST_GAMES), now.megabytes)
    if now.megabytes > MOST_MORE_MEMORY * settled:
        raise Leak(f"{now.megabytes:.0f} MB of memory, and {settled:.0f} MB after {LEAST_GAMES} games")


async def soak(games: int, every: int, seed: int, folder: Path, *, show: bool = False) -> list[Rest]:
    """Play the games, and compare each idle point with the first one."""
    embedded = EmbeddedStore(folder / "data")
    await embedded.start()
    rests: list[Rest] = []
    try:
        fake = Roll()
        async with open_store(embedded.url) as store, open_worker(store, fake) as worker:
            one = Soak(worker, fake, Random(seed))
            start = time.monotonic()
            for _ in count():
                await one.play(min(every, games - one.over.total()))
                rests.append(await one.rest(start))
                if show:
                    print(line(rests[-1], one.presses), flush=True)  # noqa: T201
                compare(rests, rests[-1])
                if one.over.total() >= games:
                    return rests
    finally:
        await embedded.stop()
    raise AssertionError


def line(rest: Rest, presses: int) -> str:
    kept = ", ".join(f"{name} {number:,}" for name, number in sorted(rest.keys.items()) if name in (*KEPT, EXPIRING))
    return (
        f"{rest.games:,} games, {presses:,} presses, {rest.seconds:.0f} s: {rest.megabytes:.1f} MB, {rest.tasks} tasks, "
        f"{len(rest.files)} files; store {rest.store_megabytes:.1f} MB: {kept}"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--games", type=int, default=10_000)
    options.add_argument("--every", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(soak(given.games, given.every, given.seed, Path(folder), show=True))


if __name__ == "__main__":
    main()
