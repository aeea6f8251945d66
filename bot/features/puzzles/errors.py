"""Refusals of puzzles."""

from bot.tables.errors import TableError


class NoSuchPuzzle(TableError):
    sentence = "This puzzle is gone: get another one with /puzzle."
