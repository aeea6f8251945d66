"""`buongioco puzzles`: find and check endings to solve."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.output import format_count, line_output, progress, say
from bot.cli.record_files import read_records
from bot.features.puzzles.collection import find_puzzles, make_puzzles, select_puzzles
from engine import Record
from engine.errors import BadRecord
from engine.games import GAMES
from engine.puzzles.puzzle import Puzzle

puzzles_app = typer.Typer(add_completion=False, no_args_is_help=True, help="Endings to solve: make, check.")


@puzzles_app.command()
def make(
    number: Annotated[int, typer.Option("--count", min=1, help="How many to find.")] = 10_000,
    keep: Annotated[int, typer.Option(min=0, help="Keep this many, evenly chosen; 0 keeps all.")] = 0,
    seed: Annotated[str, typer.Option(help="The same seed gives the same puzzles.")] = "0",
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            exists=True,
            dir_okay=False,
            help="Search these games (`buongioco export`) instead of random ones.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Output file. Default, or -: the screen.")] = None,
) -> None:
    """Find positions with one best card, using the exact solver."""
    stream = make_puzzles(number, seed) if source is None else islice(find_puzzles(_read_games(source)), number)
    found_puzzles: list[Puzzle] = []
    with line_output(out) as write, progress(number, "puzzles") as bar:
        for puzzle in stream:
            found_puzzles.append(puzzle)
            bar.update(1)
        kept_puzzles = select_puzzles(found_puzzles, keep) if keep else found_puzzles
        for puzzle in kept_puzzles:
            write(puzzle.to_line())
    by_game = Counter(puzzle.game for puzzle in kept_puzzles)
    counts = ", ".join(f"{game} {by_game[game]}" for game in GAMES)
    say(f"{len(kept_puzzles)} of {len(found_puzzles)}: {counts}", err=True)


def _read_games(path: Path) -> Iterator[Record]:
    """Yield the games in a file. Raises BadRecord for an unreadable game."""
    for entry in read_records(path):
        if isinstance(entry.record, BadRecord):
            raise entry.record
        yield entry.record


@puzzles_app.command()
def check(
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="Files that `make` wrote.")],
) -> None:
    """Solve puzzles again, and check for duplicates, the one best card, lines and points. Exit 1 if one is wrong.

    The difficulty is not checked.
    """
    # Searches are compiled when they are imported.
    from engine.puzzles.making import find_faults  # noqa: PLC0415
    from engine.search.solver import Solver  # noqa: PLC0415

    fault_count, solver = 0, Solver()
    for path in files:
        known_ids: set[str] = set()
        lines = path.read_bytes().splitlines()
        with progress(len(lines), path.name) as bar:
            for number, line in enumerate(lines, 1):
                for fault in _line_faults(line, known_ids, partial(find_faults, solver=solver)):
                    say(f"{path}:{number}: {fault}")
                    fault_count += 1
                bar.update(1)
        say(f"{path}: {len(lines)} puzzles, {format_count(fault_count, 'fault')}")
    if fault_count:
        raise typer.Exit(1)


def _line_faults(line: bytes, known_ids: set[str], faults_of: Callable[[Puzzle], Iterator[str]]) -> Iterator[str]:
    """Yield the faults of a line, and add its id to ``known_ids``."""
    try:
        puzzle = Puzzle.from_line(line.decode("ascii"))
    except ValueError as error:
        yield f"not a puzzle: {error}"
        return
    if puzzle.id in known_ids:
        yield f"{puzzle.id} is a duplicate"
    known_ids.add(puzzle.id)
    yield from faults_of(puzzle)
