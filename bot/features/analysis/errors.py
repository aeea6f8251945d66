"""Refusals of /analyse."""

from bot.tables.errors import TableError


class NothingToAnalyse(TableError):
    code = "nothing_to_analyse"
    sentence = "I have no finished game of yours: /challenge opens a table."


class TooManyAnalyses(TableError):
    code = "too_many_analyses"
    sentence = "I have many games to look at: ask again in a few minutes."
