"""Errors of /mydata and /forget."""

from bot.tables.errors import TableError


class AskedJustNow(TableError):
    code = "asked_just_now"
    sentence = "You’ve just asked for your data: ask again in {seconds} seconds."


class NotYourPage(TableError):
    code = "not_your_page"
    sentence = "This question was for someone else: write /forget yourself."
