"""Errors of /mydata and /forget."""

from bot.tables.errors import TableError


class AskedJustNow(TableError):
    sentence = "You’ve just asked for your data: ask again in {seconds} seconds."


class NotYourPage(TableError):
    sentence = "This question was for someone else: write /forget yourself."
