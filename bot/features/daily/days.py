"""The deals of the days: whoever asks for today's plays it once; when the day is over everybody may look at it.

| key | type | what |
|---|---|---|
| ``daily:chain`` | string | the chains of secrets (`bot.features.daily.chain.Chain`), a line each |

What came of the deals stands in `bot.features.daily.store`.
"""

from datetime import date, timedelta
from importlib.util import find_spec
from secrets import token_bytes
from typing import Any

import structlog

from bot.addresses import Visitor
from bot.background import TaskSet
from bot.cluster.clock import HostClock
from bot.day_marks import drop_marks_before
from bot.features.daily.chain import Chain
from bot.features.daily.deal import LEVEL, play_with_robots, result_of
from bot.features.daily.dealt import deal_marks
from bot.features.daily.games import DayGames
from bot.features.daily.store import DayResults
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.robot_pool import RobotPool
from bot.store import STORE_ERRORS, keys
from bot.store.entries import Day
from bot.tables.challenges import Challenges
from bot.tables.errors import NoSuchTable, TableError
from bot.tables.room import Room
from bot.tables.table import Table
from engine.shuffle import SECRET_BYTES

log = structlog.get_logger()


class PlayedToday(TableError):
    """Whoever asks has played the deal of the day."""

    code = "played_today"
    sentence = "You have played today's deal. The next one comes at midnight."


class DealtToday(TableError):
    """The cards of the day were dealt to this person before, and the table is gone."""

    code = "dealt_today"
    sentence = "You have had today's cards already, and they are dealt once. The next deal comes at midnight."


class DailyUnavailable(TableError):
    """The robot of the day cannot think here."""

    code = "no_days_here"
    sentence = "The deal of the day is not played here: whoever hosts me would have to install numba."


async def load_chain(client: Any, today: date) -> Chain:
    """The store's chain of secrets for a day: the first one that has it. One is made when it is first asked for, and
    when its days are used up, or a wrong clock is out of them. It takes the place of none that is there already; days
    that it alone has are its own when they come.
    """
    while True:
        known = (await client.get(keys.DAILY_CHAIN) or b"").decode()
        for chain in map(Chain.parse, filter(None, known.split("\n"))):
            if chain.first <= today <= chain.last:
                return chain
        # Of two that are made at once the first one counts.
        await client.append(keys.DAILY_CHAIN, f"\n{Chain(token_bytes(SECRET_BYTES), today).to_text()}")


class Days:
    """The deals of the days of one store, for people who play them."""

    def __init__(
        self, room: Room, challenges: Challenges, archive: Archive, robot_pool: RobotPool, clock: HostClock
    ) -> None:
        self.results, self._games = DayResults(room.store.client), DayGames(room.store.client)
        self._dealt = deal_marks(room.store.client)
        self._room, self._challenges, self._archive, self._clock = room, challenges, archive, clock
        self._robot_pool, self._working_out = robot_pool, TaskSet()
        self._worked_out: date | None = None

    def today(self) -> date:
        """The day where the host is. By the store's clock: a wrong one would tell the cards while others play them."""
        return self._clock.today()

    async def move_chat(self, old: str, new: str) -> None:
        """A group has another id: what it is told of today and of yesterday moves along. Twice is once."""
        today = self.today()
        await self.results.move_chat(old, new, (today, today - timedelta(days=1)))

    async def game_on(self, day: date) -> str:
        """Return a day's game. Today's is stored from now on."""
        return await (self._games.past_game(day) if day < self.today() else self._games.todays_game(day))

    async def chain(self) -> Chain:
        return await load_chain(self._room.store.client, self.today())

    async def table_in_play(self, person: str, day: date) -> Table | None:
        """Return the table at which a person is playing a day's deal."""
        tables = await self._room.lists.tables_of(person)
        return next((table for table in tables if table.day == day and table.phase == "playing"), None)

    async def has_had_cards(self, person: str, day: date) -> bool:
        """Return whether a day's cards were dealt to a person who is not playing them any more."""
        return await self._dealt.has(day, person) and await self.table_in_play(person, day) is None

    async def can_play(self, person: str) -> bool:
        """Return whether a person can begin today's deal, or go on with it."""
        day = self.today()
        return not await self.results.get(day, person) and not await self.has_had_cards(person, day)

    async def open_table(self, person: str, name: str, host: str = "", visitor: Visitor | None = None) -> Table:
        """Return the table at which somebody plays today's deal; the same one each time.

        ``host`` is where its result is shown, ``visitor`` from where a guest of the web pages comes.
        PlayedToday if there is a result, DealtToday if the cards were dealt at a table that is gone, NoDaysHere without
        compiled searches.
        """
        day = self.today()
        if not find_spec("numba"):
            # In plain Python the robot thinks less: it would not be the same one.
            raise DailyUnavailable()
        if await self.results.get(day, person):
            raise PlayedToday()
        if await self._dealt.has(day, person):
            if table := await self.table_in_play(person, day):
                return table
            raise DealtToday()
        secret = (await self.chain()).secret(day)
        self._work_out_par(day, secret)
        await self._give_up_older(person, day)
        update = f"daily:{day}:{person}"
        try:
            table = await self._challenges.open_practice(
                await self.game_on(day),
                person,
                name,
                LEVEL,
                update,
                host=host,
                setup=[Day(day)],
                secret=secret,
                visitor=visitor,
            )
        except NoSuchTable:
            # Its game is over; what came of it may be on its way.
            raise PlayedToday() from None
        await self._dealt.add(day, person)
        return table

    async def _give_up_older(self, person: str, day: date) -> None:
        """End what somebody has left unfinished on days before: one may sit at so many tables and no more."""
        for table in await self._room.lists.tables_of(person):
            if table.day and table.day < day and table.phase == "playing":
                await self._room.close(table.code, f"daily:{day}")

    async def finish(self, game: FinishedGame, day: date) -> bool:
        """Keep a game of a day, and what came of it; doing so twice changes nothing. Returns whether it counts.

        Until the day is over the game is not in the archive: its record tells the cards. From then on they are told,
        by the next day's seal to begin with, so whoever ends later may have known them: that counts for nothing.
        """
        if day >= self.today():
            # Before the game: whatever happens in between, the result tells that it came in time.
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
        """End the days that are over: their games go into the archive. Doing so twice changes nothing."""
        await drop_marks_before(self._room.store.client, self.today())
        past = await self.results.open_days_before(self.today())
        if not past:
            return
        for day, game in await self.results.pending_games():
            if day in past:
                await self._archive_game(game, day)
                await self.results.remove_pending(day, game)
        for day in past:
            await self.results.close_day(day)

    async def _archive_game(self, game: FinishedGame, day: date) -> None:
        """A game's day is over: from now on it may be read, and stands beside the others."""
        await self.results.store_line(day, await self._archive.keep(game))

    # Par

    def _work_out_par(self, day: date, secret: bytes) -> None:
        """Have what the robot makes of the seat known soon: it takes seconds, in a process of its own."""
        if self._worked_out != day:
            self._worked_out = day
            self._working_out.start(self._note_par(day, secret))

    async def _note_par(self, day: date, secret: bytes) -> None:
        try:
            if await self.results.par(day) is None:
                await self.results.store_par(
                    day, await self._robot_pool.run_in_background(play_with_robots, await self.game_on(day), secret)
                )
        except STORE_ERRORS as error:
            self._worked_out = None
            self._room.store.outage.begin(error)
        except Exception:
            self._worked_out = None
            log.exception("par_failed", day=day.isoformat())

    async def wait_for_par(self) -> None:
        """Wait until par is known; for tests."""
        await self._working_out.wait()

    def stop(self) -> None:
        self._working_out.cancel()
