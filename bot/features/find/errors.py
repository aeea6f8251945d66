"""Errors of the search for opponents."""

from bot.tables.errors import TableError


class NotInPrivateYet(TableError):
    code = "not_in_private_yet"
    sentence = "I ask you in our private chat: open it and write /find there."


class AskedIfReady(TableError):
    code = "asked_if_ready"
    sentence = "There is somebody already: look below whether you are ready."


class BadNickname(TableError):
    code = "bad_nickname"
    sentence = "A name has 2 to 16 letters, perhaps with spaces between them."


class TooManyBlocks(TableError):
    code = "too_many_blocks"
    sentence = "You have blocked {most} people already: /block lets you unblock some."


class NobodyThere(TableError):
    code = "nobody_there"
    sentence = "There is nobody there any more."


class TooManyReports(TableError):
    code = "too_many_reports"
    sentence = "You have reported {most} times today: tomorrow you may again. /block helps at once."


class SaidFarewell(TableError):
    code = "said_farewell"
    sentence = "You have said something already."


class ReportedAlready(TableError):
    code = "reported_already"
    sentence = "You have reported this game already."
