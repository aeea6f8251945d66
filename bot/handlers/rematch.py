"""Rematches, by a button on the result."""

import asyncio
from contextlib import suppress
from itertools import permutations

from bot.actions import BadPayload
from bot.feature import Handlers
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.handlers.errors import BlockedByYou
from bot.handlers.offers import Offers, check_is_free
from bot.identity.pseudonyms import is_pseudonym
from bot.people import Profile
from bot.platform import Press, Reply, chat_of, is_inline, is_private
from bot.robots.names import STAND_IN_LEVEL
from bot.store.entries import Clock, CutOption, PlayAgain, Rule, Setup, Sit
from bot.tables.blocks import Blocks
from bot.tables.chairs import Chair, Invited
from bot.tables.challenges import Challenges
from bot.tables.errors import AlreadySeated, DidNotPlay, GameNotKept
from bot.tables.room import Room

PAUSES = (0.1, 0.3, 0.6)  # seconds between checks for a game that has just ended


class Rematches(Handlers):
    private_pages = ("rematch",)

    def __init__(self, archive: Archive, room: Room, challenges: Challenges, blocks: Blocks, offers: Offers) -> None:
        self._archive, self._room, self._challenges = archive, room, challenges
        self._blocks, self._offers = blocks, offers
        self.pages = {"rematch": self._rematch}

    async def _rematch(self, press: Press, _profile: Profile, words: list[str]) -> Reply:
        """Open a table with the same game, options and pairs at the first press, and seat those who press later."""
        if len(words) != 1:
            raise BadPayload()
        [game_id] = words
        if is_inline(press.place) and not await self._offers.is_bound(press.place):
            raise BadPayload()
        game, person = await self._find_finished(game_id), press.person
        if game is None:
            raise GameNotKept()
        if person.id not in game.people:
            raise DidNotPlay()
        setup: list[Setup] = [Rule(name, value) for name, value in game.record.rules.items()]
        setup.append(Clock(game.clock, game.strict))
        if game.has_cuts:
            setup.append(CutOption(True))
        seats = enumerate(zip(game.people, game.record.seats, strict=True))
        robots = [Sit(seat, player, name) for seat, (player, name) in seats if player.startswith("robot:")]
        other_seats = [seat for seat, player in enumerate(game.people) if player != person.id]
        # A forgotten opponent cannot be asked, so the challenge is open to all.
        is_for_one = len(other_seats) == 1 and not robots and not is_pseudonym(game.people[other_seats[0]])
        if not game.chats and (is_for_one or (len(other_seats) > 1 and len(robots) < len(other_seats))):
            return await self._ask_in_private(press, game, [*setup, *robots])
        update, seat = f"again:{game_id}", game.people.index(person.id)
        if is_inline(press.place):
            if chat_of(press.place) not in game.chats:
                raise BadPayload()
            await check_is_free(self._room.lists, press.place, update)
        table = await self._challenges.open_table(
            game.record.game,
            person.id,
            person.name,
            update,
            reopen=True,
            # A game with robots on a page starts there again, for spectators with the link.
            host="" if robots and game.origin == "page" and is_private(press.place) else press.place,
            setup=(*setup, *robots),
            invited=Invited(game.people[other_seats[0]], "", game.record.seats[other_seats[0]]) if is_for_one else None,
            seat=seat,
            visitor=press.visitor,
        )
        if table.opener.person != person.id:
            with suppress(AlreadySeated):
                await self._challenges.sit(table.code, person.id, person.name, press.key, seat)
        return Reply()

    async def _find_finished(self, game_id: str) -> FinishedGame | None:
        """Return a game; None if it is not in the archive. A page can show the end earlier, so wait for a moment."""
        for pause in PAUSES:
            game = await self._archive.get(game_id)
            if game or not self._room.cached_table(game_id.partition("-")[0]):
                return game
            await asyncio.sleep(pause)
        return await self._archive.get(game_id)

    async def _ask_in_private(self, press: Press, game: FinishedGame, setup: list[Setup]) -> Reply:
        """Open a rematch of people who share no group, and ask each of them.

        They can be strangers, so they keep the names of the last game. A robot takes the chair of a forgotten player.
        """
        people = []
        for seat, (player, name) in enumerate(zip(game.people, game.record.seats, strict=True)):
            if is_pseudonym(player):
                setup.append(Sit(seat, f"robot:{STAND_IN_LEVEL}", name))
            elif not player.startswith("robot:"):
                people.append(Chair(player, name))
        if game.origin:
            setup.append(PlayAgain(game.origin))
        person = press.person.id
        ids = [chair.person for chair in people]
        has_blocked = dict(zip(ids, await self._blocks.blocked_people(ids), strict=True))
        if blocked_chair := next((chair for chair in people if chair.person in has_blocked[person]), None):
            raise BlockedByYou(name=blocked_chair.name)
        # If a player has blocked another, neither is asked, so the blocked player does not learn of the block.
        kept_apart = {
            player for pair in permutations(has_blocked, 2) if pair[1] in has_blocked[pair[0]] for player in pair
        }
        asked_people = [person, *(player for player in ids if player not in kept_apart | {person})]
        update, visitor = f"again:{game.id}", press.visitor
        table = await self._challenges.open_matched(
            game.record.game, people, update, asked_people=asked_people, setup=setup, reopen=True, visitor=visitor
        )
        with suppress(AlreadySeated):
            await self._challenges.sit(table.code, press.person.id, press.person.name, press.key)
        return Reply()
