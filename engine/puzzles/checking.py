"""Whether a puzzle is what it says."""

from collections.abc import Iterator

from engine.cards import cards
from engine.position import SearchPosition, SpadesPosition
from engine.puzzles.puzzle import Puzzle, id_of, points_of
from engine.search.solver import Solver


def faults_of(puzzle: Puzzle, solver: Solver | None = None) -> Iterator[str]:
    """What is wrong with it, in English: solved again, its position has other values or no single best card, or one of
    its lines does not come to what it says. A ``solver`` that is kept is faster for many.
    """
    solver = solver or Solver()
    here, outcomes = puzzle.position(), puzzle.outcomes()
    if puzzle.id != id_of(puzzle):
        yield "its id is another position's"
    values = solver.solve(here, outcomes)
    if values is None:
        yield "it is too long to be solved"
        return
    points = {card: points_of(here, value) for card, value in values.items()}
    if {line.cards[0]: line.points for line in puzzle.lines} != points or len(puzzle.lines) != len(points):
        yield f"its cards come to {points}"
    elif [card for card in points if points[card] == max(points.values())] != [puzzle.best]:
        yield "it has no single best card"
    for line in puzzle.lines:
        came_to = _played(here, line.cards, outcomes)
        if came_to != line.points:
            yield f"the line of {puzzle.pack.codes[line.cards[0]]} comes to {came_to}"


def _played(here: SearchPosition, line: tuple[int, ...], outcomes: list[int]) -> int | None:
    """What a line comes to; None if it cannot be played."""
    here = here.copy()
    for card in line:
        if not here.left or card not in cards(here.legal()):
            return None
        here.play(card)
    if here.left:
        return None
    return outcomes[here.taken[0]] if isinstance(here, SpadesPosition) else points_of(here, here.taken[0])
