"""Errors of /mydata and /forget."""

from bot.tables.errors import TableError


class AskedJustNow(TableError):
    code = "asked_just_now"
    sentence = "You asked a moment ago: once in {seconds} seconds is enough."


class NotYourPage(TableError):
    code = "not_your_page"
    sentence = "That question was for somebody else: /forget asks you."
