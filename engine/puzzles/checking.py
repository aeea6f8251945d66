"""Check puzzles with the solver."""

from collections.abc import Iterator

from engine.cards import cards
from engine.position import SearchPosition, SpadesPosition
from engine.puzzles.puzzle import Puzzle, puzzle_id, value_to_points
from engine.search.solver import Solver


def find_faults(puzzle: Puzzle, solver: Solver | None = None) -> Iterator[str]:
    """Yield the faults of a puzzle, in English: other values, no single best card, or a line with another result. Pass
    the same ``solver`` for many puzzles: that is faster.
    """
    solver = solver or Solver()
    here, outcomes = puzzle.position(), puzzle.outcomes()
    if puzzle.id != puzzle_id(puzzle):
        yield "its id is another position's"
    values = solver.solve(here, outcomes)
    if values is None:
        yield "it is too long to be solved"
        return
    points = {card: value_to_points(here, value) for card, value in values.items()}
    if {line.cards[0]: line.points for line in puzzle.lines} != points or len(puzzle.lines) != len(points):
        yield f"its cards come to {points}"
    elif [card for card in points if points[card] == max(points.values())] != [puzzle.best]:
        yield "it has no single best card"
    for line in puzzle.lines:
        came_to = _play_line(here, line.cards, outcomes)
        if came_to != line.points:
            yield f"the line of {puzzle.pack.codes[line.cards[0]]} comes to {came_to}"


def _play_line(here: SearchPosition, line: tuple[int, ...], outcomes: list[int]) -> int | None:
    """Return the result of a line in points; None if it cannot be played."""
    here = here.copy()
    for card in line:
        if not here.left or card not in cards(here.legal_cards()):
            return None
        here.play(card)
    if here.left:
        return None
    return outcomes[here.taken[0]] if isinstance(here, SpadesPosition) else value_to_points(here, here.taken[0])
