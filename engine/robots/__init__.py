"""Players that are programs. Each sees what a person in its seat would see, and no more."""

from collections.abc import Callable
from random import Random

from engine.robots.easy import EasyRobot
from engine.robots.greedy import GreedyRobot
from engine.robots.robot import Budget, Robot, act
from engine.robots.simple import RandomRobot

SIMPLE: dict[str, Callable[[Random], Robot]] = {
    "random": RandomRobot,
    "easy": EasyRobot,
    "medium": GreedyRobot,
    "greedy": GreedyRobot,
}
"""Robots that hardly think; "greedy" is what "medium" is called in the field."""

ROBOTS = (*SIMPLE, "strong")
LEVELS = ("easy", "medium", "strong")
"""The robots that sit at tables, from weak to strong."""


def robot(name: str, random: Random, budget: Budget | None = None) -> Robot:
    """A robot by its name, with its own source of chance; KeyError for a name that is not in ROBOTS.

    ``budget`` bounds the thoughts of one that thinks; without it they take all the work they are meant to.
    """
    if name != "strong":
        return SIMPLE[name](random)
    # What compiles its searches takes seconds and a hundred megabytes to import: for who thinks, not for who asks.
    from engine.robots.strong import StrongRobot  # noqa: PLC0415

    return StrongRobot(random, budget)


__all__ = [
    "LEVELS",
    "ROBOTS",
    "Budget",
    "EasyRobot",
    "GreedyRobot",
    "RandomRobot",
    "Robot",
    "act",
    "robot",
]
