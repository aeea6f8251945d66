"""A tournament, replayed from its log.

A tournament is a pure function of its log, like a table. `bot.features.tournaments.log_entries` has the entries.

Players enter one by one. A *team* plays together in a match: one player in games for two, two partners in games for
four. Teams are formed at the start, and numbered by seed.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from itertools import chain
from typing import Literal, Self, assert_never, cast, get_args

from bot.features.tournaments import log_entries
from bot.features.tournaments.errors import UnreadableTournament
from bot.store.entry_text import UnreadableEntry
from bot.store.log import strip_stamp
from bot.tables.chairs import Chair
from bot.tables.game_choice import Choice
from engine import GAMES
from engine.games import default_game
from engine.shuffle import commitment

Form = Literal["knockout", "roundrobin", "swiss", "duplicate", "league"]
FORMS: tuple[Form, ...] = get_args(Form)

HOUR, DAY = 3600, 86400

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "form": FORMS,
    "time": tuple(str(seconds) for seconds in (HOUR, DAY, 3 * DAY, 7 * DAY, 14 * DAY, 28 * DAY)),
    "rounds": ("auto", "3", "4", "5", "6", "7"),
    "deals": ("2", "4", "8"),
    "scoring": ("points", "steps"),
    "web": ("no", "yes"),
}
"""Options besides the game, with their values.

``time`` is the playing time for a round, or for a whole league, in seconds. ``rounds`` applies to Swiss tournaments and
duplicates. ``deals`` is the length of a duplicate match; half of them are played in each seat. ``scoring`` is for
duplicates. ``web`` is whether everyone can see the tournament on the web page and join there.
"""

USUAL: Mapping[str, str] = {
    "form": "knockout",
    "time": str(DAY),
    "rounds": "auto",
    "deals": "2",
    "scoring": "points",
    "web": "no",
}

MAX_TEAMS: Mapping[Form, int] = {"knockout": 64, "roundrobin": 32, "swiss": 64, "duplicate": 64, "league": 32}
MIN_TEAMS: Mapping[Form, int] = {"knockout": 2, "roundrobin": 3, "swiss": 4, "duplicate": 4, "league": 3}

Phase = Literal["open", "playing", "over", "cancelled"]

Key = tuple[int, int, int]  # round, match and deal


@dataclass(frozen=True)
class Match:
    """Two teams in a round, by number. ``second`` is None if the first team has a bye.

    ``seats`` are the tables of its deals, and ``results`` their results, both by deal.
    """

    round: int
    number: int
    first: int
    second: int | None
    deals: tuple[int, ...]
    seats: Mapping[int, str] = field(default_factory=dict)
    results: Mapping[int, log_entries.Result] = field(default_factory=dict)

    @property
    def is_bye(self) -> bool:
        return self.second is None

    @property
    def teams(self) -> tuple[int, ...]:
        return (self.first,) if self.second is None else (self.first, self.second)

    @property
    def is_over(self) -> bool:
        return self.is_bye or len(self.results) == len(self.deals)

    @property
    def next_deal(self) -> int | None:
        """The deal, or whole game, to be played next or in progress; None if the match is over."""
        return None if self.is_bye else next((deal for deal in self.deals if deal not in self.results), None)

    @property
    def table(self) -> str:
        """The code of the table of the next deal; empty if it has none."""
        return "" if self.next_deal is None else self.seats.get(self.next_deal, "")

    @property
    def points(self) -> tuple[int, int]:
        """The points of both teams in all deals."""
        results = self.results.values()
        return sum(result.first_points for result in results), sum(result.second_points for result in results)

    @property
    def winner(self) -> int | None:
        """The winning team; None for a bye, a draw or an unfinished match.

        The winner of a whole game wins the match. Otherwise the team that gave up, forfeited or lost on time fewer
        deals wins. If these are equal, points decide.
        """
        if self.is_bye or not self.is_over:
            return None
        endings = ("resign", "timeout", "forfeit")
        winners = [result.winner for result in self.results.values() if result.deal == 0 or result.ending in endings]
        first_count, second_count = winners.count(0), winners.count(1)
        if first_count == second_count and self.deals != (0,):
            first_count, second_count = self.points
        return None if first_count == second_count else self.teams[first_count < second_count]

    @property
    def is_void(self) -> bool:
        """Whether the match ended without a result: no team is at fault, or both are."""
        return not self.is_bye and self.is_over and all(result.ending == "void" for result in self.results.values())

    @property
    def was_played(self) -> bool:
        """Whether cards were dealt: the match was neither void nor a forfeit."""
        return any(result.ending in ("played", "resign", "timeout") for result in self.results.values())

    def score(self, team: int) -> Fraction:
        """Return a team's score: 1 for a win or a bye, ½ for a draw."""
        if not self.is_over or self.is_void:
            return Fraction(0)
        if self.is_bye or self.winner == team:
            return Fraction(1)
        return Fraction(1, 2) if self.winner is None else Fraction(0)

    def first_seat(self, deal: int) -> int:
        """Return which team has the first seat in a deal, 0 or 1. Teams change seats after each deal."""
        return 0 if deal == 0 else (deal - 1) % 2


class Tournament:
    """An immutable tournament; `with_stored_entries` returns the next state.

    ``players`` are by number; a player who left before the start is None. ``partners`` are the pairs before the start.
    ``teams`` are players' numbers, by seed, after the start. ``withdrawn`` are players who left after the start.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        self.entries: tuple[bytes, ...] = ()
        self.opener = Chair("", "")
        self.place = ""
        self.choice = Choice.default(default_game("tournament"))
        self.options: Mapping[str, str] = dict(USUAL)
        self.players: tuple[Chair | None, ...] = ()
        self.partners: Mapping[int, int] = {}
        self.withdrawn: frozenset[int] = frozenset()
        self.root = b""
        self.teams: tuple[tuple[int, ...], ...] = ()
        self.rounds: tuple[tuple[Match, ...], ...] = ()
        self.ends_at: tuple[int, ...] = ()
        self.phase: Phase = "open"

    @property
    def version(self) -> int:
        return len(self.entries)

    @property
    def is_live(self) -> bool:
        return self.phase in ("open", "playing")

    def has_seen(self, update: str) -> bool:
        """Return whether this update caused any entry."""
        stamp = b"\t%b" % update.encode()
        return any(entry.endswith(stamp) for entry in self.entries)

    def was_opened_by(self, update: str) -> bool:
        """Return whether this update caused the first entry."""
        return bool(self.entries) and self.entries[0].partition(b"\t")[2] == update.encode()

    def with_stored_entries(self, stored_entries: Sequence[bytes]) -> Self:
        """Return the tournament with more entries. Raises `bot.store.entry_text.UnreadableEntry`."""
        if not stored_entries:
            return self
        new_state = copy(self)
        for entry in stored_entries:
            new_state._apply(log_entries.decode(strip_stamp(entry).decode()))
        new_state.entries = (*self.entries, *stored_entries)
        return new_state

    def catch_up(self, stored_entries: Sequence[bytes]) -> Self:
        """Return the tournament with more stored entries. Raises UnreadableTournament."""
        try:
            return self.with_stored_entries(stored_entries)
        except Exception as error:  # another release's log can contain anything
            reason = f"entry {self.version + 1} or one after it: {type(error).__name__}"
            raise UnreadableTournament(code=self.code, why=reason) from error

    @classmethod
    def read_prefix(cls, code: str, stored_entries: Sequence[bytes]) -> Self:
        """Return a tournament before its first unreadable entry."""
        tournament = cls(code)
        for entry in stored_entries:
            try:
                tournament = tournament.catch_up([entry])
            except UnreadableTournament:
                break
        return tournament

    # Game and options

    @property
    def game(self) -> str:
        return self.choice.game

    @property
    def form(self) -> Form:
        return cast("Form", self.options["form"])

    @property
    def is_public_on_web(self) -> bool:
        """Whether everyone can see the tournament on the web page, and join there."""
        return self.options["web"] == "yes"

    @property
    def is_duplicate(self) -> bool:
        return self.form == "duplicate"

    @property
    def team_size(self) -> int:
        return GAMES[self.game].seats // 2

    @property
    def time(self) -> int:
        """The playing time for a round, or for a whole league, in seconds."""
        return int(self.options["time"])

    @property
    def deals(self) -> tuple[int, ...]:
        """The deals of a match: 0 for a whole game."""
        return tuple(range(1, int(self.options["deals"]) + 1)) if self.is_duplicate else (0,)

    @property
    def seal(self) -> str:
        """The commitment to the root of all secrets, in hex; empty before the start."""
        return commitment(self.root) if self.root else ""

    def secret(self, round_: int, deal: int) -> bytes:
        """Return the secret of a duplicate's deal: the same at all tables, and hidden until the end."""
        return sha256(self.root + f"{round_}.{deal}".encode()).digest()

    # Players and teams

    @property
    def entered_players(self) -> list[int]:
        """The players who have entered and not left before the start."""
        return [number for number, player in enumerate(self.players) if player]

    @property
    def players_alone(self) -> list[int]:
        """The players without a partner, in a game for four."""
        if self.team_size == 1:
            return []
        return [number for number in self.entered_players if number not in self.partners]

    def player_of(self, person: str) -> int | None:
        """Return a person's number among the players who have not left."""
        for number, player in enumerate(self.players):
            if player and player.person == person and number not in self.withdrawn:
                return number
        return None

    def involves(self, person: str) -> bool:
        """Return whether a person is or was a player, or organises the tournament."""
        return self.opener.person == person or any(player and player.person == person for player in self.players)

    def team_of(self, player: int) -> int | None:
        return next((number for number, team in enumerate(self.teams) if player in team), None)

    def team_with(self, person: str) -> int | None:
        player = self.player_of(person)
        return None if player is None else self.team_of(player)

    def members(self, team: int) -> list[Chair]:
        return [player for number in self.teams[team] if (player := self.players[number])]

    def has_withdrawn(self, team: int) -> bool:
        return any(number in self.withdrawn for number in self.teams[team])

    # Rounds and matches

    @property
    def matches(self) -> Sequence[Match]:
        return list(chain.from_iterable(self.rounds))

    @property
    def is_round_over(self) -> bool:
        return all(match.is_over for match in self.matches)

    def is_over(self, round_: int) -> bool:
        """Return whether all matches of a round are over; False if it has not begun."""
        return 0 < round_ <= len(self.rounds) and all(match.is_over for match in self.rounds[round_ - 1])

    def is_public(self, round_: int) -> bool:
        """Return whether a round's deals can be shown.

        Those of a duplicate are hidden until all tables have played them, or the tournament has ended.
        """
        return not self.is_duplicate or not self.is_live or self.is_over(round_)

    def has_match(self, round_: int, number: int) -> bool:
        return 0 < round_ <= len(self.rounds) and number < len(self.rounds[round_ - 1])

    def match(self, round_: int, number: int) -> Match:
        """Return a match. Raises IndexError if there is none."""
        if round_ < 1:
            raise IndexError
        return self.rounds[round_ - 1][number]

    def matches_of(self, team: int) -> list[Match]:
        return [match for match in self.matches if team in match.teams]

    def tables_of(self, person: str) -> list[str]:
        """Return the codes of the tables of a player's open matches."""
        team = self.team_with(person)
        if team is None or self.phase != "playing":
            return []
        return [match.table for match in self.matches_of(team) if match.table]

    # Reading the log

    def _apply(self, entry: log_entries.Entry) -> None:
        match entry:
            case log_entries.Open(person, name):
                self.opener = Chair(person, name)
            case log_entries.Place(place):
                self.place = place
            case log_entries.Play(game, choice):
                self.choice = Choice.parse(game, choice)
            case log_entries.Option(name, value):
                if name == "form" and value not in FORMS:
                    raise UnreadableEntry
                self.options = {**self.options, name: value}
            case log_entries.Enter(person, name):
                self.players = (*self.players, Chair(person, name))
            case log_entries.Leave(player) if self.teams:
                self.withdrawn |= {player}
            case log_entries.Leave(player):
                self.players = (*self.players[:player], None, *self.players[player + 1 :])
                partner = self.partners.get(player)
                self.partners = {
                    player_: other for player_, other in self.partners.items() if player != player_ != partner
                }
            case log_entries.Partner(one, other):
                self.partners = {**self.partners, one: other, other: one}
            case log_entries.Start(root, teams):
                self.root, self.teams, self.phase = root, teams, "playing"
            case log_entries.Round(ends_at, pairs):
                number = len(self.rounds) + 1
                matches = (Match(number, index, one, other, self.deals) for index, (one, other) in enumerate(pairs))
                self.rounds, self.ends_at = (*self.rounds, tuple(matches)), (*self.ends_at, ends_at)
            case log_entries.Seat(round_, number, deal, code):
                match = self.match(round_, number)
                self._replace(replace(match, seats={**match.seats, deal: code}))
            case log_entries.Result(round_, number, deal):
                match = self.match(round_, number)
                self._replace(replace(match, results={**match.results, deal: entry}))
            case log_entries.Finish():
                self.phase = "over"
            case log_entries.Cancel():
                self.phase = "cancelled"
            case log_entries.Redacted():
                pass  # only the version changes
            case _:
                assert_never(entry)

    def _replace(self, match: Match) -> None:
        number = match.round - 1
        matches = self.rounds[number]
        new_round = (*matches[: match.number], match, *matches[match.number + 1 :])
        self.rounds = (*self.rounds[:number], new_round, *self.rounds[number + 1 :])
