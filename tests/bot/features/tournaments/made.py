"""Tournaments made from entries, as their logs would have them: of any form, with as many teams, as far as is wanted."""

from functools import cache
from random import Random

from bot.features.tournaments.entries import (
    Enter,
    Entry,
    Finish,
    How,
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
from bot.features.tournaments.pairing import next_round
from bot.features.tournaments.tournament import DAY, Form, Match, Tournament
from bot.pseudonyms import NAME
from bot.store.log import add_stamp
from bot.tables.choice import Choice

NAMES = (
    "Anna",
    "Bruno",
    "Carla",
    "Hans-Peter Bartolomeo von der Weidenheim-Schönburg zu Hohenlohe",
    "محمد",
    "李小龙 🎴",
    NAME,
)
"""What people may be called: also in many letters, in others, the other way round, and somebody who was forgotten."""

ROOT = bytes(range(32))
WINS = 51


class Made:
    """A tournament that grows."""

    def __init__(self, form: Form, game: str = "metamazzo", *, seed: int = 0, **options: str) -> None:
        self.t = Tournament("K7QF2M")
        self._random = Random(seed)
        self.add(Open("paper:1", "Anna"), Place("paper:100"), Play(game, Choice.usual(game).text))
        self.add(Option("form", form), *(Option(name, value) for name, value in options.items()))

    def add(self, *entries: Entry) -> "Made":
        self.t = self.t.after([add_stamp(encode(entry), "u") for entry in entries])
        return self

    def entered(self, teams: int, *, alone: int = 0) -> "Made":
        """So many teams have entered, at games for four as pairs of partners, and so many players ``alone``."""
        size = self.t.team_size
        count = teams * size + alone
        self.add(*(Enter(f"paper:{number}", _name(number)) for number in range(1, count + 1)))
        if size == 2:
            self.add(*(Partner(2 * team, 2 * team + 1) for team in range(teams)))
        return self

    def started(self, teams: int) -> "Made":
        size = self.t.team_size
        return self.entered(teams).add(
            Start(ROOT, tuple(tuple(range(team * size, team * size + size)) for team in range(teams)))
        )

    def begun(self) -> "Made":
        """The next round has been paired; or it is over, if none comes."""
        pairs = next_round(self.t)
        if pairs is None:
            return self.add(Finish())
        return self.add(Round(DAY * (len(self.t.rounds) + 1), pairs))

    def seated(self, match: Match, deal: int) -> "Made":
        return self.add(Seat(match.round, match.number, deal, f"T{match.round:02}{match.number:03}"))

    def played(
        self, match: Match, deal: int, winner: int, how: How = "played", points: tuple[int, int] | None = None
    ) -> "Made":
        """A deal, or whole game, of a match has been played."""
        self.seated(match, deal)
        other = self._random.randrange(WINS)
        ours, theirs = points or ((WINS, other) if winner == 0 else (other, WINS))
        won = winner if deal == 0 or how != "played" else None
        return self.add(Result(match.round, match.number, deal, won, ours, theirs, how))

    def round(self, *, leaving: int = 0) -> "Made":
        """A round is played, but for its last matches, so many of which are ``leaving`` it on."""
        self.begun()
        if self.t.phase == "over":
            return self
        matches = [one for one in self.t.rounds[-1] if not one.is_bye]
        for match in matches[: len(matches) - leaving]:
            for deal in match.deals:
                how: How = self._random.choice(("played", "played", "played", "resign", "timeout", "forfeit"))
                self.played(match, deal, self._random.randrange(2), how)
        for match in matches[len(matches) - leaving :]:
            self.seated(match, match.deals[0])
        return self

    def finished(self) -> "Made":
        """All rounds are played."""
        while self.t.phase == "playing":
            self.round()
        return self


@cache
def over(form: Form, teams: int, game: str = "metamazzo", *, seed: int = 0, **options: str) -> Tournament:
    return Made(form, game, seed=seed, **options).started(teams).finished().t


@cache
def on(form: Form, teams: int, game: str = "metamazzo", *, seed: int = 0, **options: str) -> Tournament:
    """A tournament in its second round, or a league in its only one, of which matches are on."""
    made = Made(form, game, seed=seed, **options).started(teams)
    if form != "league" and teams > 2:
        made.round()
    return made.round(leaving=max(1, teams // 4)).t


def _name(number: int) -> str:
    name = NAMES[(number - 1) % len(NAMES)]
    return name if name == NAME or number <= len(NAMES) else f"{name} {number}"
