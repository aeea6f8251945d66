"""Errors of the deal of the day."""

from bot.tables.errors import TableError


class OpenPrivateForDaily(TableError):
    code = "open_private_for_daily"
    sentence = "The cards come in our private chat: open it and write /daily there."
