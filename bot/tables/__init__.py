"""Tables: chairs, game, and one commit for each press."""

from bot.tables.chairs import Chair
from bot.tables.errors import TableError
from bot.tables.room import Room
from bot.tables.table import Table

__all__ = ["Chair", "Room", "Table", "TableError"]
