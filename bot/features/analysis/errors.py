"""Refusals of /analyse."""

from bot.tables.errors import TableError


class NothingToAnalyse(TableError):
    sentence = "You have no finished game yet: start one with /challenge."


class TooManyAnalyses(TableError):
    sentence = "I’m busy with other games: ask again in a few minutes."
