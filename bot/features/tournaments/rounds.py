"""The rounds of each form: their number and their pairs, pure functions of the tournament's log.

docs/tournaments.md has the rules of each form.

A pair has the numbers of two teams, first the team with the first seat. A team paired with None has a bye.
"""

from collections import defaultdict
from collections.abc import Mapping
from itertools import chain, pairwise

from bot.features.tournaments.tournament import Match, Tournament

MIN_ROUNDS = 3  # least number of rounds of a Swiss tournament or a duplicate, unless the organiser chose a number
LEAGUE_AT_ONCE = 3  # matches that a team can play at the same time in a league

Pairs = tuple[tuple[int, int | None], ...]


def rounds_in_all(tournament: Tournament) -> int:
    """Return the number of rounds of a tournament that does not end early."""
    teams = len(tournament.teams)
    doublings, round_robin = max(teams - 1, 0).bit_length(), teams - 1 + teams % 2
    match tournament.form:
        case "knockout":
            return doublings
        case "league":
            return 1
        case "roundrobin":
            return round_robin
        case "swiss" | "duplicate":
            rounds = tournament.options["rounds"]
            return min(max(MIN_ROUNDS, doublings) if rounds == "auto" else int(rounds), round_robin)


def next_round(tournament: Tournament) -> Pairs | None:
    """Return the pairs of the next round, once all matches are over; None if the tournament ends.

    A Swiss tournament or a duplicate ends early if the remaining teams cannot all be paired without a second meeting or
    bye.
    """
    if tournament.form == "knockout":
        return _knockout(tournament)
    if len(tournament.rounds) == rounds_in_all(tournament):
        return None
    if tournament.form == "league":
        pairs = chain.from_iterable(berger(len(tournament.teams)))
        return tuple((first, second) for first, second in pairs if second is not None)
    if tournament.form == "roundrobin":
        return berger(len(tournament.teams))[len(tournament.rounds)]
    # This import loads networkx, which is large. Most bots never pair a Swiss round.
    from bot.features.tournaments.swiss import pair_next_round  # noqa: PLC0415

    return pair_next_round(tournament, rounds_in_all(tournament))


def is_unbeaten(tournament: Tournament, team: int) -> bool:
    """Return whether a team has lost no match and has not withdrawn."""
    return not tournament.has_withdrawn(team) and all(
        match.is_bye or not match.is_over or match.winner == team for match in tournament.matches_of(team)
    )


def can_begin(tournament: Tournament, match: Match, playing: Mapping[int, int]) -> bool:
    """Return whether both teams are free for a match. ``playing`` has the number of each team's open matches."""
    return tournament.form != "league" or all(playing.get(team, 0) < LEAGUE_AT_ONCE for team in match.teams)


def berger(teams: int) -> tuple[Pairs, ...]:
    """Return the rounds of a round robin by Berger's tables, in which each team has the first seat every other time.

    With an odd number of teams, the last pair of each round is a bye.
    """
    size = teams + teams % 2
    rounds = []
    for number in range(size - 1):
        order = [*((index + number * size // 2) % (size - 1) for index in range(size - 1)), size - 1]
        pairs = [(order[index], order[-1 - index]) for index in range(size // 2)]
        if number % 2:
            pairs[0] = pairs[0][::-1]
        byes = [(first + second - teams, None) for first, second in pairs if teams in (first, second)]
        rounds.append((*((first, second) for first, second in pairs if teams not in (first, second)), *byes))
    return tuple(rounds)


def _knockout(tournament: Tournament) -> Pairs | None:
    """Pair a bracket: two teams meet when they are the only ones left in their part."""
    # The seeds from top to bottom. The best seeds meet last, and get the byes.
    bracket = [0]
    while len(bracket) < len(tournament.teams):
        bracket = [line for seed in bracket for line in (seed, 2 * len(bracket) - 1 - seed)]
    line_of = {team: line for line, team in enumerate(bracket)}
    remaining_teams = sorted(
        (team for team in range(len(tournament.teams)) if is_unbeaten(tournament, team)), key=line_of.__getitem__
    )
    if len(remaining_teams) < 2:
        return None
    # Two lines meet in the round in which their numbers differ only in the last ``depth`` bits.
    depth = min((line_of[team] ^ line_of[opponent]).bit_length() for team, opponent in pairwise(remaining_teams))
    teams_by_part: dict[int, list[int]] = defaultdict(list)
    for team in remaining_teams:
        teams_by_part[line_of[team] >> depth].append(team)
    return tuple((min(part), max(part) if len(part) == 2 else None) for part in teams_by_part.values())
