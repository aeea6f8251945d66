"""Tournaments for web pages: those that their organisers have opened to everyone, and each reader's own."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from bot.features.tournaments import errors
from bot.features.tournaments.card_panel import has_results, winners_line
from bot.features.tournaments.current_names import with_current_names
from bot.features.tournaments.pages import possible_partners, state_line
from bot.features.tournaments.registration import Registration, teams_of
from bot.features.tournaments.rules_page import tie_break_lines
from bot.features.tournaments.standings import standings
from bot.features.tournaments.store import Tournaments
from bot.features.tournaments.texts import TournamentText
from bot.features.tournaments.tournament import Match, Tournament
from bot.finished.archive import Archive
from bot.people import People, Profile
from bot.platform import Person
from bot.site.attempts import try_to_do
from bot.site.watching import Watching
from bot.store.outage import STORE_ERRORS
from bot.tables.errors import NoSuchTable
from bot.tables.room import Room
from bot.words.table_lines import capitalize
from bot.words.wording import decimal_text

MAX_LISTED = 50  # tournaments on the page of all
MAX_PARTNERS = 20  # players without a partner, each with a button


class TournamentLine(NamedTuple):
    """A tournament in a list. ``is_in``: the reader plays in it."""

    code: str
    title: str
    state: str
    is_in: bool


class PageMatch(NamedTuple):
    """A match of the current round. ``watch_id`` and ``replay`` are empty if there is nothing to see."""

    pairing: str
    outcome: str
    watch_id: str
    replay: str
    is_mine: bool


class PageStanding(NamedTuple):
    place: int
    team: str
    figures: tuple[str, ...]
    is_out: bool
    is_mine: bool


class TournamentPage(NamedTuple):
    """A tournament's page for one reader.

    ``columns`` are the names of the score and the tie-breaks, which ``ties`` explains. ``tables`` are the codes of
    tables of the reader's open matches. ``partners`` are the players whose partner the reader could become, by number.
    """

    code: str
    phase: str
    title: str
    organiser: str
    terms: list[str]
    state: str
    teams: list[str]
    alone: list[str]
    matches: list[PageMatch]
    columns: list[str]
    standings: list[PageStanding]
    ties: list[str]
    tables: list[str]
    partners: Mapping[int, str]
    is_in: bool
    is_public: bool


class TournamentSite:
    """Tournaments for web pages. Every method can raise a store error."""

    def __init__(
        self,
        tournaments: Tournaments,
        registration: Registration,
        people: People,
        archive: Archive,
        room: Room,
        watching: Watching,
    ) -> None:
        self._tournaments, self._registration, self._people = tournaments, registration, people
        self._archive, self._room, self._watching = archive, room, watching

    async def public_lines(self, person: str, language: str, limit: int = MAX_LISTED) -> list[TournamentLine]:
        """Return the public tournaments that are live: first those open for sign-up, each kind newest first.

        ``person`` is empty for a stranger, who gets none while the store is away.
        """
        try:
            tournaments = sorted(await self._tournaments.public(), key=lambda tournament: tournament.phase != "open")
            lines = (self._line(tournament, person, language) for tournament in tournaments[:limit])
            return list(await asyncio.gather(*lines))
        except STORE_ERRORS:
            if person:
                raise
            return []

    async def _line(self, tournament: Tournament, person: str, language: str) -> TournamentLine:
        text = TournamentText(language, tournament)
        state = state_line(text, await self._tournaments.seconds_left(tournament))
        return TournamentLine(tournament.code, text.title, state, tournament.player_of(person) is not None)

    async def page(self, code: str, person: str, language: str) -> TournamentPage | None:
        """Return a tournament's page, or None if it is unknown or the reader must not see it."""
        try:
            tournament = await self._tournaments.load(code)
        except (errors.NoSuchTournament, errors.UnreadableTournament):
            return None
        if not (tournament.is_public_on_web or (person and tournament.involves(person))):
            return None
        tournament = await with_current_names(self._people, tournament)
        text, team = TournamentText(language, tournament), tournament.team_with(person)
        table = standings(tournament) if has_results(tournament) else ()
        players_alone = [] if tournament.teams else tournament.players_alone
        if tournament.teams:
            teams = [] if table else [text.team_name(number) for number in range(len(tournament.teams))]
        else:
            teams = [text.player_names(pair) for pair in teams_of(tournament) if pair[0] not in players_alone]
        matches = tournament.rounds[-1] if tournament.rounds else ()
        if tournament.form == "league":
            matches = tuple(match for match in matches if match.seats or match.is_over)
        figures = (table[0].score, *table[0].tie_breaks) if table else ()
        is_out = team is not None and tournament.has_withdrawn(team)
        return TournamentPage(
            code=code,
            phase=tournament.phase,
            title=text.title,
            organiser=text.organiser,
            terms=text.terms(),
            state=await self._state(text),
            teams=teams,
            alone=[text.player_names([number]) for number in players_alone],
            matches=await self._matches(text, matches, team),
            columns=[capitalize(text.gettext(figure.name)) for figure in figures],
            standings=[
                PageStanding(
                    standing.rank,
                    text.team_name(standing.team),
                    tuple(decimal_text(figure.value, language) for figure in (standing.score, *standing.tie_breaks)),
                    standing.is_out and tournament.phase == "playing",
                    standing.team == team,
                )
                for standing in table
            ],
            ties=tie_break_lines(text) if table else [],
            tables=tournament.tables_of(person),
            partners={
                number: text.player_names([number])
                for number in possible_partners(tournament, person)[:MAX_PARTNERS]
                if tournament.phase == "open"
            },
            is_in=tournament.player_of(person) is not None and not is_out,
            is_public=tournament.is_public_on_web,
        )

    async def _state(self, text: TournamentText) -> str:
        tournament, _ = text.tournament, text.gettext
        if tournament.phase == "open":
            return _("Open for sign-up. It starts when {name} presses “Start”.").format(name=text.organiser)
        if tournament.phase == "over":
            return winners_line(text)
        return state_line(text, await self._tournaments.seconds_left(tournament))

    async def _matches(self, text: TournamentText, matches: Sequence[Match], team: int | None) -> list[PageMatch]:
        tournament = text.tournament
        games = {
            match.number: game
            for match in matches
            if tournament.is_public(match.round) and (game := next((r.game for r in match.results.values()), ""))
        }
        archived_ids = await self._archive.kept_ids(list(games.values()))
        return [
            PageMatch(
                text.pairing(match),
                text.outcome(match),
                await self._watch_id(match.table),
                game if len(match.deals) == 1 and (game := games.get(match.number, "")) in archived_ids else "",
                team in match.teams,
            )
            for match in matches
        ]

    async def _watch_id(self, code: str) -> str:
        if not code:
            return ""
        try:
            return await self._watching.watch_id(await self._room.load_cached(code))
        except NoSuchTable:
            return ""

    # What readers do. Each method returns an error's text, or "".

    async def enter(self, person: Person, code: str, update: str, partner: int | None = None) -> str:
        """Enter a person, as the partner of another player if one is named."""

        async def enter(profile: Profile) -> None:
            tournament = await self._tournaments.load(code)
            if not (tournament.is_public_on_web or tournament.involves(person.id)):
                raise errors.NoSuchTournament(code=code)
            with suppress(errors.AlreadyEntered):
                if partner is None:
                    await self._registration.enter(code, profile.id, profile.name, update)
                else:
                    await self._registration.join_partner(code, profile.id, profile.name, partner, update)

        return await try_to_do(self._people, person, enter)

    async def leave(self, person: Person, code: str, update: str) -> str:
        return await try_to_do(self._people, person, lambda profile: self._registration.leave(code, profile.id, update))
