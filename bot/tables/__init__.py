"""Tables: who sits where, what they play, and every press as one commit."""

from bot.tables.chairs import Chair
from bot.tables.errors import TableError
from bot.tables.room import Room
from bot.tables.table import Table

__all__ = ["Chair", "Room", "Table", "TableError"]
