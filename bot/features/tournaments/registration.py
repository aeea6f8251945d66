"""Entering and organising a tournament."""

import secrets
from contextlib import suppress
from functools import partial
from itertools import chain, count

from bot.features.tournaments import errors, keys, log_entries
from bot.features.tournaments.store import Tournaments
from bot.features.tournaments.tournament import MAX_TEAMS, MIN_TEAMS, OPTIONS, Form, Tournament
from bot.finished.ratings import Ratings, Scope
from bot.identity.names import person_name
from bot.identity.programs import is_program
from bot.store import Store
from bot.store.index import CodeTaken
from bot.tables.codes import table_code
from bot.tables.game_choice import Choice
from engine.shuffle import SECRET_BYTES

MAX_CHANGES = 2000  # log entries before the start; after that, nobody can enter and no option can be chosen
MAX_TIMES_ENTERED = 10  # times that a person can enter the same tournament
MAX_UNRATED = 100  # a start rates at most this many games first; more would delay the answer


class Registration:
    """Changes that people make to tournaments. A repeated update has no effect."""

    def __init__(self, store: Store, tournaments: Tournaments, ratings: Ratings) -> None:
        self._store, self._tournaments, self._ratings = store, tournaments, ratings

    async def open(self, place: str, person: str, name: str, choice: Choice, form: Form, update: str) -> Tournament:
        """Open a tournament in a chat. Raises TooManyTournaments for the chat, or OrganisesTooMany for the person."""
        opening: list[log_entries.Entry] = [
            log_entries.Open(person, person_name(name)),
            log_entries.Place(place),
            log_entries.Play(choice.game, choice.text),
            log_entries.Option("form", form),
        ]
        secret = await self._store.secret()
        for attempt in count():
            code = table_code(f"tournament {update} {attempt}", secret)
            with suppress(errors.NoSuchTournament):
                tournament = await self._tournaments.load(code)
                if tournament.was_opened_by(update):
                    return tournament
                continue
            with suppress(CodeTaken):
                async with self._tournaments.reserve_lists(place, person, code):
                    await self._tournaments.write(Tournament(code), opening, update)
                    # Another update with the same code might have come first.
                    tournament = await self._tournaments.load(code)
                    if not tournament.was_opened_by(update):
                        raise CodeTaken
                return tournament
        raise AssertionError

    async def choose_option(self, code: str, person: str, name: str, value: str, update: str) -> Tournament:
        """Choose one of `OPTIONS`. Raises ValueError for an unknown option or value.

        Raises OthersEntered if the web page would begin to show other people who have entered.
        """
        if value not in OPTIONS.get(name, ()):
            raise ValueError(f"{name} is one of {', '.join(OPTIONS.get(name, ()))}")
        entry = log_entries.Option(name, value)
        if (name, value) != ("web", "yes"):
            return await self._choose(code, person, entry, update)
        # The web page lists the tournament before everyone can see it.
        async with self._store.index.reserve_for_commit(keys.PUBLIC, code):
            return await self._choose(code, person, entry, update)

    async def choose_game(self, code: str, person: str, choice: Choice, update: str) -> Tournament:
        return await self._choose(code, person, log_entries.Play(choice.game, choice.text), update)

    async def _choose(
        self, code: str, person: str, entry: log_entries.Option | log_entries.Play, update: str
    ) -> Tournament:
        def decide(tournament: Tournament) -> list[log_entries.Entry]:
            _check_open(tournament)
            check_organiser(tournament, person)
            _check_changes(tournament)
            has_others = any(player and player.person != person for player in tournament.players)
            if has_others and entry == log_entries.Option("web", "yes") and not tournament.is_public_on_web:
                raise errors.OthersEntered()
            current_options = (
                log_entries.Play(tournament.game, tournament.choice.text),
                *(log_entries.Option(*option) for option in tournament.options.items()),
            )
            return [] if entry in current_options else [entry]

        return await self._tournaments.commit(code, update, decide)

    async def enter(self, code: str, person: str, name: str, update: str) -> Tournament:
        """Enter a person.

        Raises IsOver, HasBegun, IsFull, AlreadyEntered, EnteredTooOften, ChangedTooOften or NotForPrograms.
        """

        def decide(tournament: Tournament) -> list[log_entries.Entry]:
            _check_open(tournament)
            if tournament.player_of(person) is not None:
                raise errors.AlreadyEntered()
            return [_new_player_entry(tournament, person, name)]

        async with self._tournaments.list_for_person(person, code):
            return await self._tournaments.commit(code, update, decide)

    async def join_partner(self, code: str, person: str, name: str, player: int, update: str) -> Tournament:
        """Make a person the partner of another player (by number), in a game for four.

        A person who has not entered also enters, unless the two cannot be partners. Raises NoSuchPartner, HasPartner,
        NoPartners, or the errors of `enter`.
        """

        def decide(tournament: Tournament) -> list[log_entries.Entry]:
            _check_open(tournament)
            own_number = tournament.player_of(person)
            if tournament.team_size == 1:
                raise errors.NoPartners()
            if player not in tournament.entered_players or player == own_number:
                raise errors.NoSuchPartner()
            if own_number is not None and tournament.partners.get(own_number) == player:
                return []
            if own_number in tournament.partners or player in tournament.partners:
                raise errors.HasPartner()
            if own_number is not None:
                return [log_entries.Partner(own_number, player)]
            return [_new_player_entry(tournament, person, name), log_entries.Partner(len(tournament.players), player)]

        async with self._tournaments.list_for_person(person, code):
            return await self._tournaments.commit(code, update, decide)

    async def leave(self, code: str, person: str, update: str) -> Tournament:
        """Leave a tournament. Before the start the entry is undone; afterwards the player withdraws."""

        def decide(tournament: Tournament) -> list[log_entries.Entry]:
            if not tournament.is_live:
                raise errors.IsOver()
            player = tournament.player_of(person)
            if player is None:
                raise errors.NotEntered()
            return [log_entries.Leave(player)]

        return await self._tournaments.commit(code, update, decide)

    async def withdraw_everywhere(self, person: str, update: str) -> None:
        """Withdraw a person from all tournaments. Call off those that the person organises and that have not begun."""
        for code in await self._store.index.entries(keys.tournaments_of_person(person)):
            # The person stays in tournaments that this release cannot read, but a ban keeps them from sitting down.
            with suppress(errors.NoSuchTournament, errors.UnreadableTournament):
                await self._tournaments.commit(code, update, partial(_withdraw, person))

    async def start(self, code: str, person: str, update: str) -> Tournament:
        """Start a tournament: form the teams and seed them by rating.

        In games for four, players without a partner are paired in the order of entering. A single player left over
        stays out. So do the last teams if the organiser has changed to a form with fewer places. Raises TooFewTeams,
        TooFewPairs, or NotRatedYet if too many games are unrated.
        """
        if await self._ratings.count_unrated() > MAX_UNRATED:
            raise errors.NotRatedYet()
        await self._ratings.catch_up()
        tournament = await self._tournaments.load(code)
        people, scope = [player.person for player in tournament.players if player], Scope(game=tournament.game)
        ratings = {person: (await self._ratings.standing(scope, person)).rating for person in people}
        root = secrets.token_bytes(SECRET_BYTES)

        def decide(tournament: Tournament) -> list[log_entries.Entry]:
            _check_open(tournament)
            check_organiser(tournament, person)
            teams = teams_of(tournament)[: MAX_TEAMS[tournament.form]]
            min_teams = MIN_TEAMS[tournament.form]
            if len(teams) < min_teams:
                too_few = errors.TooFewTeams if tournament.team_size == 1 else errors.TooFewPairs
                raise too_few(least=min_teams, count=len(teams))

            def strength(team: tuple[int, ...]) -> tuple[int, int]:
                players = [player for number in team if (player := tournament.players[number])]
                return -sum(ratings.get(player.person, 0) for player in players), team[0]

            in_teams = set(chain.from_iterable(teams))
            leaving = [log_entries.Leave(number) for number in tournament.entered_players if number not in in_teams]
            return [*leaving, log_entries.Start(root, tuple(sorted(teams, key=strength)))]

        return await self._tournaments.commit(code, update, decide)

    async def cancel(self, code: str, person: str, update: str) -> Tournament:
        """Call a tournament off. Games in progress continue, but no longer count for the tournament."""

        def decide(tournament: Tournament) -> list[log_entries.Entry]:
            if not tournament.is_live:
                raise errors.IsOver()
            check_organiser(tournament, person)
            return [log_entries.Cancel()]

        return await self._tournaments.commit(code, update, decide)


def _withdraw(person: str, tournament: Tournament) -> list[log_entries.Entry]:
    if tournament.phase == "open" and tournament.opener.person == person:
        return [log_entries.Cancel()]
    player = tournament.player_of(person)
    return [log_entries.Leave(player)] if tournament.is_live and player is not None else []


def teams_of(tournament: Tournament) -> list[tuple[int, ...]]:
    """Return the teams for a start now, in the order of their first players.

    Players without a partner are paired in the order of entering.
    """
    if tournament.team_size == 1:
        return [(number,) for number in tournament.entered_players]
    pairs = [(player, partner) for player, partner in sorted(tournament.partners.items()) if player < partner]
    players_alone = tournament.players_alone
    return sorted([*pairs, *zip(players_alone[::2], players_alone[1::2], strict=False)])


def _check_open(tournament: Tournament) -> None:
    if not tournament.is_live:
        raise errors.IsOver()
    if tournament.phase != "open":
        raise errors.HasBegun()


def _check_changes(tournament: Tournament) -> None:
    if tournament.version >= MAX_CHANGES:
        raise errors.ChangedTooOften()


def _new_player_entry(tournament: Tournament, person: str, name: str) -> log_entries.Enter:
    """Return the log entry of a new player. Raises NotForPrograms, IsFull, EnteredTooOften or ChangedTooOften."""
    if is_program(person):
        raise errors.NotForPrograms()
    limit = MAX_TEAMS[tournament.form] * tournament.team_size
    if len(tournament.entered_players) >= limit:
        raise errors.IsFull(most=limit)
    prefix = log_entries.encode(log_entries.Enter(person, "")).encode()
    if sum(entry.startswith(prefix) for entry in tournament.entries) >= MAX_TIMES_ENTERED:
        raise errors.EnteredTooOften()
    _check_changes(tournament)
    return log_entries.Enter(person, person_name(name))


def check_organiser(tournament: Tournament, person: str) -> None:
    """Raise OnlyTheOrganiser for anyone except the organiser."""
    if tournament.opener.person != person:
        raise errors.OnlyTheOrganiser(name=tournament.opener.name)
