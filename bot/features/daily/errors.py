"""Errors of the deal of the day."""

from bot.tables.errors import TableError


class OpenPrivateForDaily(TableError):
    code = "open_private_for_daily"
    sentence = "Your cards come in our private chat: open it and write /daily there."


class PlayedToday(TableError):
    code = "played_today"
    sentence = "You’ve already played today’s deal: the next one comes at midnight."


class DealtToday(TableError):
    code = "dealt_today"
    sentence = "You’ve already had today’s cards: the next deal comes at midnight."


class DailyUnavailable(TableError):
    code = "no_days_here"
    sentence = "There’s no deal of the day here: ask the bot’s host to install numba."
