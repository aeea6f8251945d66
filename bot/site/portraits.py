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
    chosen: list[str] = []
    for chair in chairs:
        chosen.append(_choose(chair, chosen) if chair else "")
    return tuple(chosen)


def _choose(chair: Chair, taken: Sequence[str]) -> str:
    if face := next((face for name, face in ROBOT_FACES.items() if chair.is_robot and chair.name.endswith(name)), ""):
        return face
    first = crc32(chair.name.encode()) % len(PEOPLE)
    return next(face for face in (*PEOPLE[first:], *PEOPLE[:first]) if face not in taken)
