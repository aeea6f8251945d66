"""Errors of the deal of the day."""

from bot.tables.errors import TableError


class OpenPrivateForDaily(TableError):
    code = "open_private_for_daily"
    sentence = "The cards come in our private chat: open it and write /daily there."


class PlayedToday(TableError):
    code = "played_today"
    sentence = "You have played today's deal. The next one comes at midnight."


class DealtToday(TableError):
    code = "dealt_today"
    sentence = "You have had today's cards already, and they are dealt once. The next deal comes at midnight."


class DailyUnavailable(TableError):
    code = "no_days_here"
    sentence = "The deal of the day is not played here: whoever hosts me would have to install numba."
