"""Players that are programs. Each sees what a person in its seat would see, and no more."""

from collections.abc import Callable
from random import Random

from engine.robots.easy import EasyRobot
from engine.robots.greedy import GreedyRobot
from engine.robots.robot import Robot, act
from engine.robots.simple import RandomRobot
from engine.robots.strong import Budget, StrongRobot

ROBOTS: dict[str, Callable[[Random], Robot]] = {"random": RandomRobot, "greedy": GreedyRobot, "strong": StrongRobot}

LEVELS: dict[str, Callable[[Random], Robot]] = {"easy": EasyRobot, "medium": GreedyRobot, "strong": StrongRobot}
"""The robots that sit at tables, from weak to strong."""


def robot(name: str, random: Random) -> Robot:
    """A robot by its name, with its own source of chance; KeyError for a name that is not in ROBOTS."""
    return ROBOTS[name](random)


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
