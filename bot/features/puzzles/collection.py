"""Puzzles: finding them in games, selecting them for the package, and reading the selection."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import count, islice, zip_longest

from bot.robots.simulation import simulate
from engine import Record, game_kind
from engine.games import GAMES
from engine.puzzles.puzzle import Puzzle

FILE = "endings.txt"
# For each puzzle of a game with packets, each other game has this many puzzles. With packets, cards become known only
# near the end.
FULL_SHARE = 5
ROBOT = "easy"  # level of the robot in the games in which puzzles are found: it errs, as people do


class Collection(Mapping[str, Puzzle]):
    """Puzzles by id, in the file's order. Each is parsed when it is read, because all together take megabytes."""

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
        """Return `Puzzle.game` without parsing the whole puzzle."""
        return self._lines[id_].split(" ", 2)[1]

    def missed_by(self, id_: str) -> int:
        """Return `Puzzle.missed` without parsing the whole puzzle."""
        return int(self._lines[id_].rsplit(" ", 2)[1])


@cache
def all_puzzles() -> Collection:
    """Return the puzzles of the package, in the file's order."""
    return Collection((files("bot.features.puzzles") / FILE).read_text("ascii").splitlines())


def simulate_games(seed: str, games: Sequence[str]) -> Iterator[Record]:
    """Endlessly yield records of robots' games, one of each of ``games`` in turn.

    The same seed yields the same records.
    """
    for number in count(1):
        for game in games:
            yield simulate(game, {}, [ROBOT] * game_kind(game).seats, f"{seed}/{game}/{number}")


def find_puzzles(records: Iterable[Record], known_ids: set[str] | None = None) -> Iterator[Puzzle]:
    """Yield the hardest new puzzle of each deal; add its id to ``known_ids``.

    Raises FaultyRecord for an impossible game.
    """
    # This import compiles the search, so it waits until puzzles are made.
    from engine.puzzles.making import MAX_POSITIONS, find_puzzles  # noqa: PLC0415
    from engine.search.solver import Solver  # noqa: PLC0415

    solver, known_ids = Solver(MAX_POSITIONS), set() if known_ids is None else known_ids
    for record in records:
        for number in range(1, len(record.deals) + 1):
            new_puzzles = [puzzle for puzzle in find_puzzles(record, number, solver) if puzzle.id not in known_ids]
            if new_puzzles:
                hardest = max(new_puzzles, key=lambda puzzle: (puzzle.missed, puzzle.cost))
                known_ids.add(hardest.id)
                yield hardest


def make_puzzles(total: int, seed: str) -> Iterator[Puzzle]:
    """Yield ``total`` puzzles from random deals, shared out among the games (`FULL_SHARE`)."""
    shares = {game: 1 if kind.layout == "packets" else FULL_SHARE for game, kind in GAMES.items()}
    target_counts = {game: -(-total * share // sum(shares.values())) for game, share in shares.items()}
    found_counts, known_ids = Counter[str](), set[str]()
    streams = {game: find_puzzles(simulate_games(seed, [game]), known_ids) for game in GAMES}
    while found_counts.total() < total:
        for game, stream in streams.items():
            if found_counts[game] < target_counts[game] and found_counts.total() < total:
                found_counts[game] += 1
                yield next(stream)


def select_puzzles(puzzles: Sequence[Puzzle], limit: int) -> list[Puzzle]:
    """Select up to ``limit`` puzzles, evenly by game, and for each game evenly by difficulty."""
    shelves: dict[tuple[str, int], list[Puzzle]] = {}
    for puzzle in puzzles:
        shelves.setdefault((puzzle.game, puzzle.missed), []).append(puzzle)
    by_game = [
        _interleave([shelf for (shelf_game, _missed), shelf in sorted(shelves.items()) if shelf_game == game])
        for game in GAMES
    ]
    return list(islice(_interleave(by_game), limit))


def _interleave(shelves: Iterable[Iterable[Puzzle]]) -> Iterator[Puzzle]:
    """Yield the first puzzle of each shelf, then the second of each, and so on."""
    for row in zip_longest(*shelves):
        yield from filter(None, row)
