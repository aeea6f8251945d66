"""Tables before the first deal: people open them and take chairs. Each change is one commit."""

from collections.abc import Iterable, Sequence

from bot.http.addresses import Visitor
from bot.identity.names import distinct_name, distinct_names, plain_name
from bot.identity.programs import name_of
from bot.identity.pseudonyms import NAME
from bot.platform import private_place
from bot.robots.names import ROBOT_NAMES
from bot.robots.pool import RobotPool
from bot.store.entries import (
    Ask,
    Close,
    Decline,
    Entry,
    Host,
    Invite,
    InviteMuted,
    Match,
    Open,
    Refuse,
    Rehost,
    Setup,
    Sit,
)
from bot.tables import checks, errors
from bot.tables.blocks import Blocks
from bot.tables.chairs import Chair, Invited
from bot.tables.codes import mark_of
from bot.tables.opening import Opener
from bot.tables.room import Room
from bot.tables.table import Table
from bot.tables.terms import TermsEditor
from engine import game_kind


def seat_robots(seats: Iterable[int], level: str) -> list[Sit]:
    """Return the entries that seat robots of a level, each with a different name."""
    names = (plain_name(f"🤖 {name}") for name in ROBOT_NAMES[level])
    return [Sit(seat, f"robot:{level}", name) for seat, name in zip(seats, names, strict=False)]


def _with_distinct_names(chairs: Sequence[Chair]) -> list[Chair]:
    """Return the chairs, with a number after each name that looks like an earlier one.

    Forgotten people keep their common pseudonym.
    """
    named_chairs = [chair for chair in chairs if chair.name != NAME]
    names = iter(distinct_names([name_of(chair.person, chair.name) for chair in named_chairs]))
    return [chair if chair.name == NAME else chair._replace(name=next(names)) for chair in chairs]


def _names_at(table: Table) -> list[str]:
    return [chair.name for chair in (*table.chairs, *table.asking.values()) if chair]


class Challenges(Opener, TermsEditor):
    """Changes to a room's tables before their game begins."""

    def __init__(self, room: Room, robot_pool: RobotPool | None = None) -> None:
        """With a ``robot_pool``, seating a strong robot starts to compile what it needs."""
        super().__init__(room)
        self._robot_pool = robot_pool
        self._blocks = Blocks(room.store.client)

    async def open_table(
        self,
        game: str,
        person: str,
        name: str,
        update: str,
        *,
        host: str = "",
        invited: Invited | None = None,
        setup: Sequence[Setup] = (),
        seat: int = 0,
        reopen: bool = False,
        secret: bytes = b"",
        visitor: Visitor | None = None,
    ) -> Table:
        """Open a table and seat this person there. Raises UnknownGame, which lists the available games.

        ``host`` is the place of its first board; ``setup`` holds more entries for its log. The code follows from the
        update, so an update delivered twice opens one table. Updates are numbered, so the code also depends on the
        store's secret and cannot be guessed.

        With ``reopen`` several people can send the update, one after the other. Once the update's table is gone, this
        opens another, and raises OpenedTooOften after `MAX_OF_UPDATE` tables. Without ``reopen`` it raises NoSuchTable.
        ``secret`` belongs to the first deal; it is random if empty. ``visitor`` is the address of a web guest. Raises
        NoNewTables if the store has no room, or during maintenance.
        """
        game_kind(game)
        name = name_of(person, name)
        hosting = [Host(host)] if host else []
        entries: list[Entry] = [Open(game, person, name), *hosting, *setup, Sit(seat, person, name)]
        if invited:
            invited_name = distinct_name(name_of(invited.person, invited.name), [name])
            entries.append(Invite(invited.person, invited.handle, invited_name))
            if invited.person and await self._blocks.has_blocked(invited.person, person):
                entries.append(InviteMuted())
        lists = self._room.lists
        return await self._open(
            entries,
            update,
            lambda code: [lists.reserve_chair(person, code), lists.reserve_host(host, code, is_challenge=True)],
            mark="" if reopen else mark_of(person),
            secret=secret,
            visitor=visitor,
        )

    async def open_practice(
        self,
        game: str,
        person: str,
        name: str,
        level: str,
        update: str,
        *,
        host: str = "",
        setup: Sequence[Setup] = (),
        secret: bytes = b"",
        visitor: Visitor | None = None,
    ) -> Table:
        """Open a table with robots of a level in all other chairs. Other arguments are as for `open_table`."""
        robots = seat_robots(range(1, game_kind(game).seats), level)
        self._get_ready(level)
        return await self.open_table(
            game, person, name, update, host=host, setup=[*setup, *robots], secret=secret, visitor=visitor
        )

    async def open_matched(
        self,
        game: str,
        chairs: Sequence[Chair],
        update: str,
        *,
        asked_people: Sequence[str] = (),
        setup: Sequence[Setup] = (),
        reopen: bool = False,
        visitor: Visitor | None = None,
    ) -> Table:
        """Open a table for matched people, under these names, and ask them whether they are ready.

        They are asked in their private chats. If ``asked_people`` is given, only they are asked. Each person has a
        chair, in the given order, with the robots of ``setup`` between them. The same update opens one table, and
        raises NoSuchTable once that table is gone. ``setup``, ``reopen`` and ``visitor`` are as for `open_table`.
        """
        chairs = _with_distinct_names(chairs)
        first_chair = chairs[0]
        hosts = [private_place(person) for person in asked_people or [chair.person for chair in chairs]]
        entries: list[Entry] = [Open(game, first_chair.person, first_chair.name), *map(Host, hosts), *setup]
        entries += [Match(chair.person, chair.name) for chair in chairs]
        return await self._open(
            entries,
            update,
            lambda code: [self._room.lists.reserve_host(host, code) for host in hosts],
            mark="" if reopen else mark_of(first_chair.person),
            visitor=visitor,
        )

    async def open_fixture(
        self,
        game: str,
        chairs: Sequence[Chair],
        update: str,
        *,
        setup: Sequence[Setup],
        reopen: bool = False,
        secret: bytes = b"",
    ) -> Table:
        """Open a tournament's table and begin its game: ``chairs`` has one entered player for each seat.

        The table is shown in the players' private chats. It ignores their limit of tables, so that other tables cannot
        hold up a tournament. The same update opens one table, and raises NoSuchTable once that table is gone.
        Raises NoNewTables if the store has no room, or during maintenance. ``setup``, ``reopen`` and ``secret`` are as
        for `open_table`.
        """
        chairs = _with_distinct_names(chairs)
        first_chair = chairs[0]
        people = [chair.person for chair in chairs if not chair.is_robot]
        hosts = [private_place(person) for person in people]
        entries: list[Entry] = [Open(game, first_chair.person, first_chair.name), *map(Host, hosts), *setup]
        entries += [Sit(seat, chair.person, chair.name) for seat, chair in enumerate(chairs)]
        lists = self._room.lists
        return await self._open(
            entries,
            update,
            lambda code: [
                *(lists.reserve_chair(person, code, is_limited=False) for person in people),
                *(lists.reserve_host(host, code) for host in hosts),
            ],
            mark="" if reopen else mark_of(first_chair.person),
            secret=secret,
        )

    async def sit(
        self,
        code: str,
        person: str,
        name: str,
        update: str,
        seat: int | None = None,
        *,
        handle: str = "",
        host: str = "",
        terms: int | None = None,
    ) -> Table:
        """Take a chair, by default the first free one. Once all chairs are taken, the game begins.

        In games that ask partners, the first player of a side decides about the chair opposite. ``host`` is another
        place that shows the table from now on. Matched strangers keep the names from their match. Raises NoChairForYou
        if the opener has blocked this person and has not invited them. At a table that was open to anyone, this holds
        for a block by any player. ``terms`` is the version of the terms that the person read; raises OldPanel if they
        have changed.
        """

        def decide(table: Table) -> Sequence[Entry]:
            checks.check_free_to_sit(table, person, handle)
            if terms not in (None, table.terms_at):
                raise errors.OldPanel()
            chosen_seat = seat if seat is not None else table.matched_seat(person)
            if chosen_seat is None:
                chosen_seat = checks.find_free_chair(table)
            if chosen_seat not in range(len(table.chairs)):
                raise errors.NoSuchChair()
            if occupant := table.chairs[chosen_seat] or table.asking.get(chosen_seat):
                raise errors.ChairTaken(name=occupant.name)
            hosting = checks.host_entries(table, host)
            # Matched and challenged people keep the name under which the opener knows them.
            known_names = {chair.person: chair.name for chair in table.matched}
            if table.invited and table.origin:
                known_names[table.invited.person] = table.invited.name
            distinct = distinct_name(name_of(person, known_names.get(person, name)), _names_at(table))
            kind = Sit if table.ruler_of(chosen_seat) is None else Ask
            return [*hosting, kind(chosen_seat, person, distinct)]

        cached_table = await self._room.load_cached(code)
        if not (cached_table.invites(person, handle) or cached_table.log.has_update(update)):
            hosts = {cached_table.opener.person} | (cached_table.people if cached_table.was_listed else set())
            if any(person in blocked for blocked in await self._blocks.blocked_people(sorted(hosts))):
                raise errors.NoChairForYou()
        async with self._room.lists.reserve_chair(person, code), self._room.lists.reserve_host(host, code):
            return await self._room.commit(code, update, decide)

    async def add_robot(self, code: str, person: str, level: str, names: Sequence[str], update: str) -> Table:
        """Seat a robot in the first free chair, under the first of ``names`` that is not taken.

        Only the opener can do so. If the opposite seat has a ruler, the ruler must agree.
        """

        def decide(table: Table) -> Sequence[Entry]:
            checks.check_open(table)
            checks.check_opener(table, person)
            taken_names = _names_at(table)
            name = next((candidate for candidate in names if candidate not in taken_names), names[0])
            if len(taken_names) == len(table.chairs):
                raise errors.LastSeatAsked()
            seat = checks.find_free_chair(table)
            kind = Sit if table.ruler_of(seat) is None else Ask
            return [kind(seat, f"robot:{level}", plain_name(name))]

        self._get_ready(level)
        return await self._room.commit(code, update, decide)

    def _get_ready(self, level: str) -> None:
        if level == "strong" and self._robot_pool:
            self._robot_pool.get_ready()

    async def add_host(self, code: str, place: str, update: str) -> Table:
        async with self._room.lists.reserve_host(place, code):
            return await self._room.commit(code, update, lambda table: checks.host_entries(table, place))

    async def move_host(self, code: str, old_place: str, new_place: str, update: str) -> Table:
        return await self._room.commit(
            code,
            update,
            lambda table: [Rehost(table.hosts.index(old_place), new_place)] if old_place in table.hosts else [],
        )

    async def answer(self, code: str, person: str, seat: int, accept: bool, update: str) -> Table:
        """Accept or refuse the person who asks for the chair opposite. Only the first player of that side can."""

        def decide(table: Table) -> Sequence[Entry]:
            checks.check_open(table)
            if seat not in table.asking:
                is_taken = seat in range(len(table.chairs)) and table.chairs[seat]
                raise errors.OldPanel() if is_taken else errors.NobodyAsks()
            ruler = table.ruler_of(seat)
            if ruler is None or checks.require_seat(table, person) != ruler:
                raise errors.NotYoursToDecide()
            if not accept:
                return [Refuse(seat)]
            asker = table.asking[seat]
            return [Sit(seat, asker.person, asker.name)]

        return await self._room.commit(code, update, decide)

    async def stand_up(self, code: str, person: str, update: str) -> Table:
        """Give back a chair before the game begins. If the opener stands up, the table is cancelled."""

        def decide(table: Table) -> Sequence[Entry]:
            checks.check_before_deal(table)
            if table.matched:
                raise errors.NotYoursToDecide()
            seat = checks.require_seat(table, person)
            is_opener = person == table.opener.person
            return [Close("cancelled")] if is_opener else table.stand_entries(seat)

        token = await self._room.lists.read_token(person, code)
        table = await self._room.commit(code, update, decide)
        await self._room.lists.remove_person(person, table, token)
        return table

    async def cancel(self, code: str, person: str, update: str) -> Table:
        """Cancel a challenge. Only the opener can do so."""

        def decide(table: Table) -> Sequence[Entry]:
            checks.check_before_deal(table)
            checks.check_opener(table, person)
            return [Close("cancelled")]

        return await self._room.commit(code, update, decide)

    async def cancel_open(self, code: str, update: str) -> Table:
        """Cancel a challenge that is still waiting, without checking who asks. A game that has begun continues."""
        return await self._room.commit(
            code, update, lambda table: [Close("cancelled")] if table.phase == "open" else []
        )

    async def decline(self, code: str, person: str, handle: str, update: str) -> Table:
        """Decline a challenge, as a person who was challenged by name or matched."""

        def decide(table: Table) -> Sequence[Entry]:
            checks.check_before_deal(table)
            if not table.invites(person, handle):
                raise errors.NotYoursToDecide()
            declining = [Decline(number) for number, chair in enumerate(table.matched) if chair.person == person]
            return [*declining, Close("declined")]

        return await self._room.commit(code, update, decide)
