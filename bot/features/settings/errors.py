"""Refusals of /settings."""

from bot.tables.errors import TableError


class OnlyAdministrators(TableError):
    sentence = "Only this group’s administrators can change its settings: ask one of them."


class AdministratorsUnknown(TableError):
    sentence = "I couldn’t check if you’re an administrator here: try again in a moment."
