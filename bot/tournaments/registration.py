"""Entering and organising a tournament: what people may do with one, until it starts and while it runs."""

import secrets
from collections.abc import Mapping
from contextlib import suppress
from itertools import count

from bot.finished.ratings import Ratings, Scope
from bot.programs import is_program
from bot.store import Store, keys
from bot.tables.chairs import plain_name
from bot.tables.choice import Choice
from bot.tables.codes import table_code
from bot.tournaments.entries import Cancel, Enter, Entry, Leave, Open, Option, Partner, Place, Play, Start
from bot.tournaments.errors import (
    AlreadyEntered,
    HasBegun,
    HasPartner,
    IsFull,
    IsOver,
    NoSuchTournament,
    NotEntered,
    NotForPrograms,
    OnlyTheOrganiser,
    TooFewTeams,
    TooManyTournaments,
)
from bot.tournaments.store import Tournaments
from bot.tournaments.tournament import LEAST_TEAMS, MOST_TEAMS, OPTIONS, Form, Tournament
from engine.shuffle import SECRET_BYTES

MOST_AT_ONCE = 5
"""Tournaments that are not over, in one chat."""

MOST_CHANGES = 2000
"""Entries of a tournament that has not begun after which nothing is changed any more: only a machine can want more."""


class Registration:
    """What people do with tournaments. What is asked for twice, by the same update, is done once."""

    def __init__(self, store: Store, tournaments: Tournaments, ratings: Ratings) -> None:
        """Players are seeded by their ``ratings``."""
        self._store, self._tournaments, self._ratings = store, tournaments, ratings

    async def open(self, place: str, person: str, name: str, choice: Choice, form: Form, update: str) -> Tournament:
        """A new tournament in a chat, which nobody has entered yet. TooManyTournaments where there are as many as may
        be.
        """
        entries: list[Entry] = [Open(person, plain_name(name)), Place(place), _play(choice), Option("form", form)]
        secret = await self._store.secret()
        for attempt in count():
            code = table_code(f"tournament {update} {attempt}", secret)
            with suppress(NoSuchTournament):
                known = await self._tournaments.load(code)
                if known.was_begun_by(update):
                    return known
                continue
            live = [one for one in await self._tournaments.at(place) if one.is_live]
            if len(live) >= MOST_AT_ONCE:
                raise TooManyTournaments(most=MOST_AT_ONCE)
            for key in (keys.tournaments_at(place), keys.entered(person), keys.TOURNAMENTS):
                await self._store.index.reserve(key, code)
            await self._tournaments.write(Tournament(code), entries, update)
            # By whomever it was written: by this update, or by another of the same code.
            known = await self._tournaments.load(code)
            if known.was_begun_by(update):
                return known
        raise AssertionError

    async def choose(self, code: str, person: str, name: str, value: str, update: str) -> Tournament:
        """One of `OPTIONS`; ValueError for what is none of them."""
        if value not in OPTIONS.get(name, ()):
            raise ValueError(f"{name} is one of {', '.join(OPTIONS.get(name, ()))}")

        def decide(tournament: Tournament) -> list[Entry]:
            _check_organiser(tournament, person)
            return [Option(name, value)] if tournament.options[name] != value else []

        return await self._tournaments.commit(code, update, decide)

    async def play(self, code: str, person: str, choice: Choice, update: str) -> Tournament:
        """Which game, by which rules and clock."""

        def decide(tournament: Tournament) -> list[Entry]:
            _check_organiser(tournament, person)
            return [_play(choice)] if tournament.choice != choice else []

        return await self._tournaments.commit(code, update, decide)

    async def enter(self, code: str, person: str, name: str, update: str) -> Tournament:
        """A person enters. IsFull, HasBegun, AlreadyEntered and NotForPrograms say why they cannot."""
        if is_program(person):
            raise NotForPrograms()

        def decide(tournament: Tournament) -> list[Entry]:
            _check_open(tournament)
            if tournament.player_of(person) is not None:
                raise AlreadyEntered()
            most = MOST_TEAMS[tournament.form] * tournament.team_size
            if len(tournament.present) >= most:
                raise IsFull(most=most)
            return [Enter(person, plain_name(name))]

        await self._store.index.reserve(keys.entered(person), code)
        return await self._tournaments.commit(code, update, decide)

    async def partner(self, code: str, person: str, player: int, update: str) -> Tournament:
        """A person becomes the partner of another player, by number, at a game for four."""

        def decide(tournament: Tournament) -> list[Entry]:
            _check_open(tournament)
            own = tournament.player_of(person)
            if own is None or player not in tournament.present or player == own:
                raise NotEntered()
            if tournament.partners.get(own) == player:
                return []
            if own in tournament.partners or player in tournament.partners or tournament.team_size == 1:
                raise HasPartner()
            return [Partner(own, player)]

        return await self._tournaments.commit(code, update, decide)

    async def leave(self, code: str, person: str, update: str) -> Tournament:
        """A person leaves: before the start as if they had never entered, afterwards they withdraw."""

        def decide(tournament: Tournament) -> list[Entry]:
            if not tournament.is_live:
                raise IsOver()
            player = tournament.player_of(person)
            if player is None:
                raise NotEntered()
            return [Leave(player)]

        return await self._tournaments.commit(code, update, decide)

    async def start(self, code: str, person: str, update: str) -> Tournament:
        """The tournament begins: teams are made and seeded by rating. TooFewTeams says how many it takes.

        At games for four those without a partner are put together in the order in which they entered; one who is left
        over stays out, and so does who came last where another form was chosen that has fewer places.
        """
        ratings = await self._strengths(code)
        root = secrets.token_bytes(SECRET_BYTES)

        def decide(tournament: Tournament) -> list[Entry]:
            _check_organiser(tournament, person)
            teams = teams_of(tournament)[: MOST_TEAMS[tournament.form]]
            least = LEAST_TEAMS[tournament.form]
            if len(teams) < least:
                raise TooFewTeams(least=least, count=len(teams))

            def strength(team: tuple[int, ...]) -> tuple[int, int]:
                players = [player for number in team if (player := tournament.players[number])]
                return -sum(ratings.get(player.person, 0) for player in players), team[0]

            left = [number for number in tournament.present if not any(number in team for team in teams)]
            seeds = tuple(sorted(teams, key=strength))
            return [*(Leave(number) for number in left), Start(root, seeds)]

        return await self._tournaments.commit(code, update, decide)

    async def _strengths(self, code: str) -> Mapping[str, int]:
        """The ratings everywhere, at the tournament's game, of who has entered."""
        tournament = await self._tournaments.load(code)
        people, scope = [player.person for player in tournament.players if player], Scope(game=tournament.game)
        return {person: (await self._ratings.standing(scope, person)).shown for person in people}

    async def cancel(self, code: str, person: str, update: str) -> Tournament:
        """The organiser calls it off; what is being played is played on, and counts for nothing here."""

        def decide(tournament: Tournament) -> list[Entry]:
            if not tournament.is_live:
                raise IsOver()
            _check_is_organiser(tournament, person)
            return [Cancel()]

        return await self._tournaments.commit(code, update, decide)


def teams_of(tournament: Tournament) -> list[tuple[int, ...]]:
    """The teams that would play if it began now: pairs of partners, and those without one in the order of entering."""
    if tournament.team_size == 1:
        return [(number,) for number in tournament.present]
    pairs = [(one, other) for one, other in sorted(tournament.partners.items()) if one < other]
    single = [number for number in tournament.present if number not in tournament.partners]
    return sorted([*pairs, *zip(single[::2], single[1::2], strict=False)])


def _play(choice: Choice) -> Play:
    return Play(choice.game, choice.text)


def _check_open(tournament: Tournament) -> None:
    if not tournament.is_live:
        raise IsOver()
    if tournament.phase != "open" or tournament.version >= MOST_CHANGES:
        raise HasBegun()


def _check_is_organiser(tournament: Tournament, person: str) -> None:
    if tournament.opener.person != person:
        raise OnlyTheOrganiser(name=tournament.opener.name)


def _check_organiser(tournament: Tournament, person: str) -> None:
    _check_open(tournament)
    _check_is_organiser(tournament, person)
