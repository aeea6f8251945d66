"""Errors of commands and presses, with the sentences that people read."""

from bot.tables.errors import TableError


class TableNotNamed(TableError):
    sentence = "You’re at several tables: choose one with {codes}."


class NoChallenge(TableError):
    sentence = "You have no open challenge: open one with /challenge."


class CodeNotGiven(TableError):
    sentence = "Add the table’s code, for example /join K7QF2M."


class NoSuchOpponent(TableError):
    sentence = (
        "I don’t know the game {name}: choose one of {games}, a person (@name) or a robot (/challenge robot strong)."
    )


class UnknownCode(TableError):
    sentence = "There’s no table {code}: check the code, or ask for a new invitation."


class NoEphemeral(TableError):
    sentence = "I can’t show your cards here: open our private chat."


class UnknownCommand(TableError):
    sentence = "I don’t know /{word}: see all I can do with /help."


class MisspeltCommand(TableError):
    sentence = "I don’t know /{word}: did you mean /{close}? See all I can do with /help."


class NoReportCommand(TableError):
    sentence = "Report someone with 🚩 Report below your hand or the result, in a game from /find."


class NoSayCommand(TableError):
    sentence = "Say something with 💬 Say below your hand, in a game from /find."


class OnlyInGroups(TableError):
    sentence = "/{word} only works in groups: write it in one."


class OnlyInPrivate(TableError):
    sentence = "/{word} only works in our private chat: write it there."


class BlockedByYou(TableError):
    sentence = "You’ve blocked {name}: unblock them first with /block."


class OfferExpired(TableError):
    sentence = "This challenge has expired: send a new one."


class OfferTaken(TableError):
    sentence = "This challenge was accepted in another chat: send a new one."


class ChallengerIsBusy(TableError):
    sentence = "{name} is at too many tables already: try again later."


class ChatHasGame(TableError):
    sentence = "Another game is running here: finish it first."
