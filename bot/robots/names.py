"""Robots' names, and the level of a robot that replaces a person."""

ROBOT_NAMES = {  # three names for each level, because a table of four can seat three robots
    "easy": ("Gino", "Pina", "Nino"),
    "medium": ("Teresa", "Amedeo", "Ida"),
    "strong": ("Nonna Rosa", "Zio Beppe", "Maestro Elio"),
}

STAND_IN_LEVEL = "medium"  # level of the robot that replaces a person who timed out, was forgotten or never came
