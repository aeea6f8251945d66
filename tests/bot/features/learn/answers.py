"""Right answers to the steps of courses."""

from random import Random

from bot.features.learn.courses import Course
from bot.features.learn.step_games import ending_moves, ending_table, step_moves, step_table
from engine.robots import make_robot


def right_indexes(course: Course) -> list[int]:
    """Return the index of the right move in each step before the last."""
    return [step_moves(step_table(course.game, step), step).index(step.right) for step in course.steps]


def robot_taps(course: Course) -> str:
    """Return taps that play the last step as the medium robot does."""
    taps = ""
    while moves := ending_moves(game := ending_table(course, taps)):
        move = make_robot("medium", Random(0)).choose(game.view(0), game.history(0))
        taps += str(moves.index(str(move)))
    return taps
