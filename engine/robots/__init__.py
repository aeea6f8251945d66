"""Players that are programs. Each sees what a person in its seat would see, and no more."""

from collections.abc import Callable
from random import Random

from engine.robots.easy import EasyRobot
from engine.robots.greedy import GreedyRobot
from engine.robots.robot import Robot, act
from engine.robots.simple import RandomRobot
from engine.robots.strong import Budget, StrongRobot

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
    return StrongRobot(random, budget) if name == "strong" else SIMPLE[name](random)


__all__ = [
    "LEVELS",
    "ROBOTS",
    "Budget",
    "EasyRobot",
    "GreedyRobot",
    "RandomRobot",
    "Robot",
    "StrongRobot",
    "act",
    "robot",
]
