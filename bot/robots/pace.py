"""The paces of robots' moves that the reader of a page can choose."""

from typing import Literal

Pace = Literal["slow", "normal", "fast"]
PACES: dict[Pace, float] = {"slow": 2.5, "normal": 1.0, "fast": 0.3}  # multiples of the robots' pause
