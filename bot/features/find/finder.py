"""The search for opponents: matches people, opens their table, and follows the ready check.

The table's challenge card asks each matched person in the private chat whether they are ready. People who accept sit
down; when all have, the game begins. Otherwise they return to their places in the queue, except those who declined or
did not answer. Each step depends only on the store and is idempotent, so another worker can continue after a crash.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from math import ceil
from secrets import token_hex

import structlog

from bot.delivery.answer_queue import AnswerQueue
from bot.features.find.leavers import Leavers, find_no_shows
from bot.features.find.matching import find_matches
from bot.features.find.pages import no_room_page
from bot.features.find.queue import Pairing, Queue, SearchState
from bot.finished.ratings import Ratings, Scope
from bot.identity.pseudonyms import new_nickname
from bot.people import People, Profile
from bot.platform import Adapter, platform_of, private_place
from bot.robots.names import STAND_IN_LEVEL
from bot.tables.chairs import Chair
from bot.tables.challenges import Challenges, seat_robots
from bot.tables.errors import NoNewTables, NoSuchTable, TableError, WaitToLook
from bot.tables.room import Room
from bot.tables.table import Table
from engine import GAMES

SEARCH_SECONDS = 1800.0  # length of a search
log = structlog.get_logger()


class Finder:
    def __init__(
        self,
        room: Room,
        people: People,
        ratings: Ratings,
        challenges: Challenges,
        adapters: Mapping[str, Adapter],
        answers: AnswerQueue,
        is_in_trouble: Callable[[str], bool],
    ) -> None:
        """``is_in_trouble`` returns whether a platform was recently unreachable, so its people could not answer."""
        self.queue = Queue(room.store.client)
        self._room, self._people, self._ratings, self._challenges = room, people, ratings, challenges
        self._adapters, self._answers, self.is_in_trouble = adapters, answers, is_in_trouble
        self.leavers = Leavers(room.store.client)

    async def start_search(
        self, profile: Profile, games: list[str], update: str, robots_after: float | None
    ) -> SearchState:
        """Put a person into the queue for these games, in order of preference. Idempotent for an update.

        After ``robots_after`` seconds robots can take free chairs; None means never. Raise WaitToLook for people who
        left too many games, and NoNewTables if no table can be opened.
        """
        self._challenges.check_can_open()
        wait = await self.leavers.penalty(profile.id, await self.queue.now())
        if wait > 0:
            raise WaitToLook(minutes=ceil(wait / 60))
        if not profile.nickname:
            await self._people.update_person(profile.id, nickname=new_nickname())
        rating = await self._rating(profile)
        return await self.queue.join(profile.id, games, profile.language, rating, update, robots_after)

    async def change_search(self, profile: Profile, game: str, update: str, robots_after: float | None) -> SearchState:
        """Change a search: its game, and when robots take free chairs. Return "repeated" if there is none."""
        rating = await self._rating(profile)
        return await self.queue.join(
            profile.id, [game], profile.language, rating, update, robots_after, only_if_waiting=True
        )

    async def _rating(self, profile: Profile) -> int:
        return (await self._ratings.standing(Scope(), profile.id)).rating

    async def leave(self, person: str, update: str) -> None:
        if await self.queue.leave(person):
            return
        if pairing := await self.queue.pairing_of(person):
            try:
                table = await self._open_or_find_table(pairing)
            except NoSuchTable:
                # There is no table to decline.
                return
            if table.phase == "unreadable":
                # This version cannot decline at that table, so the others must not wait for it.
                await self.queue.end_pairing(pairing.code, pairing.others(person))
            else:
                await self.decline(table.code, person, update)

    async def block(self, person: str, other: str, name: str) -> bool:
        """Block another person. End their common ready check, and give no reason.

        Return False if the person has blocked as many people as possible.
        """
        if not await self.queue.blocks.add(person, other, name):
            return False
        pairing = await self.queue.pairing_of(person)
        with suppress(NoSuchTable):
            if pairing and other in pairing.people:
                await self._open_or_find_table(pairing)
        for table in await self._room.lists.tables_at(private_place(person)):
            if table.phase == "open" and {person, other} <= {chair.person for chair in table.matched}:
                await self._challenges.cancel_open(table.code, f"block:{person} {other}")
        return True

    async def decline(self, code: str, person: str, update: str) -> Table:
        """Decline a ready check. The other people return to their places in the queue."""
        table = await self._challenges.decline(code, person, "", update)
        await self.before_removal(table)
        return table

    async def run_round(self) -> None:
        """End searches that expired or whose page closed, match people, and settle pairings.

        If two workers overlap, each step counts once.
        """
        for person, requested_at in (await self.queue.closed_pages()).items():
            # A person can no longer decline once the game has begun.
            with suppress(TableError):
                await self.leave(person, f"closed page {person} {requested_at}")
            await self.queue.forget_page(person)
        entries = {entry.searcher.person: entry for entry in await self.queue.entries()}
        if entries:
            now = await self.queue.now()
            expired_people = [
                person for person, entry in entries.items() if now - entry.searcher.started_at > SEARCH_SECONDS
            ]
            for person in expired_people:
                await self.queue.leave(person)
                del entries[person]
            # During maintenance, people stay in the queue.
            searchers = [] if self._room.store.levers.maintenance else [entry.searcher for entry in entries.values()]
            for match in find_matches(searchers, now):
                if await self.queue.pair(
                    token_hex(8), [entries[searcher.person] for searcher in match.people], match.game
                ):
                    log.info("people_matched", game=match.game, people=len(match.people))
        for pairing in await self.queue.pairings():
            try:
                table = await self._open_or_find_table(pairing)
            except NoSuchTable:
                # The pairing was settled before the table was removed.
                await self.queue.end_pairing(pairing.code)
            else:
                await self.settle(pairing, table)

    async def settle(self, pairing: Pairing, table: Table) -> None:
        """End a pairing if its table has started the game or is closed."""
        if table.phase in ("open", "unreadable"):
            return
        await self.add_leavers(await find_no_shows(self._room.store, table), table)
        await self.queue.end_pairing(pairing.code, _remaining_people(table) if table.phase == "closed" else ())

    async def add_leavers(self, people: list[str], table: Table) -> None:
        """Record people who left a table, except on a platform in trouble."""
        for person in people:
            if not self.is_in_trouble(platform_of(person)):
                await self.leavers.add(person, table.code, await self.queue.now())

    async def before_removal(self, table: Table) -> None:
        """Settle the pairing of a table that is about to be removed, if the table still belongs to it."""
        for chair in table.matched:
            pairing = await self.queue.pairing_of(chair.person)
            if pairing is None:
                continue
            try:
                is_theirs = (await self._open_or_find_table(pairing)).code == table.code
            except NoSuchTable:
                continue
            if is_theirs:
                await self.settle(pairing, table)

    async def _open_or_find_table(self, pairing: Pairing) -> Table:
        """Return the table of a pairing, and open it if needed.

        If none can be opened, end the pairing, tell its people and raise NoSuchTable. Raise it too if the table was
        removed or the pairing has changed.
        """
        update = f"find:{pairing.code}"
        if table := await self._challenges.find_opened_table(update):
            return table
        if await self.queue.pairing_of(pairing.people[0]) != pairing:
            # The pairing has changed, for example because a person was forgotten.
            raise NoSuchTable(code=pairing.code)
        profiles = [await self._people.person(person) for person in pairing.people]
        chairs = [Chair(profile.id, profile.nickname or new_nickname()) for profile in profiles]
        robots = seat_robots(range(len(chairs), GAMES[pairing.game].seats), STAND_IN_LEVEL)
        try:
            return await self._challenges.open_matched(pairing.game, chairs, update, setup=robots)
        except NoNewTables as error:
            if await self.queue.end_pairing(pairing.code):
                log.warning("match_refused", why=type(error).__name__, game=pairing.game, people=len(pairing.people))
                for profile in profiles:
                    if adapter := self._adapters.get(platform_of(profile.id)):
                        place, panel = private_place(profile.id), no_room_page(profile.language)
                        key = f"no room {pairing.code} {profile.id}"
                        self._answers.send(place, partial(adapter.send, place, panel, key))
            raise NoSuchTable(code=pairing.code) from None


def _remaining_people(table: Table) -> list[str]:
    """Return the people of a closed table who return to the queue: all except people who declined or did not answer."""
    if table.closed == "expired":
        return [chair.person for chair in table.chairs if chair]
    return [chair.person for number, chair in enumerate(table.matched) if number != table.declined]
