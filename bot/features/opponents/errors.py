"""Errors of challenges to recent opponents."""

from bot.tables.errors import TableError


class OpponentIsGone(TableError):
    sentence = "This player is no longer here."
