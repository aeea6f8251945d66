"""Refusals of puzzles."""

from bot.tables.errors import TableError


class NoSuchPuzzle(TableError):
    code = "no_such_puzzle"
    sentence = "I do not have that puzzle any more: /puzzle shows another one."
