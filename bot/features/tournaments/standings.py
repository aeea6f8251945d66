"""Places, scores and tie-breaks, from the matches so far. docs/tournaments.md has the rules."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, assert_never
from weakref import WeakKeyDictionary

from bot.features.tournaments.duplicate import round_scores
from bot.features.tournaments.rounds import is_unbeaten
from bot.features.tournaments.tournament import Form, Match, Tournament
from bot.texts import gettext_noop as _
from bot.words.wording import signed_text

ZERO = Fraction(0)
ROUNDS, WINS = _("rounds won"), _("wins")
POINTS, STEPS = _("points"), _("steps")
BUCHHOLZ, SONNEBORN_BERGER = _("Buchholz"), _("Sonneborn-Berger")
DIRECT, CARDS, BEST_ROUND = _("direct encounter"), _("card points"), _("best round")

# The tie-breaks between teams with the same score, in order, as ids of texts.
TIE_BREAKS: Mapping[Form, tuple[str, ...]] = {
    "knockout": (),
    "roundrobin": (DIRECT, SONNEBORN_BERGER, CARDS),
    "swiss": (BUCHHOLZ, SONNEBORN_BERGER, CARDS),
    "duplicate": (WINS, BEST_ROUND),
    "league": (DIRECT, SONNEBORN_BERGER, CARDS),
}


class Figure(NamedTuple):
    """A score or tie-break as text. ``name`` is the id of the text for its name or unit."""

    name: str
    value: str


@dataclass(frozen=True)
class TeamStanding:
    """A team's results. Teams that are equal by all criteria share a ``rank``.

    ``played`` and ``won`` leave out byes and void matches. A team ``is_out`` if it has withdrawn or was knocked out.
    """

    team: int
    rank: int
    score: Figure
    played: int
    won: int
    tie_breaks: tuple[Figure, ...]
    is_out: bool


class _RankKey(NamedTuple):
    """The sort key of a team. In a knock-out, unbeaten teams rank above all others."""

    is_unbeaten: bool
    score: Fraction
    tie_breaks: tuple[Fraction, ...] = ()


_cache: WeakKeyDictionary[Tournament, tuple[TeamStanding, ...]] = WeakKeyDictionary()  # tournaments are immutable


def standings(tournament: Tournament) -> tuple[TeamStanding, ...]:
    """Return all teams, the best first; equal teams by seed. In a duplicate, only finished rounds count."""
    if tournament not in _cache:
        _cache[tournament] = tuple(_rank(tournament))
    return _cache[tournament]


def winners(tournament: Tournament) -> list[int]:
    """Return the teams in first place of a tournament that is over.

    In a knock-out, a team that is out can share that place if no team got further. It is a winner only if it won its
    last match and then withdrew.
    """
    first_teams = []
    for standing in standings(tournament):
        last_matches = tournament.matches_of(standing.team)[-1:]
        has_won_last = any(match.winner == standing.team for match in last_matches)
        if standing.rank == 1 and (tournament.form != "knockout" or not standing.is_out or has_won_last):
            first_teams.append(standing.team)
    return first_teams


def _rank(tournament: Tournament) -> list[TeamStanding]:
    counted_matches = _finished_matches(tournament)
    keys = _rank_keys(tournament, counted_matches)
    order = sorted(keys, key=keys.__getitem__, reverse=True)
    unit = ROUNDS if tournament.form == "knockout" else WINS
    if tournament.is_duplicate:
        unit = STEPS if tournament.options["scoring"] == "steps" else POINTS
    ranked: list[TeamStanding] = []
    for index, team in enumerate(order):
        is_level = index > 0 and keys[order[index - 1]] == keys[team]
        matches = [match for match in counted_matches[team] if not match.is_bye and not match.is_void]
        ranked.append(
            TeamStanding(
                team,
                ranked[-1].rank if is_level else index + 1,
                Figure(unit, _format(tournament, unit, keys[team].score)),
                len(matches),
                sum(match.winner == team for match in matches),
                tuple(
                    Figure(name, _format(tournament, name, figure))
                    for name, figure in zip(TIE_BREAKS[tournament.form], keys[team].tie_breaks, strict=True)
                ),
                not keys[team].is_unbeaten if tournament.form == "knockout" else tournament.has_withdrawn(team),
            )
        )
    return ranked


def _format(tournament: Tournament, name: str, figure: Fraction) -> str:
    if name == POINTS or (name == BEST_ROUND and tournament.options["scoring"] == "points"):
        tenths = round(abs(figure) * 10)
        sign = "" if not tenths else "−" if figure < 0 else "+"
        return f"{sign}{tenths // 10}.{tenths % 10}"
    if name in (STEPS, BEST_ROUND, CARDS):
        return signed_text(int(figure)) if figure else "0"
    whole, fraction = divmod(figure, 1)  # a multiple of ½, not below 0
    return f"{whole or ''}½" if fraction else str(whole)


# Figures


def _rank_keys(tournament: Tournament, counted_matches: Sequence[Sequence[Match]]) -> dict[int, _RankKey]:
    wins = {team: sum((match.score(team) for match in matches), ZERO) for team, matches in enumerate(counted_matches)}
    match tournament.form:
        case "knockout":
            return {team: _RankKey(is_unbeaten(tournament, team), won) for team, won in wins.items()}
        case "duplicate":
            rounds = round_scores(tournament)
            scores = {team: [by_team[team] for by_team in rounds if team in by_team] for team in wins}
            return {
                team: _RankKey(True, sum(scores[team], ZERO), (won, max(scores[team], default=ZERO)))
                for team, won in wins.items()
            }
        case "swiss" | "roundrobin" | "league":
            return {
                team: _RankKey(True, won, tuple(_tie_breaks(tournament, team, counted_matches[team], wins)))
                for team, won in wins.items()
            }
        case _ as never:
            assert_never(never)


def _finished_matches(tournament: Tournament) -> list[list[Match]]:
    """Return each team's matches that count. Byes in round robins and unfinished rounds of duplicates do not."""
    counted_matches: list[list[Match]] = [[] for _team in tournament.teams]
    for match in tournament.matches:
        is_counted = tournament.is_over(match.round) if tournament.is_duplicate else match.is_over
        if is_counted and not (match.is_bye and tournament.form in ("roundrobin", "league")):
            for team in match.teams:
                counted_matches[team].append(match)
    return counted_matches


def _tie_breaks(
    tournament: Tournament, team: int, matches: Sequence[Match], scores: Mapping[int, Fraction]
) -> Iterator[Fraction]:
    opponents = []
    for match in matches:
        score = sum((scores[other] for other in match.teams if other != team), ZERO)
        if tournament.form == "swiss" and not match.was_played:
            # A Swiss match without cards counts like a match against an equal team.
            score = scores[team]
        opponents.append((score, match.score(team)))
    if tournament.form == "swiss":
        yield sum((score for score, _own_score in opponents), ZERO)
    else:
        level = {other for other, score in scores.items() if score == scores[team] and other != team}
        yield sum((match.score(team) for match in matches if level.intersection(match.teams)), ZERO)
    yield sum((score * own_score for score, own_score in opponents), ZERO)
    points = [match.points if team == match.first else match.points[::-1] for match in matches]
    yield Fraction(sum(own_points - opponent_points for own_points, opponent_points in points))
