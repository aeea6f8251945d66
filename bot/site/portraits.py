"""The portraits at a table's seats: names of drawings in `faces.svg` of the pages.

Each robot has its own face. A person's face follows from their name, which everyone at the table sees anyway.
"""

from collections.abc import Sequence
from zlib import crc32

from bot.robots.names import ROBOT_NAMES
from bot.tables.chairs import Chair

ROBOT_FACES = {name: name.rpartition(" ")[2].lower() for names in ROBOT_NAMES.values() for name in names}
PEOPLE = tuple(f"person{number}" for number in range(1, 11))


def choose_portraits(chairs: Sequence[Chair | None]) -> tuple[str, ...]:
    """Return each seat's portrait, all different; empty for a seat without a player."""
    portraits: list[str] = []
    for chair in chairs:
        portraits.append(_choose(chair, portraits) if chair else "")
    return tuple(portraits)


def _choose(chair: Chair, taken_portraits: Sequence[str]) -> str:
    if face := next((face for name, face in ROBOT_FACES.items() if chair.is_robot and chair.name.endswith(name)), ""):
        return face
    start = crc32(chair.name.encode()) % len(PEOPLE)
    return next(face for face in (*PEOPLE[start:], *PEOPLE[:start]) if face not in taken_portraits)
