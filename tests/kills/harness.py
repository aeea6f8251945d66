"""The kill harness: a real bot in a process of its own, people who press buttons, and SIGKILL.

Each round lets people play for a moment and kills the bot, the store, or both. After every few rounds, and at the end,
delivery comes to rest, and `tests.kills.invariants` hold everything against everything.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import aiohttp

from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.store import EmbeddedStore, Store, keys, open_store
from bot.store.entries import Move, decode
from bot.store.log import strip_stamp
from bot.tables.table import Table
from engine import verify
from tests.kills.bot_process import Bot
from tests.kills.groups import expected_messages
from tests.kills.invariants import Disagreement, StateAtRest, check, count_doubles
from tests.kills.pages import Page
from tests.kills.players import Players

STOP_SECONDS = 10.0
"""Seconds that a bot may take to stop when it is asked to: after that `docker stop` kills it."""

MAX_RESTS = 3
"""How often delivery comes to rest in a check, at most, until nothing is left to deliver after the bot has stopped."""

PRESSES_AFTER_KILL = 4
"""So many presses acknowledged after a kill show that presses count again."""


class Harness:
    """Rounds and checks for one page."""

    victims = ("bot", "store", "both")
    check_every = 10
    """Rounds."""

    patience = 60.0
    """Seconds in which at least one press is acknowledged, presses count again after a kill, and one more table comes to
    rest once nobody plays.
    """

    def __init__(self, page: Page, seed: int, least: int = 0) -> None:
        """``least`` is how many presses must be acknowledged in a round before the kill: a short run plays, too."""
        self.page, self.bot, self.least = page, page.bot, least
        self.random = Random(seed)
        self.players = Players(page, self.random)
        self.kills: Counter[str] = Counter()
        self.doubled: Counter[str] = Counter()
        self.down: list[float] = []
        self._at_risk = 0

    async def run(self, kills: int, *, show: bool = False) -> None:
        """So many kills; a check after every few of them and at the end."""
        async with aiohttp.ClientSession() as session:
            try:
                for number in range(1, kills + 1):
                    await self.play_round(session, self.random.choice(self.victims))
                    if number % self.check_every == 0 or number == kills:
                        await self.check(session)
                        if show:
                            print(self.summary(), flush=True)  # noqa: T201
            finally:
                await self.bot.kill()
                self.bot.kill_store()

    def summary(self) -> str:
        """How it stands after a check."""
        kills, down, players = self.kills, sorted(self.down), self.players
        return (
            f"{kills.total()} kills {dict(kills)}: {len(players.acknowledged)} of {len(players.pressed)} presses acknowledged;"
            f" back after {down[len(down) // 2]:.2f} s (median), {down[-1]:.2f} s (longest);"
            f" doubled: {dict(self.doubled) or 'nothing'}"
        )

    async def play_round(self, session: aiohttp.ClientSession, kill: str) -> None:
        """Start, play for a moment, kill."""
        start = time.perf_counter()
        await self.bot.start()
        await self.page.connect(session)
        self.down.append(time.perf_counter() - start)
        listening = asyncio.create_task(self.page.listen())
        await self.players.begin()
        await self._wait_until_played()
        await asyncio.sleep(self.random.uniform(0.0, 0.5))
        self._note_kill(kill)
        if kill in ("store", "both"):
            self.bot.kill_store()
        if kill == "store":
            # The bot starts it again, and people play on.
            await self._wait_until_presses_count()
            await asyncio.sleep(self.random.uniform(0.0, 0.2))
        else:
            await self.bot.kill()
        await self.players.end()
        if kill == "store":
            self._at_risk += self.page.count_at_risk()
            await self.bot.kill()
        await listening

    async def check(self, session: aiohttp.ClientSession) -> None:
        """Let delivery come to rest, stop, and hold everything against everything."""
        store = EmbeddedStore(self.bot.folder / "data")
        for _ in range(MAX_RESTS):
            await self._rest_and_stop(session, store)
            await store.start()
            try:
                async with open_store(store.url) as there:
                    # A clock that ran out as the bot stopped is told at the next start.
                    if not await there.changed_tables(range(keys.SHARDS)):
                        await self.check_state(there)
                        return
            finally:
                await store.stop()
        raise Disagreement("something is left to deliver each time")

    async def _rest_and_stop(self, session: aiohttp.ClientSession, store: EmbeddedStore) -> None:
        """Start once more, and stop when delivery has come to rest."""
        await self.bot.start()
        await self.page.connect(session)
        listening = asyncio.create_task(self.page.listen())
        await self.players.repeat_unanswered()
        async with open_store(store.url) as there:
            await self.wait_for_rest(there)
        stopped_in = await self.bot.stop()
        await listening
        if stopped_in > STOP_SECONDS:
            raise Disagreement(f"the bot took {stopped_in:.1f} s to stop")

    def _note_kill(self, kill: str) -> None:
        self.kills[kill] += 1
        self._at_risk += self.page.count_at_risk()

    async def _wait_until_played(self) -> None:
        """Wait until enough presses of this round were acknowledged. A slow machine may take long, but never stops."""
        count = len(self.players.acknowledged)
        wanted, since = count + self.least, time.monotonic()
        await self.players.fill_tables(2)
        while len(self.players.acknowledged) < wanted:
            await asyncio.sleep(0.2)
            await self.players.fill_tables(2)
            if len(self.players.acknowledged) > count:
                count, since = len(self.players.acknowledged), time.monotonic()
            elif time.monotonic() > since + self.patience:
                raise Disagreement(f"no press is acknowledged; {self._describe_presses()}")

    async def _wait_until_presses_count(self) -> None:
        """Until some more presses were acknowledged; a game may end meanwhile, so there is always another one.

        A crowded machine may do what is asked for and answer too late to acknowledge it: then the logs tell.
        """
        wanted = len(self.players.acknowledged) + PRESSES_AFTER_KILL
        deadline, before = time.monotonic() + self.patience, None
        self.page.last_answers.clear()
        while len(self.players.acknowledged) < wanted:
            if time.monotonic() > deadline:
                made = await self._count_moves()
                if before is not None:
                    if any(count > before.get(code, 0) for code, count in made.items()):
                        return
                    raise Disagreement(f"no press counts any more; {self._describe_presses()}")
                deadline, before = time.monotonic() + self.patience, made
            await asyncio.sleep(0.2)
            await self.players.fill_tables(2)

    def _describe_presses(self) -> str:
        """What came of the last ones, and what could be pressed."""
        answers = Counter(self.page.last_answers).most_common()
        shown = {one["id"]: self.page.buttons(one["id"]) for one in self.page.people}
        return f"the last were answered {answers}, to be pressed are {shown}\n{self.bot.log_tail()}"

    @property
    def store_url(self) -> str:
        return EmbeddedStore(self.bot.folder / "data").url

    async def _count_moves(self) -> dict[str, int]:
        """How many moves people have made at each live table."""
        async with open_store(self.store_url) as store:
            return {table.code: moves_in_log(table).total() for table in await load_tables(store)}

    async def wait_for_rest(self, store: Store) -> None:
        """Until nothing is marked as changed any more and nothing has been shown for a moment.

        A crowded machine takes its time: what counts is that fewer and fewer tables are left.
        """
        least, since, before = None, time.monotonic(), ""
        while True:
            await asyncio.sleep(0.5)
            changed = await store.changed_tables(range(keys.SHARDS))
            # What was done by then has been told, but on a crowded machine perhaps not been heard.
            await self.page.catch_up()
            now = json.dumps(self.page.messages, sort_keys=True)
            if not changed and now == before:
                return
            if least is None or len(changed) < least:
                least, since = len(changed), time.monotonic()
            elif time.monotonic() > since + self.patience:
                shown = "still shows something else" if now != before else "shows nothing new"
                raise Disagreement(
                    f"delivery does not come to rest, and {shown}; for {self.patience:.0f} s no fewer are marked as changed than"
                    f" {changed}\n{self.bot.log_tail()}"
                )
            before = now

    async def check_state(self, store: Store) -> None:
        """Hold everything against everything."""
        rest = await self._load_state(store)
        check(rest)
        self.doubled = count_doubles(rest)

    async def _load_state(self, store: Store) -> StateAtRest:
        tables = await load_tables(store)
        made = {table.code: moves_in_log(table) for table in tables}
        games = [game async for game in Archive(store.client).all()]
        for game in games:
            verify(game.record)
            made[game.code] = moves_in_record(game)
        return StateAtRest(
            tables,
            await store.changed_tables(range(keys.SHARDS)),
            made,
            self.players.count_moves(self.players.pressed),
            self.players.count_moves(self.players.acknowledged),
            self.page,
            self._at_risk,
            self.page.may_double,
            self.page.may_lack_pictures,
            await expected_messages(store, tables, games) if self.page.keeps_groups else (),
        )


async def load_tables(store: Store) -> list[Table]:
    codes = [key.decode().rpartition(":")[2] async for key in store.client.scan_iter("{s*}:table:*")]
    return [Table.from_log(code, await store.load(code)) for code in codes]


def moves_in_log(table: Table) -> Counter[tuple[str, str]]:
    """Who has made which move of a live game."""
    entries = (decode(strip_stamp(entry).decode()) for entry in table.log.entries)
    moves = ((table.chairs[entry.seat], entry.move) for entry in entries if isinstance(entry, Move))
    return Counter((chair.person, move) for chair, move in moves if chair)


def moves_in_record(game: FinishedGame) -> Counter[tuple[str, str]]:
    """What the people of a finished game did; what chance gave is not counted."""
    moves = (move for deal in game.record.deals for move in deal.moves)
    return Counter((game.people[move[0]], move[1]) for move in moves if move[0] is not None)


@asynccontextmanager
async def on_playground(folder: Path) -> AsyncIterator[Page]:
    yield Page(Bot(folder))


def main(platform: Callable[[Path], AbstractAsyncContextManager[Any]], kind: type[Harness] = Harness) -> None:
    """The harness from the command line, showing after each check how it goes: a run may be cut short."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=60)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--folder", type=Path, help="where the bot keeps its data and its log; stays afterwards")
    given = options.parse_args()

    async def run(folder: Path) -> None:
        async with platform(folder) as page:
            await kind(page, given.seed).run(given.kills, show=True)

    with tempfile.TemporaryDirectory() as temporary:
        start = time.perf_counter()
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        asyncio.run(run(folder))
        print(f"{time.perf_counter() - start:.0f} s in all")  # noqa: T201
