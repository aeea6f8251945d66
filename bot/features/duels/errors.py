"""Errors of duels."""

from bot.tables.errors import TableError


class NoSuchDuel(TableError):
    sentence = "No duel with this code: open your own with /duel."


class NotYourDuel(TableError):
    sentence = "This duel is between others: open your own with /duel."


class DuelIsFull(TableError):
    sentence = "Two others play this duel: open your own with /duel."


class DuelForAnother(TableError):
    sentence = "This duel is for {name}: open your own with /duel."


class DuelIsOver(TableError):
    sentence = "This duel is over: open a new one with /duel."


class DuelIsAccepted(TableError):
    sentence = "Too late: the duel is accepted already."


class AlreadyChallenged(TableError):
    sentence = "{name} hasn’t answered your last challenge: wait, or withdraw it first."


class NoRematch(TableError):
    sentence = "The other player has left: open a new duel with /duel."


class AllDealsPlayed(TableError):
    sentence = "You’ve played all deals of this duel: the result comes when both have finished."


class DealBeingCounted(TableError):
    sentence = "Your last deal is still being counted: try again in a moment."


class DealNotCompared(TableError):
    sentence = "You can compare a deal once both have played it."


class TooManyDuels(TableError):
    sentence = "You have {most} duels, with those that nobody accepted today: finish one, or try again tomorrow."


class TooManyToday(TableError):
    sentence = "You’ve opened {most} duels today: try again tomorrow."


class OpenPrivateForDuel(TableError):
    sentence = "Your cards come in our private chat: open it and write /duel {code} there."


class DuelsUnavailable(TableError):
    sentence = "There are no duels here: ask the bot’s host to install numba."
