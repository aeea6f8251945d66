"""Refusals of /settings."""

from bot.tables.errors import TableError


class OnlyAdministrators(TableError):
    code = "only_administrators"
    sentence = "Only administrators of this group can change its settings."


class AdministratorsUnknown(TableError):
    code = "administrators_unknown"
    sentence = "I could not find out whether you are an administrator here. Try again in a moment."
