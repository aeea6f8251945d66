"""Refusals of puzzles."""

from bot.tables.errors import TableError


class NoSuchPuzzle(TableError):
    code = "no_such_puzzle"
    sentence = "This puzzle is gone: get another one with /puzzle."
