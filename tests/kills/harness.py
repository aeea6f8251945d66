"""The kill harness: a real bot in its own process, people who press buttons, and SIGKILL.

In each round people play for a moment, then the bot, the store or both are killed. After every few rounds and at the
end, the harness waits until delivery ends, and checks all of `tests.kills.invariants`.
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
from tests.kills.invariants import Disagreement, StateAtRest, check_invariants, count_duplicates
from tests.kills.pages import Page
from tests.kills.players import Players

STOP_SECONDS = 10.0  # seconds in which the bot must stop on request; after that `docker stop` kills it
MAX_STOPS = 3  # attempts per check to stop the bot with nothing left to deliver
PRESSES_AFTER_KILL = 4  # presses acknowledged after a kill that show that presses work again


class Harness:
    """Rounds of play and kills on one page, with checks."""

    victims = ("bot", "store", "both")
    check_every = 10  # rounds between checks

    patience = 60.0
    """Seconds without progress after which a run fails.

    Progress is an acknowledged press, presses that work again after a kill, or one more delivered table at the end.
    """

    def __init__(self, page: Page, seed: int, min_presses: int = 0) -> None:
        """Create a harness.

        ``min_presses`` presses are acknowledged in a round before its kill, even in a short run.
        """
        self.page, self.bot, self.min_presses = page, page.bot, min_presses
        self.random = Random(seed)
        self.players = Players(page, self.random)
        self.kills: Counter[str] = Counter()
        self.duplicates: Counter[str] = Counter()
        self.start_seconds: list[float] = []
        self._at_risk = 0

    async def run(self, kills: int, *, show: bool = False) -> None:
        """Play and kill ``kills`` times, with a check after every few kills and at the end."""
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
        """Return the figures to print after a check."""
        kills, down, players = self.kills, sorted(self.start_seconds), self.players
        return (
            f"{kills.total()} kills {dict(kills)}: {len(players.acknowledged)} of {len(players.pressed)} presses acknowledged;"
            f" back after {down[len(down) // 2]:.2f} s (median), {down[-1]:.2f} s (longest);"
            f" duplicated: {dict(self.duplicates) or 'nothing'}"
        )

    async def play_round(self, session: aiohttp.ClientSession, kill: str) -> None:
        """Start, play for a moment, kill."""
        start = time.perf_counter()
        await self.bot.start()
        await self.page.connect(session)
        self.start_seconds.append(time.perf_counter() - start)
        listening = asyncio.create_task(self.page.listen())
        await self.players.begin()
        await self._wait_until_played()
        await asyncio.sleep(self.random.uniform(0.0, 0.5))
        self._count_kill(kill)
        if kill in ("store", "both"):
            self.bot.kill_store()
        if kill == "store":
            # The bot starts the store again, and people play on.
            await self._wait_until_presses_work()
            await asyncio.sleep(self.random.uniform(0.0, 0.2))
        else:
            await self.bot.kill()
        await self.players.end()
        if kill == "store":
            self._at_risk += self.page.count_at_risk()
            await self.bot.kill()
        await listening

    async def check(self, session: aiohttp.ClientSession) -> None:
        """Wait until delivery ends, stop the bot, and check the state."""
        store = EmbeddedStore(self.bot.folder / "data")
        for _ in range(MAX_STOPS):
            await self._stop_when_idle(session, store)
            await store.start()
            try:
                async with open_store(store.url) as connected:
                    # A clock can run out during the stop. The bot delivers that after the next start.
                    if not await connected.changed_tables(range(keys.SHARDS)):
                        await self.check_state(connected)
                        return
            finally:
                await store.stop()
        raise Disagreement(f"changes were left to deliver after {MAX_STOPS} stops")

    async def _stop_when_idle(self, session: aiohttp.ClientSession, store: EmbeddedStore) -> None:
        """Start again, and stop when delivery has ended."""
        await self.bot.start()
        await self.page.connect(session)
        listening = asyncio.create_task(self.page.listen())
        await self.players.repeat_unanswered()
        async with open_store(store.url) as connected:
            await self.wait_until_idle(connected)
        stopped_in = await self.bot.stop()
        await listening
        if stopped_in > STOP_SECONDS:
            raise Disagreement(f"the bot took {stopped_in:.1f} s to stop")

    def _count_kill(self, kill: str) -> None:
        self.kills[kill] += 1
        self._at_risk += self.page.count_at_risk()

    async def _wait_until_played(self) -> None:
        """Wait until enough presses of this round have been acknowledged. This can take long on a slow machine."""
        count = len(self.players.acknowledged)
        target, since = count + self.min_presses, time.monotonic()
        await self.players.fill_tables(2)
        while len(self.players.acknowledged) < target:
            await asyncio.sleep(0.2)
            await self.players.fill_tables(2)
            if len(self.players.acknowledged) > count:
                count, since = len(self.players.acknowledged), time.monotonic()
            elif time.monotonic() > since + self.patience:
                raise Disagreement(f"no press was acknowledged; {self._describe_presses()}")

    async def _wait_until_presses_work(self) -> None:
        """Wait until some more presses have been acknowledged. Open tables meanwhile, because games can end.

        On a busy machine an answer can come too late although the move was made. Then moves in the logs count.
        """
        target = len(self.players.acknowledged) + PRESSES_AFTER_KILL
        deadline, before = time.monotonic() + self.patience, None
        self.page.last_answers.clear()
        while len(self.players.acknowledged) < target:
            if time.monotonic() > deadline:
                moves = await self._count_moves()
                if before is not None:
                    if any(count > before.get(code, 0) for code, count in moves.items()):
                        return
                    raise Disagreement(f"no move was made after the kill; {self._describe_presses()}")
                deadline, before = time.monotonic() + self.patience, moves
            await asyncio.sleep(0.2)
            await self.players.fill_tables(2)

    def _describe_presses(self) -> str:
        """Describe the last answers and the buttons on offer."""
        answers = Counter(self.page.last_answers).most_common()
        offered = {person["id"]: self.page.buttons(person["id"]) for person in self.page.people}
        return f"last answers: {answers}, buttons: {offered}\n{self.bot.log_tail()}"

    @property
    def store_url(self) -> str:
        return EmbeddedStore(self.bot.folder / "data").url

    async def _count_moves(self) -> dict[str, int]:
        """Count the moves of people at each live table."""
        async with open_store(self.store_url) as store:
            return {table.code: count_moves_in_log(table).total() for table in await load_tables(store)}

    async def wait_until_idle(self, store: Store) -> None:
        """Wait until no table is marked as changed and messages have not changed for a moment.

        This can take long on a busy machine. It fails only if the number of changed tables stops falling.
        """
        fewest, since, before = None, time.monotonic(), ""
        while True:
            await asyncio.sleep(0.5)
            changed = await store.changed_tables(range(keys.SHARDS))
            # Every change has been sent by now, but on a busy machine the page might not have received it.
            await self.page.catch_up()
            now = json.dumps(self.page.messages, sort_keys=True)
            if not changed and now == before:
                return
            if fewest is None or len(changed) < fewest:
                fewest, since = len(changed), time.monotonic()
            elif time.monotonic() > since + self.patience:
                description = "still shows something else" if now != before else "shows nothing new"
                raise Disagreement(
                    f"delivery does not end: the page {description}. For {self.patience:.0f} s these tables stayed changed:"
                    f" {changed}\n{self.bot.log_tail()}"
                )
            before = now

    async def check_state(self, store: Store) -> None:
        """Check all invariants, and count the duplicates."""
        state = await self._load_state(store)
        check_invariants(state)
        self.duplicates = count_duplicates(state)

    async def _load_state(self, store: Store) -> StateAtRest:
        tables = await load_tables(store)
        made_moves = {table.code: count_moves_in_log(table) for table in tables}
        games = [game async for game in Archive(store.client).games()]
        for game in games:
            verify(game.record)
            made_moves[game.code] = count_moves_in_record(game)
        return StateAtRest(
            tables,
            await store.changed_tables(range(keys.SHARDS)),
            made_moves,
            self.players.count_moves(self.players.pressed),
            self.players.count_moves(self.players.acknowledged),
            self.page,
            self._at_risk,
            self.page.can_be_duplicated,
            self.page.may_lack_pictures,
            await expected_messages(store, tables, games) if self.page.keeps_groups else (),
        )


async def load_tables(store: Store) -> list[Table]:
    codes = [key.decode().rpartition(":")[2] async for key in store.client.scan_iter("{s*}:table:*")]
    return [Table.from_log(code, await store.load(code)) for code in codes]


def count_moves_in_log(table: Table) -> Counter[tuple[str, str]]:
    """Count the moves of a live game, by person."""
    entries = (decode(strip_stamp(entry).decode()) for entry in table.log.entries)
    moves = ((table.chairs[entry.seat], entry.move) for entry in entries if isinstance(entry, Move))
    return Counter((chair.person, move) for chair, move in moves if chair)


def count_moves_in_record(game: FinishedGame) -> Counter[tuple[str, str]]:
    """Count the moves of a finished game's people. Moves of chance do not count."""
    moves = (move for deal in game.record.deals for move in deal.moves)
    return Counter((game.people[move[0]], move[1]) for move in moves if move[0] is not None)


@asynccontextmanager
async def on_playground(folder: Path) -> AsyncIterator[Page]:
    yield Page(Bot(folder))


def main(platform: Callable[[Path], AbstractAsyncContextManager[Any]], kind: type[Harness] = Harness) -> None:
    """Run the harness from the command line. It prints figures after each check, because a run can be interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="folder for the bot's data and log, which is kept")
    arguments = parser.parse_args()

    async def run(folder: Path) -> None:
        async with platform(folder) as page:
            await kind(page, arguments.seed).run(arguments.kills, show=True)

    with tempfile.TemporaryDirectory() as temporary:
        start = time.perf_counter()
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        asyncio.run(run(folder))
        print(f"{time.perf_counter() - start:.0f} s in all")  # noqa: T201
