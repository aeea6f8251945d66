"""Many puzzles: found in games, chosen for the package, read from it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import count

from bot.simulation import simulate
from engine import Record, game_kind
from engine.games import GAMES
from engine.puzzles.puzzle import Puzzle

FILE = "endings.txt"
FULL_SHARE = 5
"""So many times as many puzzles are made of games without packets, whose last cards are known only near the end."""

ROBOT = "easy"
"""The robot whose games endings are found in: it errs, as people do."""


class Collection(Mapping[str, Puzzle]):
    """Puzzles by their ids, in the order of the lines that they are kept as (`Puzzle.to_line`): a puzzle is read from
    its line when it is asked for, because thousands of them read take megabytes.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = {line.partition(" ")[0]: line for line in lines}

    def __getitem__(self, id_: str) -> Puzzle:
        return Puzzle.from_line(self._lines[id_])

    def __contains__(self, id_: object) -> bool:
        return id_ in self._lines

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def game_of(self, id_: str) -> str:
        """`Puzzle.game`, and nothing else is read."""
        return self._lines[id_].split(" ", 2)[1]

    def missed_by(self, id_: str) -> int:
        """`Puzzle.missed`, and nothing else is read."""
        return int(self._lines[id_].rsplit(" ", 2)[1])


@cache
def all_puzzles() -> Collection:
    """Those that come with the bot, in the file's order."""
    return Collection((files("bot.features.puzzles") / FILE).read_text("ascii").splitlines())


def simulate_games(seed: str, games: Sequence[str]) -> Iterator[Record]:
    """Games of robots without end, of these kinds in turn; the same seed gives the same ones."""
    for number in count(1):
        for game in games:
            yield simulate(game, {}, [ROBOT] * game_kind(game).seats, f"{seed}/{game}/{number}")


def find_puzzles(records: Iterable[Record], known: set[str] | None = None) -> Iterator[Puzzle]:
    """The hardest puzzle of each deal that has any; none twice, and none of those ``known`` by their ids, which grow.

    FaultyRecord for a game that cannot be replayed.
    """
    # Searches are compiled as they are imported: only who makes puzzles waits for that.
    from engine.puzzles.making import POSITIONS, puzzles_of  # noqa: PLC0415
    from engine.search.solver import Solver  # noqa: PLC0415

    solver, known = Solver(POSITIONS), set() if known is None else known
    for record in records:
        for number in range(1, len(record.deals) + 1):
            fresh = [one for one in puzzles_of(record, number, solver) if one.id not in known]
            if fresh:
                hardest = max(fresh, key=lambda one: (one.missed, one.cost))
                known.add(hardest.id)
                yield hardest


def make_puzzles(total: int, seed: str) -> Iterator[Puzzle]:
    """So many puzzles from random deals, as many of each game as of the next, but fewer of those with packets."""
    shares = {game: 1 if kind.layout == "packets" else FULL_SHARE for game, kind in GAMES.items()}
    wanted = {game: -(-total * share // sum(shares.values())) for game, share in shares.items()}
    found, known = Counter[str](), set[str]()
    streams = {game: find_puzzles(simulate_games(seed, [game]), known) for game in GAMES}
    while found.total() < total:
        for game, stream in streams.items():
            if found[game] < wanted[game] and found.total() < total:
                found[game] += 1
                yield next(stream)


def select_puzzles(puzzles: Sequence[Puzzle], most: int) -> list[Puzzle]:
    """So many of them, as many of each game as there can be, and of each game as many that are hard as are easy."""
    shelves: dict[tuple[str, int], list[Puzzle]] = {}
    for puzzle in puzzles:
        shelves.setdefault((puzzle.game, puzzle.missed), []).append(puzzle)
    kept: list[Puzzle] = []
    games = {game: [shelf for (of, _missed), shelf in sorted(shelves.items()) if of == game] for game in GAMES}
    takers = {game: _interleave(of_game) for game, of_game in games.items()}
    while len(kept) < most and takers:
        for game in [*takers]:
            taken = next(takers[game], None)
            if taken is None:
                del takers[game]
            elif len(kept) < most:
                kept.append(taken)
    return kept


def _interleave(shelves: Sequence[Sequence[Puzzle]]) -> Iterator[Puzzle]:
    """The first of each, then the second of each, and so on."""
    for place in range(max(map(len, shelves), default=0)):
        for shelf in shelves:
            if place < len(shelf):
                yield shelf[place]
