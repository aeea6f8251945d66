"""Playing duels: opening and accepting them, their tables, their results and their end."""

from collections.abc import Sequence
from importlib.util import find_spec
from itertools import count

from bot.cluster.host_time import HostTime
from bot.features.duels.duel import DAY, DAYS, SIDES, Duel, Played, Player
from bot.features.duels.errors import (
    AllDealsPlayed,
    AlreadyChallenged,
    DealBeingCounted,
    DuelForAnother,
    DuelIsAccepted,
    DuelIsFull,
    DuelIsOver,
    DuelsUnavailable,
    NoRematch,
    NoSuchDuel,
    NotYourDuel,
    TooManyDuels,
    TooManyToday,
)
from bot.features.duels.messages import REMIND_SECONDS, Messages
from bot.features.duels.store import DuelStore
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.http.addresses import Visitor
from bot.identity.pseudonyms import is_pseudonym
from bot.people import People, Profile
from bot.platform import Person, platform_of
from bot.solo_deals.results import LEVEL, SoloResult, result_of
from bot.store.entries import Duel as DuelEntry
from bot.store.people_in_logs import person_by_handle
from bot.tables.blocks import Blocks
from bot.tables.chairs import Chair, Invited
from bot.tables.challenges import Challenges
from bot.tables.codes import table_code
from bot.tables.errors import NoChairForYou, NoSuchTable
from bot.tables.room import Room
from bot.tables.table import Table

MAX_OPEN = 10  # a person's duels that are not over, and those of the last day that closed without an opponent
MAX_OPENED_A_DAY = 20
RECENT_SECONDS = (2 * DAYS + 1) * DAY  # older duels count toward no limit
MAX_LISTED = 100  # duels in a person's list
MAX_CODES = 8  # codes tried for one update
LOST_SECONDS = 600  # after this time without a table or a result, a deal's table counts as lost


class Duels:
    """The duels of one store. Methods can raise store errors, and errors for players."""

    def __init__(
        self,
        store: DuelStore,
        messages: Messages,
        room: Room,
        challenges: Challenges,
        archive: Archive,
        blocks: Blocks,
        people: People,
        host_time: HostTime,
    ) -> None:
        self.store, self._messages = store, messages
        self._room, self._challenges, self._archive = room, challenges, archive
        self._blocks, self._people, self._host_time = blocks, people, host_time

    def now(self) -> int:
        """Return the time by the store's clock, in Unix seconds."""
        return int(self._host_time.now().timestamp())

    # Opening and accepting

    async def open(
        self, person: Person, game: str, update: str, *, place: str = "", invited: Invited | None = None
    ) -> Duel:
        """Open a duel, only one for each update.

        Raises NoNewTables, DuelsUnavailable, AlreadyChallenged, TooManyDuels or TooManyToday.
        """
        self.check_can_open()
        if invited and invited.person and await self._blocks.has_blocked(invited.person, person.id):
            invited = invited._replace(is_notified=False)
        secret, now, player = await self._room.store.secret(), self.now(), Player(person.id, person.name)
        recent_duels = await self.store.of_person(person.id, first_time=now - RECENT_SECONDS)
        own_duels = [duel for duel in recent_duels if duel.side_of(person.id) is not None and not duel.match]
        for attempt in range(MAX_CODES):
            code = table_code(f"duel {update} {attempt}", secret)
            other_duels = [duel for duel in own_duels if duel.code != code]
            if code not in [duel.code for duel in recent_duels]:
                self._check_limits(other_duels, person.id, invited, now)
            if await self.store.create(code, update, game, player, now, place=place, invited=invited):
                duel = await self.store.load(code)
                was_called = invited and any(other.challenges(invited) for other in other_duels)
                if invited and invited.person and invited.is_notified and not place and not was_called:
                    # In a group the challenge itself mentions them.
                    await self._messages.add(code, "called", 1, now)
                return duel
        raise TooManyDuels(most=MAX_OPEN)

    def check_can_open(self) -> None:
        self._challenges.check_can_open()
        if not find_spec("numba"):
            # Without numba the robot searches less, so its play would differ.
            raise DuelsUnavailable()

    async def open_in_match(self, match: str, pair: int, game: str, players: tuple[Player, Player], now: int) -> Duel:
        """Open the duel of a pair of a match of two groups. Idempotent. It counts toward no limit."""
        secret, update = await self._room.store.secret(), f"match {match} {pair}"
        for attempt in count():
            code = table_code(f"duel {update} {attempt}", secret)
            if await self.store.create(code, update, game, players[0], now, opponent=players[1], match=match):
                for side in SIDES:
                    await self._messages.add(code, "drawn", side, now)
                    await self._messages.add(code, "soon", side, now + DAYS * DAY - REMIND_SECONDS)
                return await self.store.load(code)
        raise AssertionError

    def _check_limits(self, own_duels: Sequence[Duel], person: str, invited: Invited | None, now: int) -> None:
        """Raise an error if a person has opened too many duels, or has an open challenge to the invited person."""
        if invited and any(duel.challenges(invited) and not duel.closing for duel in own_duels):
            raise AlreadyChallenged(name=invited.name)
        if sum(not (duel.closing and duel.is_accepted) for duel in own_duels) >= MAX_OPEN:
            raise TooManyDuels(most=MAX_OPEN)
        if sum(duel.side_of(person) == 0 and duel.opened_at > now - DAY for duel in own_duels) >= MAX_OPENED_A_DAY:
            raise TooManyToday(most=MAX_OPENED_A_DAY)

    async def accept(self, code: str, person: Person) -> Duel:
        """Make a person the opponent, unless they play this duel already."""
        duel = await self.store.load(code)
        if duel.side_of(person.id) is not None:
            return duel
        if duel.is_accepted:
            raise DuelIsFull()
        if duel.closing or self.now() >= duel.ends:
            raise DuelIsOver()
        if not duel.invites(person.id, person.handle):
            assert duel.invited
            raise DuelForAnother(name=duel.invited.name)
        if duel.invited is None and await self._blocks.has_blocked(duel.players[0].person, person.id):
            raise NoChairForYou()
        now = self.now()
        # The messages come first, so a kill loses none. They wait until the duel is accepted.
        await self._messages.add(code, "accepted", 0, now)
        for side in SIDES:
            await self._messages.add(code, "soon", side, now + DAYS * DAY - REMIND_SECONDS)
        await self.store.accept(duel, Player(person.id, person.name), now)
        duel = await self.store.load(code)
        if duel.side_of(person.id) is None:
            raise DuelIsOver() if duel.closing else DuelIsFull()
        return duel

    async def decline(self, code: str, person: Person) -> Duel:
        """Close a duel that is not accepted. Its challenger withdraws it; the challenged person declines it."""
        duel = await self.store.load(code)
        side = duel.side_of(person.id)
        if side is None and not (duel.invited and duel.invites(person.id, person.handle)):
            raise NotYourDuel()
        if duel.is_accepted:
            raise DuelIsAccepted()
        await self.store.close(code, "declined" if side is None else "cancelled", self.now())
        duel = await self.store.load(code)
        if duel.is_accepted:
            # It was accepted in the meantime.
            raise DuelIsAccepted()
        return duel

    async def open_rematch(self, code: str, person: Person, update: str, place: str = "") -> Duel:
        """Open the next duel between the players of a duel that is over.

        If the other player opened it already, accept it.
        """
        duel = await self.store.load(code)
        side = duel.side_of(person.id)
        if side is None:
            raise NotYourDuel()
        if not duel.has_result:
            raise NoSuchDuel()
        other = duel.players[1 - side]
        if is_pseudonym(other.person):
            raise NoRematch()
        next_duel = await self.store.find(duel.rematch) if duel.rematch else None
        if next_duel and (next_duel.is_accepted or not next_duel.closing):
            return await self.accept(next_duel.code, person)
        # The first rematch, or one after a rematch that nobody accepted.
        invited = Invited(other.person, "", other.name)
        new_duel = await self.open(person, duel.game, update, place=place, invited=invited)
        code_of_rematch = await self.store.link_rematch(duel, new_duel.code)
        if code_of_rematch == new_duel.code:
            return new_duel
        await self.store.close(new_duel.code, "cancelled", self.now())
        return await self.accept(code_of_rematch, person)

    # Tables

    async def table_in_play(self, person: str, code: str) -> Table | None:
        tables = await self._room.lists.tables_of(person)
        return next(
            (table for table in tables if table.duel and table.duel.code == code and table.phase == "playing"), None
        )

    async def open_table(self, code: str, person: Person, host: str = "", visitor: Visitor | None = None) -> Table:
        """Return the table at which a person plays their next deal. Accept the duel and open the table if needed.

        ``host`` is the place of the result, ``visitor`` the origin of a guest of the web pages.
        """
        duel = await self.accept(code, person)
        side = duel.side_of(person.id)
        assert side is not None
        if duel.closing or self.now() >= duel.ends:
            raise DuelIsOver()
        if table := await self.table_in_play(person.id, code):
            return table
        deal = duel.next_deal(side)
        if deal is None:
            raise AllDealsPlayed()
        update = f"duel:{code}:{side}:{deal}"
        if (side, deal) in duel.begun_at:
            await self._give_up_lost(duel, side, deal, update)
            return await self.open_table(code, person, host, visitor)
        try:
            table = await self._challenges.open_practice(
                duel.game,
                person.id,
                person.name,
                LEVEL,
                update,
                host=host,
                setup=[DuelEntry(code, side, deal)],
                secret=duel.secret(deal),
                visitor=visitor,
            )
        except NoSuchTable:
            # The game is over; its result might not be stored yet.
            raise DealBeingCounted() from None
        await self.store.note_begun(code, side, deal, self.now())
        return table

    async def _give_up_lost(self, duel: Duel, side: int, deal: int, update: str) -> None:
        """Count a deal with a lost table as given up, because its cards are known. Otherwise raise DealBeingCounted.

        ``update`` opened the table.
        """
        is_recent = self.now() - duel.begun_at[side, deal] < LOST_SECONDS
        if is_recent or await self._challenges.find_opened_table(update):
            # The table is over, but its result is not stored yet.
            raise DealBeingCounted()
        await self.store.store_result(duel.code, side, deal, Played(SoloResult(None, ""), ""))
        await self._settle(duel.code)

    async def finish(self, game: FinishedGame, entry: DuelEntry) -> Duel | None:
        """Store a finished game and its result. Idempotent. Return the duel, or None if it does not exist.

        The game stays out of the archive until both players can see the deal, because its record reveals the cards.
        """
        # The game comes first: once both results are stored, so are both games.
        await self.store.add_pending(entry.code, entry.side, entry.deal, game)
        await self.store.store_result(entry.code, entry.side, entry.deal, Played(result_of(game.record), game.id))
        return await self._settle(entry.code)

    async def _settle(self, code: str) -> Duel | None:
        """Archive the games that both can see, and close a duel that is finished."""
        duel = await self.store.find(code)
        if duel and not duel.is_ended and (duel.is_finished or duel.closing):
            # For a closed duel this repeats what a kill might have interrupted.
            await self.store.close(code, "done", self.now())
            duel = await self.store.find(code)
        async for field, deal, game in self.store.pending(code):
            if duel is None or duel.closing or duel.is_compared(deal):
                await self._archive.keep(game)
                await self.store.remove_pending(code, field)
        if duel:
            await self.store.touch_match(duel)
        return duel

    # The end

    async def close_due(self) -> None:
        """Close the duels whose time is up, and finish closing the others. Idempotent."""
        for code in await self.store.due(self.now()):
            duel = await self.store.find(code)
            if duel and not duel.closing:
                if self.now() < duel.ends:
                    await self.store.set_due(code, duel.ends)
                    continue
                await self.store.close(code, "time", self.now())
                duel = await self.store.load(code)
            if duel and not duel.is_ended:
                await self._end(duel)
            await self.store.remove_due(code)

    async def _end(self, duel: Duel) -> None:
        for player in duel.players:
            if table := await self.table_in_play(player.person, duel.code):
                await self._room.close(table.code, f"duel:{duel.code}")
        await self._settle(duel.code)
        await self._messages.drop(duel.code, "soon")
        if duel.is_accepted:
            for side in SIDES:
                await self._messages.add(duel.code, "over", side, self.now())
        elif duel.closing in ("declined", "time"):
            await self._messages.add(duel.code, "over", 0, self.now())
        if duel.place and duel.is_accepted:
            await self._messages.add(duel.code, "board", 0, self.now())
        await self.store.note_ended(duel)
        await self.store.touch_match(duel)

    async def leave_all(self, person: str) -> None:
        """Close all duels of a person who was forgotten or banned."""
        for duel in await self.store.of_person(person):
            await self._leave(duel, person)

    async def _leave(self, duel: Duel, person: str) -> None:
        if duel.side_of(person) is None or duel.is_ended:
            return
        if not duel.is_accepted:
            await self.store.close(duel.code, "cancelled", self.now())
        # Another person might have accepted it in the meantime. A closed duel does not change.
        await self.store.close(duel.code, "left", self.now())

    # People

    async def duels_of(self, person: str) -> list[Duel]:
        """Return a person's newest duels and open invitations."""
        duels = await self.store.of_person(person, limit=MAX_LISTED)
        [blocked_people] = await self._blocks.blocked_people([person])
        listed_duels = [duel for duel in duels if duel.is_listed_for(person)]
        return [
            duel
            for duel in listed_duels
            if duel.side_of(person) is not None or duel.players[0].person not in blocked_people
        ]

    async def find_met(self, profile: Profile, words: Sequence[str]) -> Chair | None:
        """Return the other player of a duel, or the challenger of this person."""
        duel = await self.store.find(" ".join(words))
        other = duel.other_player(profile.id, profile.handle) if duel else None
        return Chair(*other) if other else None

    async def naming(self, person: str) -> list[Duel]:
        """Return all duels that name a person, by their id or their handle."""
        handle = (await self._people.reload(person)).handle
        names = [person, *([person_by_handle(platform_of(person), handle)] if handle else [])]
        duels = [duel for name in names for duel in await self.store.of_person(name)]
        return [duel for duel in duels if duel.names(person, handle)]

    async def forget(self, person: str, pseudonym: Player) -> None:
        """Close a person's duels, and replace the person by a pseudonym. Idempotent."""
        handle = (await self._people.reload(person)).handle
        for duel in await self.naming(person):
            # The loop archives the games of a closed duel, so they are changed first.
            await self.store.redact_games(duel.code, person, pseudonym.person)
            await self._leave(duel, person)
            await self.store.redact(duel, person, handle, pseudonym)
        if handle:
            await self.store.forget_list(person_by_handle(platform_of(person), handle))

    async def forget_in_duel(self, duel: Duel, side: int, pseudonym: Player) -> None:
        """Close a duel of a match for a person who was forgotten while it was opened."""
        await self.store.redact(duel, duel.players[side].person, "", pseudonym)
        await self.store.forget_from_list(duel.players[side].person, duel.code)
        await self.store.close(duel.code, "left", self.now())

    async def forget_list(self, person: str, pseudonym: Player) -> None:
        await self.forget(person, pseudonym)
        await self.store.forget_list(person)
