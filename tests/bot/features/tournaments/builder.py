"""Tournaments built from log entries, in any form, size and phase."""

from functools import cache
from random import Random
from typing import Self

from bot.features.tournaments.log_entries import (
    Ending,
    Enter,
    Entry,
    Finish,
    Open,
    Option,
    Partner,
    Place,
    Play,
    Result,
    Round,
    Seat,
    Start,
    encode,
)
from bot.features.tournaments.rounds import next_round
from bot.features.tournaments.tournament import DAY, Form, Match, Tournament
from bot.identity.pseudonyms import NAME
from bot.store.log import add_stamp
from bot.tables.game_choice import Choice

NAMES = (  # also long, in other scripts, right to left, and forgotten
    "Anna",
    "Bruno",
    "Carla",
    "Hans-Peter Bartolomeo von der Weidenheim-Schönburg zu Hohenlohe",
    "محمد",
    "李小龙 🎴",
    NAME,
)

ROOT = bytes(range(32))
WINS = 51


class Builder:
    """A tournament to which each call adds entries."""

    def __init__(self, form: Form, game: str = "metamazzo", *, seed: int = 0, **options: str) -> None:
        self.tournament = Tournament("K7QF2M")
        self._random = Random(seed)
        self.add(Open("paper:1", "Anna"), Place("paper:100"), Play(game, Choice.default(game).text))
        self.add(Option("form", form), *(Option(name, value) for name, value in options.items()))

    def add(self, *entries: Entry) -> Self:
        self.tournament = self.tournament.with_stored_entries([add_stamp(encode(entry), "u") for entry in entries])
        return self

    def enter(self, teams: int, *, teams_alone: int = 0) -> Self:
        """Enter teams (pairs in games for four), and ``teams_alone`` more players without a partner."""
        size = self.tournament.team_size
        count = teams * size + teams_alone
        self.add(*(Enter(f"paper:{number}", _make_name(number)) for number in range(1, count + 1)))
        if size == 2:
            self.add(*(Partner(2 * team, 2 * team + 1) for team in range(teams)))
        return self

    def start(self, teams: int) -> Self:
        size = self.tournament.team_size
        return self.enter(teams).add(
            Start(ROOT, tuple(tuple(range(team * size, team * size + size)) for team in range(teams)))
        )

    def begin_round(self) -> Self:
        """Pair the next round, or finish the tournament after its last one."""
        pairs = next_round(self.tournament)
        if pairs is None:
            return self.add(Finish())
        return self.add(Round(DAY * (len(self.tournament.rounds) + 1), pairs))

    def seat(self, match: Match, deal: int) -> Self:
        return self.add(Seat(match.round, match.number, deal, f"T{match.round:02}{match.number:03}"))

    def play(
        self, match: Match, deal: int, winner: int, ending: Ending = "played", points: tuple[int, int] | None = None
    ) -> Self:
        """Play one deal, or one whole game, of a match."""
        self.seat(match, deal)
        other = self._random.randrange(WINS)
        first_points, second_points = points or ((WINS, other) if winner == 0 else (other, WINS))
        won = winner if deal == 0 or ending != "played" else None
        return self.add(Result(match.round, match.number, deal, won, first_points, second_points, ending))

    def play_round(self, *, unfinished: int = 0) -> Self:
        """Play a round, but leave the last ``unfinished`` matches in progress."""
        self.begin_round()
        if self.tournament.phase == "over":
            return self
        matches = [match for match in self.tournament.rounds[-1] if not match.is_bye]
        for match in matches[: len(matches) - unfinished]:
            for deal in match.deals:
                ending: Ending = self._random.choice(("played", "played", "played", "resign", "timeout", "forfeit"))
                self.play(match, deal, self._random.randrange(2), ending)
        for match in matches[len(matches) - unfinished :]:
            self.seat(match, match.deals[0])
        return self

    def finish(self) -> Self:
        """Play all rounds."""
        while self.tournament.phase == "playing":
            self.play_round()
        return self


@cache
def finished_tournament(
    form: Form, teams: int, game: str = "metamazzo", *, seed: int = 0, **options: str
) -> Tournament:
    return Builder(form, game, seed=seed, **options).start(teams).finish().tournament


@cache
def running_tournament(form: Form, teams: int, game: str = "metamazzo", *, seed: int = 0, **options: str) -> Tournament:
    """Return a tournament with matches in progress: in round 2, or in round 1 if it is a league or has two teams."""
    builder = Builder(form, game, seed=seed, **options).start(teams)
    if form != "league" and teams > 2:
        builder.play_round()
    return builder.play_round(unfinished=max(1, teams // 4)).tournament


def _make_name(number: int) -> str:
    name = NAMES[(number - 1) % len(NAMES)]
    return name if name == NAME or number <= len(NAMES) else f"{name} {number}"
