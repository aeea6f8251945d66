"""Errors of the deal of the day."""

from bot.tables.errors import TableError


class OpenPrivateForDaily(TableError):
    sentence = "Your cards come in our private chat: open it and write /daily there."


class PlayedToday(TableError):
    sentence = "You’ve already played today’s deal: the next one comes at midnight."


class DealtToday(TableError):
    sentence = "You’ve already had today’s cards: the next deal comes at midnight."


class DailyUnavailable(TableError):
    sentence = "There’s no deal of the day here: ask the bot’s host to install numba."
