"""Has people who look for opponents find some: matches them, opens a table for them, and sees what comes of it.

A table that was opened for some asks each in their private chat, by its challenge card, whether they are ready: whoever
is sits down, and with all there the game begins. If that comes to nothing, whoever was ready goes back to the place
that they had in the queue. Each step follows from what the store has, and may be done twice: a worker that dies leaves
it to the next.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from math import ceil
from secrets import token_hex

import structlog

from bot.cluster.shards import Shards
from bot.delivery.answers import Answers
from bot.features.find.leavers import Leavers, find_leavers, find_no_shows
from bot.features.find.matching import find_matches
from bot.features.find.pages import no_room_page
from bot.features.find.queue import Pairing, Queue, SearchState
from bot.finished.ratings import Ratings, Scope
from bot.names import new_nickname
from bot.people import People, Profile
from bot.platform import Adapter, platform_of, private_place
from bot.tables.chairs import STAND_IN, Chair
from bot.tables.challenges import Challenges, robots_at
from bot.tables.errors import NoSuchTable, StoreFull, WaitToLook
from bot.tables.room import Room
from bot.tables.table import Table
from engine import GAMES

POLL_SECONDS = 1.0
"""How often it is looked who fits whom, and what came of those who were matched."""

log = structlog.get_logger()


SEARCH_SECONDS = 1800.0
"""Seconds after which somebody is looked for no more."""


class Finder:
    """Opponents for people of one store."""

    def __init__(
        self,
        room: Room,
        people: People,
        ratings: Ratings,
        challenges: Challenges,
        shards: Shards,
        adapters: Mapping[str, Adapter],
        answers: Answers,
        is_in_trouble: Callable[[str], bool] = lambda _platform: False,
    ) -> None:
        """``is_in_trouble`` tells whether people of a platform may have been cut off from us a moment ago."""
        self.queue = Queue(room.store.client)
        self._room, self._people, self._ratings, self._challenges = room, people, ratings, challenges
        self._shards, self._adapters, self._answers = shards, adapters, answers
        self.leavers = Leavers(room.store.client)
        self.is_in_trouble = is_in_trouble

    async def run(self) -> None:
        """Match people, until cancelled. Two workers may do so for a moment: each step is taken once."""
        await self._shards.while_leader(POLL_SECONDS, self.run_round)

    async def start_search(
        self, profile: Profile, games: list[str], update: str, robots_after: float | None = None
    ) -> SearchState:
        """Have a person wait for others who play one of these games, the dearest first; once for each update. After
        ``robots_after`` seconds robots may take the chairs for which there is nobody; None for never.

        WaitToLook for people who left too many pairings. StoreFull if there is no room for a table.
        """
        self._challenges.check_memory()
        wait = await self.leavers.penalty(profile.id, await self.queue.now())
        if wait > 0:
            raise WaitToLook(minutes=ceil(wait / 60))
        if not profile.nickname:
            await self._people.update_person(profile.id, nickname=new_nickname())
        return await self.queue.join(
            profile.id, games, profile.language, await self._rating(profile.id), update, robots_after
        )

    async def change_search(self, profile: Profile, game: str, update: str, robots_after: float | None) -> SearchState:
        """Somebody who waits chooses when robots may take the chairs for which there is nobody. "repeated" for who does
        not wait: they are not looked for by this.
        """
        return await self.queue.join(
            profile.id, [game], profile.language, await self._rating(profile.id), update, robots_after, on=True
        )

    async def _rating(self, person: str) -> int:
        return (await self._ratings.standing(Scope(), person)).shown

    async def leave(self, person: str, update: str) -> None:
        """Stop looking for opponents. A person who is asked whether they are ready declines."""
        if await self.queue.leave(person):
            return
        if pairing := await self.queue.pairing_of(person):
            try:
                table = await self._open_or_find_table(pairing)
            except NoSuchTable:
                # Nobody can play there, so there is nothing to decline.
                return
            if table.phase == "unreadable":
                # It can neither begin nor be declined, and nobody is to wait for its host.
                await self.queue.end_pairing(pairing.code, pairing.others(person))
            else:
                await self.decline(table.code, person, update)

    async def block(self, person: str, other: str, name: str) -> bool:
        """Somebody does not want to meet another, whom they know by this name; False where they have blocked as many as
        they may. Those who are asked with them whether they are ready go back to their places, and hear no reason.
        """
        if not await self.queue.blocks.add(person, other, name):
            return False
        pairing = await self.queue.pairing_of(person)
        with suppress(NoSuchTable):
            if pairing and other in pairing.people:
                await self._open_or_find_table(pairing)
        for table in await self._room.lists.tables_at(private_place(person)):
            if table.phase == "open" and {person, other} <= {one.person for one in table.matched}:
                await self._challenges.withdraw(table.code, f"block:{person} {other}")
        return True

    async def decline(self, code: str, person: str, update: str) -> Table:
        """One of those who were matched does not want to play; the others go back to their places."""
        table = await self._challenges.decline(code, person, "", update)
        await self.before_removal(table)
        return table

    async def run_round(self) -> None:
        """Match whoever can be matched, and see to those who were."""
        waiting = {one.searcher.person: one for one in await self.queue.entries()}
        if waiting:
            now = await self.queue.now()
            for person in [
                one.searcher.person for one in waiting.values() if now - one.searcher.since > SEARCH_SECONDS
            ]:
                # By now they may have gone, and would keep somebody else waiting.
                await self.queue.leave(person)
                del waiting[person]
            for found in find_matches([one.searcher for one in waiting.values()], now):
                if await self.queue.pair(token_hex(8), [waiting[one.person] for one in found.people], found.game):
                    log.info("people_matched", game=found.game, people=len(found.people))
        for pairing in await self.queue.pairings():
            try:
                table = await self._open_or_find_table(pairing)
            except NoSuchTable:
                # What was to come of it was seen to before it was removed.
                await self.queue.end_pairing(pairing.code)
            else:
                await self.settle(pairing, table)

    async def settle(self, pairing: Pairing, table: Table) -> None:
        """End a pairing whose table has begun its game or never will."""
        if table.phase in ("open", "unreadable"):
            return
        await self._add_leavers(await find_no_shows(self._room.store, table), table)
        await self.queue.end_pairing(pairing.code, _remaining_people(table) if table.phase == "closed" else ())

    async def note_leavers(self, table: Table) -> None:
        """A game of strangers is over; doing so twice changes nothing."""
        await self._add_leavers(find_leavers(table), table)

    async def _add_leavers(self, people: list[str], table: Table) -> None:
        for person in people:
            if not self.is_in_trouble(platform_of(person)):
                await self.leavers.add(person, table.code, await self.queue.now())

    async def before_removal(self, table: Table) -> None:
        """See to the pairing of people who were matched before their table is forgotten, if it is still theirs."""
        for one in table.matched:
            pairing = await self.queue.pairing_of(one.person)
            if pairing is None:
                continue
            try:
                is_theirs = (await self._open_or_find_table(pairing)).code == table.code
            except NoSuchTable:
                continue
            if is_theirs:
                await self.settle(pairing, table)

    async def _open_or_find_table(self, pairing: Pairing) -> Table:
        """Return the table of people who were matched, and open it if nobody has.

        NoSuchTable when it is gone, or if there is no room for it: then they are told.
        """
        update = f"find:{pairing.code}"
        if table := await self._challenges.opened_by(update):
            return table
        if await self.queue.pairing_of(pairing.people[0]) != pairing:
            # One of them was forgotten meanwhile, perhaps.
            raise NoSuchTable(code=pairing.code)
        profiles = [await self._people.person(person) for person in pairing.people]
        matched = [Chair(one.id, one.nickname or new_nickname()) for one in profiles]
        # For chairs for which there are not enough people.
        robots = robots_at(range(len(matched), GAMES[pairing.game].seats), STAND_IN)
        try:
            return await self._challenges.open_for(pairing.game, matched, update, setup=robots)
        except StoreFull:
            await self._cancel_pairing(pairing)
            raise NoSuchTable(code=pairing.code) from None

    async def _cancel_pairing(self, pairing: Pairing) -> None:
        """End a pairing for whose table there is no room, and tell its people. They look no more."""
        if not await self.queue.end_pairing(pairing.code):
            return
        log.warning("no_room_for_matched", game=pairing.game, people=len(pairing.people))
        for person in pairing.people:
            if adapter := self._adapters.get(platform_of(person)):
                self._answers.send(private_place(person), partial(self._send_no_room, adapter, person, pairing.code))

    async def _send_no_room(self, adapter: Adapter, person: str, code: str) -> None:
        panel = no_room_page((await self._people.person(person)).language)
        await adapter.send(private_place(person), panel, f"no room {code} {person}")


def _remaining_people(table: Table) -> list[str]:
    """Of those whose table came to nothing, who goes back to the queue: but for who declined, or did not answer."""
    if table.closed == "expired":
        return [chair.person for chair in table.chairs if chair]
    return [one.person for number, one in enumerate(table.matched) if number != table.declined]
