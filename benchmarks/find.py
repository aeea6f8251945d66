"""`python -m benchmarks find`: match a thousand people who look for an opponent.

The baseline, in the same rounds, checks every pair of people.
"""

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import typer

from bot.features.find.matching import Searcher, can_match, find_matches
from engine import GAMES

PEOPLE = 1000
ROUNDS = 5
NOW = 1e9


FOR_TWO = tuple(game for game, kind in GAMES.items() if kind.seats == 2)


def mixed(source: random.Random) -> list[Searcher]:
    """Return people who began to search within a minute. Half accept any game for two, the others only one game."""
    return [
        Searcher(
            f"telegram:{number}",
            started_at=NOW - source.uniform(0, 60),
            games=FOR_TWO if source.random() < 0.5 else (source.choice(tuple(GAMES)),),
            language=source.choice(("it", "en")),
            rating=round(source.gauss(1000, 300)),
            blocked_people=frozenset(
                f"telegram:{source.randrange(PEOPLE)}" for _ in range(source.choice((0, 0, 0, 5)))
            ),
        )
        for number in range(PEOPLE)
    ]


def four_by_four(source: random.Random) -> list[Searcher]:
    """Return the same people, who now all want the same game for four."""
    return [replace(searcher, games=("tressette",)) for searcher in mixed(source)]


def far_apart(_source: random.Random) -> list[Searcher]:
    """Return people who do not match each other: all have just begun to search, with ratings far apart."""
    return [Searcher(f"telegram:{number}", NOW, FOR_TWO, "it", 1000 * number) for number in range(PEOPLE)]


def count_pairs(crowd: Sequence[Searcher], now: float) -> int:
    return sum(can_match(first, second, now) for index, first in enumerate(crowd) for second in crowd[:index])


def run() -> None:
    """Match a thousand waiting people."""
    typer.echo(f"{PEOPLE} people, medians of {ROUNDS} rounds, ms of CPU")
    for name, make in (("mixed", mixed), ("for four", four_by_four), ("nobody fits", far_apart)):
        crowds = [make(random.Random(number)) for number in range(ROUNDS)]
        matching = statistics.median(milliseconds(lambda crowd: find_matches(crowd, NOW), crowd) for crowd in crowds)
        pairs = statistics.median(milliseconds(lambda crowd: count_pairs(crowd, NOW), crowd) for crowd in crowds)
        matched = statistics.median(sum(len(match.people) for match in find_matches(crowd, NOW)) for crowd in crowds)
        typer.echo(f"{name:12}  match {matching:7.1f}   every pair {pairs:7.1f}   matched {matched:.0f}")


def milliseconds(work: Callable[[Sequence[Searcher]], object], crowd: Sequence[Searcher]) -> float:
    begin = time.process_time()
    work(crowd)
    return 1000 * (time.process_time() - begin)
