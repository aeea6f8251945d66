"""Errors of the search for opponents."""

from bot.tables.errors import TableError


class NotInPrivateYet(TableError):
    sentence = "I search in our private chat: open it and write /find there."


class AskedIfReady(TableError):
    sentence = "I’ve already found someone: say below if you’re ready."


class BadNickname(TableError):
    sentence = "A nickname has 2 to 16 letters, and spaces if you like: try another."


class TooManyBlocks(TableError):
    sentence = "You’ve already blocked {most} people: unblock someone first with /block."


class NobodyThere(TableError):
    sentence = "This player is no longer here."


class TooManyReports(TableError):
    sentence = "You’ve already reported {most} times today: report tomorrow, or use /block now."


class SaidFarewell(TableError):
    sentence = "You’ve already said something after this game."


class ReportedAlready(TableError):
    sentence = "You’ve already reported this game: the bot’s host can read it."
