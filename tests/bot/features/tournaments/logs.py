"""Tournaments written entry by entry, and played as somebody says."""

from collections.abc import Callable, Sequence
from random import Random

from bot.features.tournaments.entries import Enter, Entry, How, Leave, Open, Option, Play, Result, Round, Start, encode
from bot.features.tournaments.pairing import next_round
from bot.features.tournaments.tournament import Form, Match, Tournament

MIXED: Sequence[How] = ("played", "played", "played", "played", "resign", "timeout", "forfeit", "void")


def with_entries(t: Tournament, *entries: Entry) -> Tournament:
    return t.after([encode(entry).encode() for entry in entries])


def begun(form: Form, teams: int, *, game: str = "metamazzo", **options: str) -> Tournament:
    """A tournament of so many teams of one, which has started."""
    return with_entries(
        Tournament("abcdef"),
        Open("test:0", "Zoe"),
        Play(game, "0"),
        Option("form", form),
        *(Option(name, value) for name, value in options.items()),
        *(Enter(f"test:{number}", f"P{number}") for number in range(teams)),
        Start(bytes(32), tuple((number,) for number in range(teams))),
    )


def paired(t: Tournament, *pairs: tuple[int, int | None]) -> Tournament:
    return with_entries(t, Round(0, pairs))


def scored(
    t: Tournament,
    match: Match,
    ours: int,
    theirs: int,
    *,
    deal: int = 0,
    how: How = "played",
    winner: int | None = None,
) -> Tournament:
    """A result; without a ``winner`` who has more points has won a whole game, and nobody a deal."""
    if winner is None and how == "played" and deal == 0:
        winner = int(theirs > ours)
    return with_entries(t, Result(match.round, match.number, deal, winner, ours, theirs, how))


def by_seed(t: Tournament, match: Match) -> Tournament:
    """The better seed wins."""
    for deal in match.deals:
        t = scored(t, match, *((31, 10) if match.first < (match.second or 0) else (10, 31)), deal=deal)
    return t


def at_random(random: Random, hows: Sequence[How] = ("played",)) -> Callable[[Tournament, Match], Tournament]:
    """Anything may happen, in these ways."""

    def play(t: Tournament, match: Match) -> Tournament:
        for deal in match.deals:
            how = random.choice(hows)
            winner = None if how == "void" or (how == "played" and deal) else random.randrange(2)
            ours, theirs = (random.randint(0, 8), random.randint(0, 8)) if how in ("played", "resign") else (0, 0)
            t = with_entries(t, Result(match.round, match.number, deal, winner, ours, theirs, how))
        return t

    return play


def played_round(t: Tournament, play: Callable[[Tournament, Match], Tournament] = by_seed) -> Tournament:
    """The round that is on, to its end; matches of who has withdrawn are lost by forfeit, as the director does."""
    for match in t.rounds[-1]:
        if match.is_over:
            continue
        gone = [team for team in match.teams if t.has_withdrawn(team)]
        if not gone:
            t = play(t, match)
            continue
        winner = None if len(gone) == 2 else int(gone[0] == match.first)
        how: How = "void" if winner is None else "forfeit"
        for deal in match.deals:
            t = with_entries(t, Result(match.round, match.number, deal, winner, 0, 0, how))
    return t


def played_out(
    t: Tournament,
    play: Callable[[Tournament, Match], Tournament] = by_seed,
    leavers: Callable[[Tournament], Sequence[int]] = lambda _t: (),
) -> Tournament:
    """The whole tournament, to where no round follows. ``leavers`` withdraw after a round has been paired."""
    while (pairs := next_round(t)) is not None:
        t = paired(t, *pairs)
        t = with_entries(t, *(Leave(team) for team in leavers(t) if not t.has_withdrawn(team)))
        t = played_round(t, play)
    return t


def playing_teams(t: Tournament) -> list[int]:
    """The teams that have not withdrawn."""
    return [team for team in range(len(t.teams)) if not t.has_withdrawn(team)]
