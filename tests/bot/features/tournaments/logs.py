"""Tournaments built entry by entry, with scripted or random results."""

from collections.abc import Callable, Sequence
from random import Random

from bot.features.tournaments.log_entries import (
    Ending,
    Enter,
    Entry,
    Leave,
    Open,
    Option,
    Play,
    Result,
    Round,
    Start,
    encode,
)
from bot.features.tournaments.rounds import next_round
from bot.features.tournaments.tournament import Form, Match, Tournament

MIXED_ENDINGS: Sequence[Ending] = ("played", "played", "played", "played", "resign", "timeout", "forfeit", "void")


def add_entries(tournament: Tournament, *entries: Entry) -> Tournament:
    return tournament.with_stored_entries([encode(entry).encode() for entry in entries])


def start_tournament(form: Form, teams: int, *, game: str = "metamazzo", **options: str) -> Tournament:
    """Return a started tournament with this many one-player teams."""
    return add_entries(
        Tournament("abcdef"),
        Open("test:0", "Zoe"),
        Play(game, "0"),
        Option("form", form),
        *(Option(name, value) for name, value in options.items()),
        *(Enter(f"test:{number}", f"P{number}") for number in range(teams)),
        Start(bytes(32), tuple((number,) for number in range(teams))),
    )


def add_round(tournament: Tournament, *pairs: tuple[int, int | None]) -> Tournament:
    return add_entries(tournament, Round(0, pairs))


def add_result(
    tournament: Tournament,
    match: Match,
    first_points: int,
    second_points: int,
    *,
    deal: int = 0,
    ending: Ending = "played",
    winner: int | None = None,
) -> Tournament:
    """Add a result. If ``winner`` is None, the side with more points wins a whole game; a single deal has no winner."""
    if winner is None and ending == "played" and deal == 0:
        winner = int(second_points > first_points)
    return add_entries(tournament, Result(match.round, match.number, deal, winner, first_points, second_points, ending))


def play_by_seed(tournament: Tournament, match: Match) -> Tournament:
    """Let the better seed win."""
    for deal in match.deals:
        tournament = add_result(
            tournament, match, *((31, 10) if match.first < (match.second or 0) else (10, 31)), deal=deal
        )
    return tournament


def random_player(random: Random, endings: Sequence[Ending] = ("played",)) -> Callable[[Tournament, Match], Tournament]:
    """Return a function that plays a match by adding random results with these endings."""

    def play(tournament: Tournament, match: Match) -> Tournament:
        for deal in match.deals:
            ending = random.choice(endings)
            winner = None if ending == "void" or (ending == "played" and deal) else random.randrange(2)
            first_points, second_points = (
                (random.randint(0, 8), random.randint(0, 8)) if ending in ("played", "resign") else (0, 0)
            )
            tournament = add_entries(
                tournament, Result(match.round, match.number, deal, winner, first_points, second_points, ending)
            )
        return tournament

    return play


def play_round(tournament: Tournament, play: Callable[[Tournament, Match], Tournament] = play_by_seed) -> Tournament:
    """Finish the current round. Teams that have withdrawn forfeit their matches, as `director` decides."""
    for match in tournament.rounds[-1]:
        if match.is_over:
            continue
        withdrawn = [team for team in match.teams if tournament.has_withdrawn(team)]
        if not withdrawn:
            tournament = play(tournament, match)
            continue
        winner = None if len(withdrawn) == 2 else int(withdrawn[0] == match.first)
        ending: Ending = "void" if winner is None else "forfeit"
        for deal in match.deals:
            tournament = add_entries(tournament, Result(match.round, match.number, deal, winner, 0, 0, ending))
    return tournament


def play_tournament(
    tournament: Tournament,
    play: Callable[[Tournament, Match], Tournament] = play_by_seed,
    leavers: Callable[[Tournament], Sequence[int]] = lambda _t: (),
) -> Tournament:
    """Play until no round follows. ``leavers`` names teams that withdraw after each pairing."""
    while (pairs := next_round(tournament)) is not None:
        tournament = add_round(tournament, *pairs)
        tournament = add_entries(
            tournament, *(Leave(team) for team in leavers(tournament) if not tournament.has_withdrawn(team))
        )
        tournament = play_round(tournament, play)
    return tournament


def playing_teams(tournament: Tournament) -> list[int]:
    """Return the teams that have not withdrawn."""
    return [team for team in range(len(tournament.teams)) if not tournament.has_withdrawn(team)]
