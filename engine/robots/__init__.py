"""Players that are programs. Each sees only its seat's view, like a person."""

from collections.abc import Callable
from random import Random

from .easy import EasyRobot, RandomRobot
from .medium import MediumRobot
from .robot import Budget, Robot, act

# robots without a search; "greedy" is the medium robot's name in the benchmarks
SIMPLE_ROBOTS: dict[str, Callable[[Random], Robot]] = {
    "random": RandomRobot,
    "easy": EasyRobot,
    "medium": MediumRobot,
    "greedy": MediumRobot,
}

ROBOTS = (*SIMPLE_ROBOTS, "strong")
LEVELS = ("easy", "medium", "strong")  # the robots at tables, from weak to strong


def make_robot(name: str, random: Random, budget: Budget | None = None) -> Robot:
    """Return a new robot by its name.

    Raises KeyError if the name is not in ROBOTS. ``budget`` limits robots that search.
    """
    if name != "strong":
        return SIMPLE_ROBOTS[name](random)
    # Importing the searches takes seconds and 100 MB, so only processes that use them do it.
    from .strong import StrongRobot  # noqa: PLC0415

    return StrongRobot(random, budget)


__all__ = ["LEVELS", "ROBOTS", "Budget", "EasyRobot", "MediumRobot", "RandomRobot", "Robot", "act", "make_robot"]
