"""Opening, accepting, entering, drawing and ending matches."""

from itertools import count
from random import SystemRandom

from bot.features.duels.duel import SIDES, Duel, Player
from bot.features.duels.duels import Duels
from bot.features.duels.matches import errors
from bot.features.duels.matches.draw import draw_pairs
from bot.features.duels.matches.match import MAX_ENTRANTS, MIN_PAIRS, Closing, Match, Pair, Side
from bot.features.duels.matches.store import MatchStore
from bot.identity.names import person_name
from bot.identity.pseudonyms import is_pseudonym
from bot.platform import Person, can_write_anytime, chat_of
from bot.store import Store
from bot.tables.blocks import Blocks
from bot.tables.codes import table_code

MAX_TRIES = 20  # times that a change is tried while others change the match


class Matches:
    """The matches of one store. Methods can raise store errors, and errors for players."""

    def __init__(self, store: MatchStore, duels: Duels, core_store: Store, blocks: Blocks) -> None:
        self.store, self._duels, self._core_store, self._blocks = store, duels, core_store, blocks

    def now(self) -> int:
        return self._duels.now()

    async def live_in(self, place: str) -> Match | None:
        """Return the match that a group has open or plays."""
        code = await self.store.code_in(chat_of(place))
        match = await self.store.find(code) if code else None
        return match if match and not match.closing and match.side_at(place) is not None else None

    # Opening and accepting

    async def open(self, place: str, person: Person, game: str, update: str) -> Match:
        """Open a match of a group, only one for each update.

        Raises GroupPlaysAlready, BotNotInGroup, NoNewTables or DuelsUnavailable.
        """
        self.check_can_open(place)
        secret, now = await self._core_store.secret(), self.now()
        for attempt in count():
            code = table_code(f"match {update} {attempt}", secret)
            await self._take_group(place, code)
            if await self.store.create(code, update, game, Side(place, person.id), now):
                return await self.store.load(code)
            await self.store.take_group(chat_of(place), code, "")
        raise AssertionError

    def check_can_open(self, place: str) -> None:
        """Raise NoNewTables, DuelsUnavailable, or BotNotInGroup if the bot cannot write to the group later."""
        self._duels.check_can_open()
        if not can_write_anytime(place):
            raise errors.BotNotInGroup()

    async def _take_group(self, place: str, code: str) -> None:
        """Make a match the group's only one. Raises GroupPlaysAlready."""
        known_code = await self.store.code_in(chat_of(place))
        if known_code == code:
            return
        is_free = await self.live_in(place) is None and await self.store.take_group(chat_of(place), known_code, code)
        # The same update might have taken the group in the meantime.
        if not is_free and await self.store.code_in(chat_of(place)) != code:
            raise errors.GroupPlaysAlready()

    async def accept(self, code: str, place: str, person: Person) -> Match:
        """Accept a match for a group. Change nothing if the group plays in it already."""
        match = await self.store.load(code)
        side = match.side_at(place)
        if side == 0 and not match.is_accepted and not match.closing:
            raise errors.OwnMatch()
        if side is not None:
            return match
        self.check_can_open(place)
        if match.is_accepted:
            raise errors.MatchIsTaken()
        if match.closing or self.now() >= match.ends:
            raise errors.MatchIsOver()
        await self._take_group(place, code)
        if not await self.store.accept(match, Side(place, person.id), self.now()):
            match = await self.store.load(code)
            if match.side_at(place) is None:
                await self.store.take_group(chat_of(place), code, "")
                raise errors.MatchIsOver() if match.closing else errors.MatchIsTaken()
        return await self.store.load(code)

    # Entering

    async def enter(self, code: str, place: str, person: Person) -> Match:
        """Enter a person for the group at a place. Entering twice changes nothing."""
        for _try in range(MAX_TRIES):
            match = await self._load_open(code)
            side, own_side = match.side_at(place), match.side_of(person.id)
            if side is None:
                raise errors.NotYourMatch()
            if own_side == side:
                return match
            if own_side is not None:
                raise errors.EnteredForOther()
            if len(match.entrants[side]) >= MAX_ENTRANTS:
                raise errors.GroupIsFull(most=MAX_ENTRANTS)
            if await self.store.enter(match, side, Player(person.id, person_name(person.name)), self.now()):
                return await self.store.load(code)
        raise errors.TooManyPresses()

    async def leave(self, code: str, person: str) -> Match:
        """Remove a person who has entered. Leaving twice changes nothing."""
        match = await self._load_open(code)
        side = match.side_of(person)
        if side is not None and not await self.store.leave(match, side, person):
            await self._load_open(code)
        return await self.store.load(code)

    async def _load_open(self, code: str) -> Match:
        """Return a match that has not begun. Raises MatchIsOver or MatchHasBegun."""
        match = await self.store.load(code)
        if match.closing:
            raise errors.MatchIsOver()
        if match.begun_at:
            raise errors.MatchHasBegun()
        return match

    # The draw

    async def begin(self, code: str, person: str) -> Match:
        """Draw the pairs, for an organiser. Raises OnlyOrganisers, or NotReady with too few pairs."""
        for _try in range(MAX_TRIES):
            match = await self._load_open(code)
            if not match.is_organiser(person):
                raise errors.OnlyOrganisers()
            pairs = await self._draw(match)
            if len(pairs) < MIN_PAIRS:
                raise errors.NotReady(least=MIN_PAIRS)
            if await self.store.begin(match, pairs, self.now()):
                match = await self.store.load(code)
                await self._open_duels(match)
                return await self.store.load(code)
        raise errors.TooManyPresses()

    async def call_off(self, code: str, person: str) -> Match:
        """Call off a match that has not begun, for an organiser."""
        match = await self._load_open(code)
        if not match.is_organiser(person):
            raise errors.OnlyOrganisers()
        if not await self.store.close(code, "off", excluded_fields=("begun",)):
            await self._load_open(code)
        return await self.store.load(code)

    async def _draw(self, match: Match) -> list[Pair]:
        people = [entrant.person for side in match.entrants for entrant in side]
        blocked_people = dict(zip(people, await self._blocks.blocked_people(people), strict=True)) if people else {}

        def may_meet(person: str, other: str) -> bool:
            return other not in blocked_people[person] and person not in blocked_people[other]

        return draw_pairs(*match.entrants, may_meet, SystemRandom())

    async def _open_duels(self, match: Match) -> None:
        """Open the duels that are missing after the draw. After a kill in between, the loop opens the rest."""
        for number, pair in enumerate(match.pairs):
            if number in match.duels:
                continue
            duel = await self._duels.open_in_match(match.code, number, match.game, pair, match.begun_at)
            await self.store.set_duel(match.code, number, duel.code)
            # A player might have been forgotten since the match was read.
            current = (await self.store.load(match.code)).pairs[number]
            for side in SIDES:
                if is_pseudonym(current[side].person):
                    await self._duels.forget_in_duel(duel, side, current[side])

    async def duels_of(self, match: Match) -> list[Duel]:
        """Return the duels of a match in the order of its pairs."""
        duels = [await self._duels.store.find(match.duels[number]) for number in sorted(match.duels)]
        return [duel for duel in duels if duel]

    # Time

    async def advance(self, match: Match) -> Match:
        """Draw the pairs, open missing duels or close the match, whichever is due. Idempotent."""
        now = self.now()
        if match.begun_at and not match.closing:
            await self._open_duels(match)
            match = await self.store.load(match.code)
            if match.has_all_duels and all(duel.closing for duel in await self.duels_of(match)):
                await self.store.close(match.code, "over")
        elif not match.closing and now >= match.ends:
            pairs = await self._draw(match) if match.is_accepted else []
            if len(pairs) >= MIN_PAIRS:
                await self.store.begin(match, pairs, now)
            else:
                closing: Closing = "few" if match.is_accepted else "time"
                await self.store.close(match.code, closing, excluded_fields=("begun",), version=match.version)
        return await self.store.load(match.code)

    # People

    async def leave_all(self, person: str) -> None:
        """Remove a banned person from matches that have not begun. `Duels.leave_all` closes their duels."""
        for match in await self.store.of_person(person):
            side = match.side_of(person)
            if side is not None:
                await self.store.leave(match, side, person)

    async def forget(self, person: str, pseudonym: Player) -> None:
        """Remove a person from matches that have not begun, and replace them by a pseudonym elsewhere. Idempotent.

        All messages are updated, because the last call comes after the person's duels are changed.
        """
        for match in await self.store.of_person(person):
            await self.store.redact(match.code, person, pseudonym, self.now())

    async def forget_list(self, person: str, pseudonym: Player) -> None:
        await self.forget(person, pseudonym)
        await self.store.forget_list(person)

    async def export(self, person: str) -> list[dict[str, object]]:
        return [match.export(person) for match in await self.store.of_person(person) if match.names(person)]
