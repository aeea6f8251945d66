"""Refusals of /analyse."""

from bot.tables.errors import TableError


class NothingToAnalyse(TableError):
    code = "nothing_to_analyse"
    sentence = "You have no finished game yet: start one with /challenge."


class TooManyAnalyses(TableError):
    code = "too_many_analyses"
    sentence = "I’m busy with other games: ask again in a few minutes."
