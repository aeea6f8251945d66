"""Errors of the search for opponents."""

from bot.tables.errors import TableError


class NotInPrivateYet(TableError):
    code = "not_in_private_yet"
    sentence = "I search in our private chat: open it and write /find there."


class AskedIfReady(TableError):
    code = "asked_if_ready"
    sentence = "I’ve already found someone: say below if you’re ready."


class BadNickname(TableError):
    code = "bad_nickname"
    sentence = "A nickname has 2 to 16 letters, and spaces if you like: try another."


class TooManyBlocks(TableError):
    code = "too_many_blocks"
    sentence = "You’ve already blocked {most} people: unblock someone first with /block."


class NobodyThere(TableError):
    code = "nobody_there"
    sentence = "This player is no longer here."


class TooManyReports(TableError):
    code = "too_many_reports"
    sentence = "You’ve already reported {most} times today: report tomorrow, or use /block now."


class SaidFarewell(TableError):
    code = "said_farewell"
    sentence = "You’ve already said something after this game."


class ReportedAlready(TableError):
    code = "reported_already"
    sentence = "You’ve already reported this game: the bot’s host can read it."
