"""Places, scores and tie-breaks, from the matches so far.

docs/tournaments.md has the rules. Scores are exact fractions until they are formatted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, assert_never
from weakref import WeakKeyDictionary

from bot.features.tournaments.duplicate import round_scores
from bot.features.tournaments.pairing import is_unbeaten
from bot.features.tournaments.tournament import Form, Match, Tournament
from bot.texts import gettext_noop as _
from bot.words.wording import signed_text

ROUNDS, WINS = _("rounds won"), _("wins")
POINTS, STEPS = _("points"), _("steps")
BUCHHOLZ, SONNEBORN_BERGER = _("Buchholz"), _("Sonneborn-Berger")
DIRECT, CARDS, BEST_ROUND = _("direct encounter"), _("card points"), _("best round")

# between teams with the same score, in order: ids of texts
TIE_BREAKS: Mapping[Form, tuple[str, ...]] = {
    "knockout": (),
    "roundrobin": (DIRECT, SONNEBORN_BERGER, CARDS),
    "swiss": (BUCHHOLZ, SONNEBORN_BERGER, CARDS),
    "duplicate": (WINS, BEST_ROUND),
    "league": (DIRECT, SONNEBORN_BERGER, CARDS),
}


class Score(NamedTuple):
    """``text`` is the formatted figure; ``counts`` is the id of the text for its unit."""

    text: str
    counts: str


class TieBreak(NamedTuple):
    """``name`` is the id of a text, ``value`` the formatted figure."""

    name: str
    value: str


@dataclass(frozen=True)
class Standing:
    """A team's rank. Teams that are equal in everything share a ``place``.

    ``played`` and ``won`` leave out byes and void matches. A team ``is_out`` if it has withdrawn or was knocked out.
    """

    team: int
    place: int
    score: Score
    played: int
    won: int
    tie_breaks: tuple[TieBreak, ...]
    is_out: bool


class _Figures(NamedTuple):
    """The figures that rank a team. In a knock-out, an unbeaten team ranks above others with as many wins."""

    is_unbeaten: bool
    score: Fraction
    tie_breaks: tuple[Fraction, ...] = ()


_cache: WeakKeyDictionary[Tournament, tuple[Standing, ...]] = WeakKeyDictionary()  # tournaments are immutable


def standings(t: Tournament) -> tuple[Standing, ...]:
    """Return all teams, the best first; equal ones by seed. In a duplicate, only finished rounds count."""
    found = _cache.get(t)
    if found is None:
        found = _cache[t] = tuple(_rank(t))
    return found


def winners(t: Tournament) -> list[int]:
    """Return the teams in first place of a tournament that is over.

    In a knock-out, a beaten team can share that place if no team went further. It has not won, unless it won the last
    match and then withdrew.
    """
    first = [standing for standing in standings(t) if standing.place == 1]
    return [
        standing.team
        for standing in first
        if t.form != "knockout" or not standing.is_out or _has_won_last(t, standing.team)
    ]


def _has_won_last(t: Tournament, team: int) -> bool:
    matches = t.matches_of(team)
    return bool(matches) and matches[-1].winner == team


def _rank(t: Tournament) -> list[Standing]:
    counted = _finished_matches(t)
    figures = _figures(t, counted)
    order = sorted(figures, key=figures.__getitem__, reverse=True)
    found: list[Standing] = []
    for at, team in enumerate(order):
        is_level = at > 0 and figures[order[at - 1]] == figures[team]
        matches = [match for match in counted[team] if not match.is_bye and not match.is_void]
        found.append(
            Standing(
                team,
                found[-1].place if is_level else at + 1,
                _score(t, figures[team].score),
                len(matches),
                sum(match.winner == team for match in matches),
                tuple(
                    TieBreak(name, _format(t, name, figure))
                    for name, figure in zip(TIE_BREAKS[t.form], figures[team].tie_breaks, strict=True)
                ),
                not figures[team].is_unbeaten if t.form == "knockout" else t.has_withdrawn(team),
            )
        )
    return found


def _score(t: Tournament, score: Fraction) -> Score:
    counts = STEPS if t.options["scoring"] == "steps" else POINTS
    if not t.is_duplicate:
        counts = ROUNDS if t.form == "knockout" else WINS
    return Score(_format(t, counts, score), counts)


def _format(t: Tournament, name: str, figure: Fraction) -> str:
    """Format a figure of this name."""
    if name == POINTS or (name == BEST_ROUND and t.options["scoring"] == "points"):
        return _format_tenths(figure)
    return _format_signed(figure) if name in (STEPS, BEST_ROUND, CARDS) else _format_halves(figure)


# Figures


def _figures(t: Tournament, counted: Sequence[Sequence[Match]]) -> dict[int, _Figures]:
    wins = {team: _wins(team, matches) for team, matches in enumerate(counted)}
    match t.form:
        case "knockout":
            return {team: _Figures(is_unbeaten(t, team), won) for team, won in wins.items()}
        case "duplicate":
            rounds = round_scores(t)
            return {
                team: _duplicate_figures(won, [scores[team] for scores in rounds if team in scores])
                for team, won in wins.items()
            }
        case "swiss" | "roundrobin" | "league":
            return {
                team: _Figures(True, won, tuple(_tie_breaks(t, team, counted[team], wins)))
                for team, won in wins.items()
            }
        case _ as never:
            assert_never(never)


def _finished_matches(t: Tournament) -> list[list[Match]]:
    """Return each team's matches that count: no byes in round robins, only finished rounds in duplicates."""
    counted: list[list[Match]] = [[] for _team in t.teams]
    for number, matches in enumerate(t.rounds, 1):
        if t.is_duplicate and not t.is_over(number):
            continue
        for match in matches:
            if match.is_over and not (match.is_bye and t.form in ("roundrobin", "league")):
                for team in match.teams:
                    counted[team].append(match)
    return counted


def _wins(team: int, matches: Sequence[Match]) -> Fraction:
    return sum((match.score(team) for match in matches), Fraction(0))


def _duplicate_figures(wins: Fraction, by_round: Sequence[Fraction]) -> _Figures:
    return _Figures(True, sum(by_round, Fraction(0)), (wins, max(by_round, default=Fraction(0))))


def _tie_breaks(
    t: Tournament, team: int, matches: Sequence[Match], scores: Mapping[int, Fraction]
) -> Iterator[Fraction]:
    against = [(_opponents_score(t, match, team, scores), match.score(team)) for match in matches]
    if t.form == "swiss":
        yield sum((score for score, _own in against), Fraction(0))
    else:
        level = {other for other, score in scores.items() if score == scores[team] and other != team}
        yield sum((match.score(team) for match in matches if level.intersection(match.teams)), Fraction(0))
    yield sum((score * own for score, own in against), Fraction(0))
    yield Fraction(sum(_point_difference(match, team) for match in matches))


def _opponents_score(t: Tournament, match: Match, team: int, scores: Mapping[int, Fraction]) -> Fraction:
    """Return the opponent's score. A Swiss match without cards counts like one against an equal team."""
    if t.form == "swiss" and not match.was_played:
        return scores[team]
    return sum((scores[other] for other in match.teams if other != team), Fraction(0))


def _point_difference(match: Match, team: int) -> int:
    """Return a team's card points minus the opponent's."""
    ours, theirs = match.points
    return ours - theirs if team == match.first else theirs - ours


# Formatting


def _format_halves(figure: Fraction) -> str:
    """Format a non-negative multiple of ½."""
    whole, rest = divmod(figure, 1)
    return f"{whole or ''}½" if rest else str(whole)


def _format_signed(figure: Fraction) -> str:
    return signed_text(int(figure)) if figure else "0"


def _format_tenths(figure: Fraction) -> str:
    tenths = round(abs(figure) * 10)
    sign = "" if not tenths else "−" if figure < 0 else "+"
    return f"{sign}{tenths // 10}.{tenths % 10}"
