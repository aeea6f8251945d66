"""The stars of a puzzle: a harder puzzle has more."""

from engine.puzzles.puzzle import Puzzle

# Percentages of simple players who miss a puzzle, each with the number of stars of a puzzle that fewer miss.
ONE_STAR = 40
LIMITS = ((ONE_STAR, 1), (60, 2), (80, 3))
MAX_STARS = 4


def count_stars(puzzle: Puzzle) -> int:
    return next((stars for limit, stars in LIMITS if puzzle.missed < limit), MAX_STARS)
