"""The deal of the day: each person plays it once, and all can see the games when the day is over."""

from datetime import date, timedelta
from importlib.util import find_spec
from secrets import token_bytes
from typing import Any

import structlog

from bot.cluster.host_time import HostTime
from bot.concurrency.background import TaskSet
from bot.days.once_a_day import DayMarks, drop_marks_before
from bot.features.daily import keys
from bot.features.daily.errors import DailyUnavailable, DealtToday, PlayedToday
from bot.features.daily.game_of_day import DayGames
from bot.features.daily.results import play_with_robots
from bot.features.daily.secret_chain import Chain
from bot.features.daily.store import DayResults
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.http.addresses import Visitor
from bot.robots.pool import RobotPool
from bot.solo_deals.results import LEVEL, result_of
from bot.store import STORE_ERRORS
from bot.store.entries import Day
from bot.tables.challenges import Challenges
from bot.tables.errors import NoSuchTable
from bot.tables.room import Room
from bot.tables.table import Table
from engine.shuffle import SECRET_BYTES

log = structlog.get_logger()


async def load_chain(client: Any, today: date) -> Chain:
    """Return the first stored chain of secrets that includes ``today``.

    Create one if none does: on first use, after the last day of a chain, or if the clock is wrong. Earlier chains keep
    their days.
    """
    while True:
        stored_chains = (await client.get(keys.CHAIN) or b"").decode()
        for chain in map(Chain.parse, filter(None, stored_chains.split("\n"))):
            if chain.first <= today <= chain.last:
                return chain
        # If two workers append a chain at once, the first one counts.
        await client.append(keys.CHAIN, f"\n{Chain(token_bytes(SECRET_BYTES), today).to_text()}")


class Days:
    """Deals each day's cards and stores the results. Methods can raise store errors.

    ``marks`` record the people who got a day's cards. Each person gets them once, even after /forget or if the table
    is lost. A mark is stored once the table is open, because the person then knows the hand.
    """

    def __init__(
        self, room: Room, challenges: Challenges, archive: Archive, robot_pool: RobotPool, host_time: HostTime
    ) -> None:
        self.results, self._games = DayResults(room.store.client), DayGames(room.store.client)
        self.marks = DayMarks(room.store.client, "deal")
        self._room, self._challenges, self._archive, self._host_time = room, challenges, archive, host_time
        self._robot_pool, self._par_tasks = robot_pool, TaskSet()
        self._par_day: date | None = None

    def today(self) -> date:
        """Return the host's date by the store's clock. A wrong local clock would reveal cards too early."""
        return self._host_time.today()

    def time_left(self) -> timedelta:
        """Return the time until the next deal."""
        return self._host_time.time_left_today()

    async def move_chat(self, old_id: str, new_id: str) -> None:
        """Copy the requests of today and yesterday to a group's new id. Idempotent."""
        today = self.today()
        await self.results.move_chat(old_id, new_id, (today, today - timedelta(days=1)))

    async def game_on(self, day: date) -> str:
        return await (self._games.past_game(day) if day < self.today() else self._games.todays_game(day))

    async def chain(self) -> Chain:
        return await load_chain(self._room.store.client, self.today())

    async def table_in_play(self, person: str, day: date) -> Table | None:
        tables = await self._room.lists.tables_of(person)
        return next((table for table in tables if table.day == day and table.phase == "playing"), None)

    async def has_had_cards(self, person: str, day: date) -> bool:
        """Return whether a person got a day's cards and no longer has a table with them."""
        return await self.marks.has(day, person) and await self.table_in_play(person, day) is None

    async def can_play(self, person: str) -> bool:
        day = self.today()
        return not await self.results.get(day, person) and not await self.has_had_cards(person, day)

    async def open_table(self, person: str, name: str, host: str = "", visitor: Visitor | None = None) -> Table:
        """Return the table at which a person plays today's deal, and open it if needed.

        ``host`` is the place of the result, ``visitor`` the origin of a guest of the web pages. Raise PlayedToday after
        the game, DealtToday if the table with the cards was removed, DailyUnavailable without numba, or an error of
        `Challenges.open_practice`.
        """
        day = self.today()
        if not find_spec("numba"):
            # Without numba the robot searches less, so its play would differ.
            raise DailyUnavailable()
        if await self.results.get(day, person):
            raise PlayedToday()
        if await self.marks.has(day, person):
            if table := await self.table_in_play(person, day):
                return table
            raise DealtToday()
        secret = (await self.chain()).secret(day)
        if self._par_day != day:
            self._par_day = day
            self._par_tasks.start(self._store_par(day, secret))
        # The number of tables per person is limited, so unfinished ones of earlier days are closed.
        for table in await self._room.lists.tables_of(person):
            if table.day and table.day < day and table.phase == "playing":
                await self._room.close(table.code, f"daily:{day}")
        game, update = await self.game_on(day), f"daily:{day}:{person}"
        try:
            table = await self._challenges.open_practice(
                game, person, name, LEVEL, update, host=host, setup=[Day(day)], secret=secret, visitor=visitor
            )
        except NoSuchTable:
            # The game is over; its result might not be stored yet.
            raise PlayedToday() from None
        await self.marks.add(day, person)
        return table

    async def mark_before_forgetting(self, person: str) -> None:
        """Store a person's missing marks: earlier releases and killed workers gave cards without a mark."""
        days = [day for day in await self.results.open_days() if await self.results.get(day, person)]
        days += [table.day for table in await self._room.lists.tables_of(person) if table.day]
        for day in days:
            await self.marks.add(day, person)

    async def finish(self, game: FinishedGame, day: date) -> bool:
        """Store a finished game and its result, and return whether it counts. Idempotent.

        The game stays out of the archive until the day is over, because its record reveals the cards. After that
        anyone can compute the cards from the next day's seal. A game that ends later does not count.
        """
        if day >= self.today():
            # Store the result first, because it proves that the game ended in time.
            for person in game.known_people:
                await self.results.store_result(day, person, result_of(game.record))
            await self.results.add_pending(day, game)
            return True
        if any([await self.results.get(day, person) for person in game.known_people]):
            await self._archive_game(game, day)
            return True
        await self._archive.keep(game)
        return False

    async def close_past(self) -> None:
        """Move the games of past days into the archive. Idempotent."""
        await drop_marks_before(self._room.store.client, self.today())
        past_days = [day for day in await self.results.open_days() if day < self.today()]
        if not past_days:
            return
        for day, game in await self.results.pending_games():
            if day in past_days:
                await self._archive_game(game, day)
                await self.results.remove_pending(day, game)
        for day in past_days:
            await self.results.close_day(day)

    async def _archive_game(self, game: FinishedGame, day: date) -> None:
        await self.results.store_line(day, await self._archive.keep(game))

    async def _store_par(self, day: date, secret: bytes) -> None:
        """Store par, unless it is stored. A robot process computes it, which takes seconds."""
        try:
            if await self.results.par(day) is None:
                await self.results.store_par(
                    day, await self._robot_pool.run_in_background(play_with_robots, await self.game_on(day), secret)
                )
        except STORE_ERRORS as error:
            self._par_day = None
            self._room.store.outage.begin(error)
        except Exception:
            self._par_day = None
            log.exception("par_failed", day=day.isoformat())

    async def wait_for_par(self) -> None:
        """Wait for par in tests."""
        await self._par_tasks.wait()

    def stop(self) -> None:
        self._par_tasks.cancel()
