"""Entering and organising a tournament: what people may do with one, until it starts and while it runs."""

import secrets
from collections.abc import Mapping
from contextlib import suppress
from itertools import count

from bot.features.tournaments.entries import (
    Cancel,
    Enter,
    Entry,
    Leave,
    Open,
    Option,
    Partner,
    Place,
    Play,
    Start,
    encode,
)
from bot.features.tournaments.errors import (
    AlreadyEntered,
    ChangedTooOften,
    EnteredTooOften,
    HasBegun,
    HasPartner,
    IsFull,
    IsOver,
    NoPartners,
    NoSuchPartner,
    NoSuchTournament,
    NotEntered,
    NotForPrograms,
    NotRatedYet,
    OnlyTheOrganiser,
    TooFewPairs,
    TooFewTeams,
)
from bot.features.tournaments.store import Tournaments
from bot.features.tournaments.tournament import LEAST_TEAMS, MOST_TEAMS, OPTIONS, Form, Tournament
from bot.finished.ratings import Ratings, Scope
from bot.names import person_name
from bot.programs import is_program
from bot.store import Store
from bot.tables.choice import Choice
from bot.tables.codes import table_code
from bot.tables.lists import CodeTaken
from engine.shuffle import SECRET_BYTES

MOST_CHANGES = 2000
"""Entries of a tournament that has not begun after which it is started or called off, and not changed any more."""

MOST_REENTRIES = 10
"""How often one person may enter the same tournament, having left it in between."""

MOST_UNRATED = 100
"""Games that a start rates first, where they are left: more, as after a rebuild that was cut short, would hold up a
press for long, and are being rated anyway.
"""


class Registration:
    """What people do with tournaments. What is asked for twice, by the same update, is done once."""

    def __init__(self, store: Store, tournaments: Tournaments, ratings: Ratings) -> None:
        """Players are seeded by their ``ratings``."""
        self._store, self._tournaments, self._ratings = store, tournaments, ratings

    async def open(self, place: str, person: str, name: str, choice: Choice, form: Form, update: str) -> Tournament:
        """A new tournament in a chat, which nobody has entered yet. TooManyTournaments where there are as many as may
        be, OrganisesTooMany where the person organises as many.
        """
        entries: list[Entry] = [
            Open(person, person_name(name)),
            Place(place),
            _play_entry(choice),
            Option("form", form),
        ]
        secret = await self._store.secret()
        for attempt in count():
            code = table_code(f"tournament {update} {attempt}", secret)
            with suppress(NoSuchTournament):
                known = await self._tournaments.load(code)
                if known.was_begun_by(update):
                    return known
                continue
            with suppress(CodeTaken):
                async with self._tournaments.reserve_lists(place, person, code):
                    await self._tournaments.write(Tournament(code), entries, update)
                    # By whomever it was written: by this update, or by another of the same code.
                    known = await self._tournaments.load(code)
                    if not known.was_begun_by(update):
                        raise CodeTaken
                return known
        raise AssertionError

    async def choose_option(self, code: str, person: str, name: str, value: str, update: str) -> Tournament:
        """One of `OPTIONS`; ValueError for what is none of them."""
        if value not in OPTIONS.get(name, ()):
            raise ValueError(f"{name} is one of {', '.join(OPTIONS.get(name, ()))}")

        def decide(tournament: Tournament) -> list[Entry]:
            _check_organiser(tournament, person)
            _check_changes(tournament)
            return [Option(name, value)] if tournament.options[name] != value else []

        return await self._tournaments.commit(code, update, decide)

    async def choose_game(self, code: str, person: str, choice: Choice, update: str) -> Tournament:
        """Which game, by which rules and clock."""

        def decide(tournament: Tournament) -> list[Entry]:
            _check_organiser(tournament, person)
            _check_changes(tournament)
            return [_play_entry(choice)] if tournament.choice != choice else []

        return await self._tournaments.commit(code, update, decide)

    async def enter(self, code: str, person: str, name: str, update: str) -> Tournament:
        """A person enters. IsFull, HasBegun, AlreadyEntered, EnteredTooOften, ChangedTooOften and NotForPrograms say
        why they cannot.
        """

        def decide(tournament: Tournament) -> list[Entry]:
            _check_open(tournament)
            if tournament.player_of(person) is not None:
                raise AlreadyEntered()
            return [_enter_entry(tournament, person, name)]

        async with self._tournaments.list_for_person(person, code):
            return await self._tournaments.commit(code, update, decide)

    async def join_partner(self, code: str, person: str, name: str, player: int, update: str) -> Tournament:
        """A person becomes the partner of another player, by number, at a game for four. Who has not entered does so
        by that; where they cannot be partners nothing happens. NoSuchPartner, HasPartner and NoPartners say why, or
        what keeps who has not entered from it.
        """

        def decide(tournament: Tournament) -> list[Entry]:
            _check_open(tournament)
            own = tournament.player_of(person)
            if tournament.team_size == 1:
                raise NoPartners()
            if player not in tournament.present or player == own:
                raise NoSuchPartner()
            if own is not None and tournament.partners.get(own) == player:
                return []
            if own in tournament.partners or player in tournament.partners:
                raise HasPartner()
            if own is not None:
                return [Partner(own, player)]
            return [_enter_entry(tournament, person, name), Partner(len(tournament.players), player)]

        async with self._tournaments.list_for_person(person, code):
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
        """The tournament begins: teams are made and seeded by rating. TooFewTeams and TooFewPairs say how many it
        takes, NotRatedYet that games are left which are still to be rated.

        At games for four those without a partner are put together in the order in which they entered; one who is left
        over stays out, and so does who came last where another form was chosen that has fewer places.
        """
        ratings = await self._player_ratings(code)
        root = secrets.token_bytes(SECRET_BYTES)

        def decide(tournament: Tournament) -> list[Entry]:
            _check_organiser(tournament, person)
            teams = teams_of(tournament)[: MOST_TEAMS[tournament.form]]
            least = LEAST_TEAMS[tournament.form]
            if len(teams) < least:
                raise (TooFewTeams if tournament.team_size == 1 else TooFewPairs)(least=least, count=len(teams))

            def strength(team: tuple[int, ...]) -> tuple[int, int]:
                players = [player for number in team if (player := tournament.players[number])]
                return -sum(ratings.get(player.person, 0) for player in players), team[0]

            left = [number for number in tournament.present if not any(number in team for team in teams)]
            seeds = tuple(sorted(teams, key=strength))
            return [*(Leave(number) for number in left), Start(root, seeds)]

        return await self._tournaments.commit(code, update, decide)

    async def _player_ratings(self, code: str) -> Mapping[str, int]:
        """The ratings everywhere, at the tournament's game, of who has entered."""
        if await self._ratings.count_unrated() > MOST_UNRATED:
            raise NotRatedYet()
        await self._ratings.catch_up()
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


def _play_entry(choice: Choice) -> Play:
    return Play(choice.game, choice.text)


def _check_open(tournament: Tournament) -> None:
    if not tournament.is_live:
        raise IsOver()
    if tournament.phase != "open":
        raise HasBegun()


def _check_changes(tournament: Tournament) -> None:
    if tournament.version >= MOST_CHANGES:
        raise ChangedTooOften()


def _enter_entry(tournament: Tournament, person: str, name: str) -> Enter:
    """What has a person enter, unless something keeps them from it."""
    if is_program(person):
        raise NotForPrograms()
    most = MOST_TEAMS[tournament.form] * tournament.team_size
    if len(tournament.present) >= most:
        raise IsFull(most=most)
    begins = encode(Enter(person, "")).encode()
    if sum(one.startswith(begins) for one in tournament.entries) >= MOST_REENTRIES:
        raise EnteredTooOften()
    _check_changes(tournament)
    return Enter(person, person_name(name))


def _check_is_organiser(tournament: Tournament, person: str) -> None:
    if tournament.opener.person != person:
        raise OnlyTheOrganiser(name=tournament.opener.name)


def _check_organiser(tournament: Tournament, person: str) -> None:
    _check_open(tournament)
    _check_is_organiser(tournament, person)
