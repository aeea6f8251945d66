"""Who is ahead in a tournament: places, scores and tie-breaks, of what has been played so far.

docs/tournaments.md says what counts; here it is counted, exactly: halves and means are fractions until they are shown.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, assert_never

from bot.texts import marked as _
from bot.tournaments.duplicate import round_scores
from bot.tournaments.outcomes import earned, is_void, was_played
from bot.tournaments.pairing import is_in
from bot.tournaments.tournament import Form, Match, Tournament

ROUNDS, WINS = _("rounds won"), _("wins")
POINTS, STEPS = _("points"), _("steps")
BUCHHOLZ, SONNEBORN_BERGER = _("Buchholz"), _("Sonneborn-Berger")
DIRECT, CARDS, BEST_ROUND = _("direct encounter"), _("card points"), _("best round")

TIE_BREAKS: Mapping[Form, tuple[str, ...]] = {
    "knockout": (),
    "roundrobin": (DIRECT, SONNEBORN_BERGER, CARDS),
    "swiss": (BUCHHOLZ, SONNEBORN_BERGER, CARDS),
    "duplicate": (WINS, BEST_ROUND),
    "league": (DIRECT, SONNEBORN_BERGER, CARDS),
}
"""What decides between teams of the same score, in order: texts' ids."""


class Score(NamedTuple):
    """``text`` is the figure as it is shown; ``counts`` the id of the text that says what it counts."""

    text: str
    counts: str


class TieBreak(NamedTuple):
    """``name`` is the id of the text that names it, ``value`` the figure as it is shown."""

    name: str
    value: str


@dataclass(frozen=True)
class Standing:
    """Where a team stands. Teams that are level in everything share a ``place``.

    ``played`` and ``won`` are matches that are over, without byes and those that are void. A team ``is_out`` that plays
    no more: it has withdrawn, or a knock-out has gone on without it.
    """

    team: int
    place: int
    score: Score
    played: int
    won: int
    tie_breaks: tuple[TieBreak, ...]
    is_out: bool


class _Figures(NamedTuple):
    """By what a team is ranked. At a knock-out who is in is ahead of who has won as many rounds and is out."""

    is_in: bool
    score: Fraction
    tie_breaks: tuple[Fraction, ...] = ()


def standings(t: Tournament) -> list[Standing]:
    """All teams, the best first; those of one place by seed.

    Of a duplicate only rounds that are over count.
    """
    figures = _figures(t)
    order = sorted(figures, key=figures.__getitem__, reverse=True)
    found: list[Standing] = []
    for at, team in enumerate(order):
        is_level = at > 0 and figures[order[at - 1]] == figures[team]
        matches = [match for match in _counted(t, team) if not match.is_bye and not is_void(match)]
        found.append(
            Standing(
                team,
                found[-1].place if is_level else at + 1,
                _score(t, figures[team].score),
                len(matches),
                sum(match.winner == team for match in matches),
                tuple(
                    TieBreak(name, _shown(t, name, figure))
                    for name, figure in zip(TIE_BREAKS[t.form], figures[team].tie_breaks, strict=True)
                ),
                not is_in(t, team) if t.form == "knockout" else t.has_withdrawn(team),
            )
        )
    return found


def _score(t: Tournament, score: Fraction) -> Score:
    counts = STEPS if t.options["scoring"] == "steps" else POINTS
    if not t.is_duplicate:
        counts = ROUNDS if t.form == "knockout" else WINS
    return Score(_shown(t, counts, score), counts)


def _shown(t: Tournament, name: str, figure: Fraction) -> str:
    """A figure as it is shown, by what it counts."""
    if name == POINTS or (name == BEST_ROUND and t.options["scoring"] == "points"):
        return _tenths(figure)
    return _signed(figure) if name in (STEPS, BEST_ROUND, CARDS) else _halves(figure)


# What is counted


def _figures(t: Tournament) -> dict[int, _Figures]:
    """By team."""
    teams = range(len(t.teams))
    match t.form:
        case "knockout":
            return {team: _Figures(is_in(t, team), _wins(t, team)) for team in teams}
        case "duplicate":
            rounds = round_scores(t)
            return {team: _duplicate(t, team, [one[team] for one in rounds if team in one]) for team in teams}
        case "swiss" | "roundrobin" | "league":
            scores = {team: _wins(t, team) for team in teams}
            return {team: _Figures(True, scores[team], tuple(_tie_breaks(t, team, scores))) for team in teams}
        case _ as never:
            assert_never(never)


def _counted(t: Tournament, team: int) -> list[Match]:
    """A team's matches that are over; of a duplicate, those of rounds that are over; of a round robin, no byes."""
    return [
        match
        for match in t.matches_of(team)
        if match.is_over
        and not (t.is_duplicate and any(not one.is_over for one in t.rounds[match.round - 1]))
        and not (match.is_bye and t.form in ("roundrobin", "league"))
    ]


def _wins(t: Tournament, team: int) -> Fraction:
    return sum((earned(match, team) for match in _counted(t, team)), Fraction(0))


def _duplicate(t: Tournament, team: int, by_round: list[Fraction]) -> _Figures:
    return _Figures(True, sum(by_round, Fraction(0)), (_wins(t, team), max(by_round, default=Fraction(0))))


def _tie_breaks(t: Tournament, team: int, scores: Mapping[int, Fraction]) -> Iterator[Fraction]:
    matches = _counted(t, team)
    against = [(_opponents_score(t, match, team, scores), earned(match, team)) for match in matches]
    if t.form == "swiss":
        yield sum((score for score, _own in against), Fraction(0))
    else:
        level = {other for other, score in scores.items() if score == scores[team] and other != team}
        yield sum((earned(match, team) for match in matches if level.intersection(match.teams)), Fraction(0))
    yield sum((score * own for score, own in against), Fraction(0))
    yield Fraction(sum(_difference(match, team) for match in matches))


def _opponents_score(t: Tournament, match: Match, team: int, scores: Mapping[int, Fraction]) -> Fraction:
    """The score of whom a team has met. At a Swiss tournament a match without cards counts as one against a team of the
    same score: nobody chose whom they did not meet.
    """
    if t.form == "swiss" and not was_played(match):
        return scores[team]
    return sum((scores[other] for other in match.teams if other != team), Fraction(0))


def _difference(match: Match, team: int) -> int:
    """How many card points more than the other a team made in a match."""
    ours, theirs = match.points
    return ours - theirs if team == match.one else theirs - ours


# How it is shown


def _halves(figure: Fraction) -> str:
    """A figure of wholes and halves that is not negative."""
    whole, rest = divmod(figure, 1)
    return f"{whole or ''}½" if rest else str(whole)


def _signed(figure: Fraction) -> str:
    return f"{int(figure):+}".replace("-", "−") if figure else "0"


def _tenths(figure: Fraction) -> str:
    tenths = round(abs(figure) * 10)
    sign = "" if not tenths else "−" if figure < 0 else "+"
    return f"{sign}{tenths // 10}.{tenths % 10}"
