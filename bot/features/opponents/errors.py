"""Errors of challenges to recent opponents."""

from bot.tables.errors import TableError


class OpponentIsGone(TableError):
    sentence = "This player is no longer here."


class ChallengedRecently(TableError):
    """The last challenge to this player was declined or withdrawn, or nobody answered it."""

    sentence = "You challenged this player not long ago: give them a few hours."
