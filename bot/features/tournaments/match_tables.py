"""Opens, finds and ends the tables of a tournament's matches."""

from contextlib import suppress

import structlog
from cachetools import LRUCache

from bot.features.tournaments import keys
from bot.features.tournaments.current_names import with_current_names
from bot.features.tournaments.store import KEPT_SECONDS
from bot.features.tournaments.tournament import Match, Tournament
from bot.finished.archive import Archive, parse_or_none
from bot.finished.game import FinishedGame
from bot.identity.pseudonyms import is_pseudonym
from bot.people import People
from bot.store.entries import Clock, Fixture, Rule, Setup
from bot.tables.chairs import Chair
from bot.tables.challenges import Challenges
from bot.tables.errors import NoSuchTable, OpenedTooOften, SetAside
from bot.tables.fixtures import duplicate_rules
from bot.tables.forgetting import remove_person
from bot.tables.room import Room
from bot.tables.table import Table

UNREADABLE_REMEMBERED = 1000

log = structlog.get_logger()


class MatchTables:
    """The tables of one store's tournaments. Every method can be repeated safely."""

    def __init__(self, room: Room, challenges: Challenges, archive: Archive, people: People) -> None:
        self._room, self._challenges, self._archive, self._people = room, challenges, archive, people
        self._client = room.store.client
        self._unreadable: LRUCache[bytes, None] = LRUCache(UNREADABLE_REMEMBERED)

    async def open(self, tournament: Tournament, match: Match, deal: int, *, reopen: bool = False) -> str:
        """Open the table of a match's deal for its players, and return its code.

        With ``reopen``, replace a lost table. Return an empty code if the table was replaced too often, or if it was
        removed and its result is still being recorded. Raises NoNewTables or Banned.
        """
        choice = duplicate_rules(tournament.choice) if tournament.is_duplicate else tournament.choice
        setup: list[Setup] = [
            Fixture(tournament.code, match.round, match.number, deal, tournament.place),
            *(Rule(name, value) for name, value in choice.rules.items()),
            Clock(choice.clock, True),
        ]
        secret = tournament.secret(match.round, deal) if tournament.is_duplicate else b""
        chairs = chairs_for(await with_current_names(self._people, tournament), match, deal)
        update = _opening_update(tournament, match, deal)
        try:
            table = await self._challenges.open_fixture(
                tournament.game, chairs, update, setup=setup, reopen=reopen, secret=secret
            )
        except (NoSuchTable, OpenedTooOften):
            log.debug("tournament_table_refused", fixture=update)
            return ""
        return table.code

    async def find_open_code(self, tournament: Tournament, match: Match, deal: int) -> str:
        """Return the code of the open table of a match's deal, even if it was not recorded; empty if none is open."""
        table = await self._challenges.find_opened_table(_opening_update(tournament, match, deal))
        return table.code if table else ""

    async def exists(self, code: str) -> bool:
        try:
            await self._room.load(code)
        except NoSuchTable:
            return False
        return True

    async def remove_forgotten(self, tournament: Tournament, match: Match, deal: int, code: str) -> None:
        """Remove people who were forgotten while their table was opened."""
        with suppress(NoSuchTable, SetAside):
            table = await self._room.table(code)
            for old_chair, new_chair in zip(table.chairs, chairs_for(tournament, match, deal), strict=True):
                if old_chair and is_pseudonym(new_chair.person) and old_chair.person != new_chair.person:
                    await remove_person(self._room, code, old_chair.person, "", new_chair.person)

    async def resign(self, match: Match, deal: int, team: int, code: str) -> None:
        """Resign for a team that has withdrawn."""
        seat = match.teams.index(team) ^ match.first_seat(deal)
        with suppress(NoSuchTable, SetAside):
            await self._room.resign_for(code, seat, "withdrawn")

    async def end_late(self, code: str) -> None:
        """End a table at the end of the round: the side to move loses."""
        with suppress(NoSuchTable, SetAside):
            await self._room.end_overdue(code, "round over")

    async def close(self, code: str) -> None:
        """Close a table that no longer counts for its match."""
        with suppress(NoSuchTable, SetAside):
            await self._room.close(code, "called off")

    # Games of duplicates, until their round is over

    async def hold_back(self, game: FinishedGame, table: Table) -> None:
        """Keep a duplicate's game out of the archive until its round is over, because its record shows the cards."""
        assert table.fixture
        games = keys.games(table.fixture.tournament)
        await self._client.hset(games, f"{table.fixture.round} {game.id}", game.to_bytes())
        await self._client.expire(games, KEPT_SECONDS)

    async def publish_games(self, tournament: Tournament) -> None:
        """Move the games of finished rounds to the archive. An unreadable game stays for other releases."""
        if not tournament.is_duplicate:
            return
        games = keys.games(tournament.code)
        for field in await self._client.hkeys(games):
            number, _, id_ = field.decode().partition(" ")
            if tournament.is_live and not tournament.is_over(int(number)):
                continue
            data = await self._client.hget(games, field)
            # An unreadable game was logged at the first attempt.
            if data is None or data in self._unreadable:
                continue
            if game := parse_or_none(id_, data):
                await self._archive.keep(game)
                await self._client.hdel(games, field)
            else:
                self._unreadable[data] = None

    async def find_game(self, tournament: Tournament, match: Match, code: str) -> FinishedGame | None:
        """Return the game that was played at a match's table, or None if it is missing or unreadable."""
        for field, data in (await self._client.hgetall(keys.games(tournament.code))).items():
            id_ = field.partition(b" ")[2].decode()
            if id_.startswith(f"{code}-"):
                return parse_or_none(id_, data)
        for team in match.teams:
            for chair in tournament.members(team):
                if id_ := await self._archive.find_latest_game_id(code, chair.person):
                    return await self._archive.get(id_)
        return None


def _opening_update(tournament: Tournament, match: Match, deal: int) -> str:
    """Return the id of the update that opens the table of a match's deal. A repeated update opens no second table."""
    return f"tournament:{tournament.code}:{match.round}.{match.number}.{deal}"


def chairs_for(tournament: Tournament, match: Match, deal: int) -> list[Chair]:
    """Return the players of a match's deal by seat, with partners opposite each other."""
    assert match.second is not None
    first_seat = match.first_seat(deal)
    sides = [tournament.members(match.teams[first_seat]), tournament.members(match.teams[1 - first_seat])]
    return [side[index] for index in range(tournament.team_size) for side in sides]
