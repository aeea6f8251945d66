"""Errors about commands and presses, each with the sentence that the person reads."""

from bot.tables.errors import TableError


class SayWhichTable(TableError):
    code = "say_which_table"
    sentence = "You’re at several tables: choose one with {codes}."


class NoChallenge(TableError):
    code = "no_challenge"
    sentence = "You have no open challenge: open one with /challenge."


class SayTheCode(TableError):
    code = "say_the_code"
    sentence = "Add the table’s code, for example /join K7QF2M."


class UnknownCode(TableError):
    code = "unknown_code"
    sentence = "There’s no table {code}: check the code, or ask for a new invitation."


class NoEphemeral(TableError):
    code = "no_asides"
    sentence = "I can’t show your cards here: open our private chat."


class UnknownCommand(TableError):
    code = "unknown_command"
    sentence = "I don’t know /{word}: see all I can do with /help."


class ReportIsAButton(TableError):
    code = "report_is_a_button"
    sentence = "Report someone with 🚩 Report below your hand or the result, in a game from /find."


class PhrasesAreButtons(TableError):
    code = "phrases_are_buttons"
    sentence = "Say something with 💬 Say below your hand, in a game from /find."


class OnlyInGroups(TableError):
    code = "only_in_groups"
    sentence = "/{word} only works in groups: write it in one."


class OnlyInPrivate(TableError):
    code = "only_in_private"
    sentence = "/{word} only works in our private chat: write it there."


class NoHints(TableError):
    code = "no_hints"
    sentence = "Hints are for practice: play against robots only to get them."


class NoTimeForHints(TableError):
    code = "no_time_for_hints"
    sentence = "The robots are busy: ask again in a moment."


class BlockedByYou(TableError):
    code = "blocked_by_you"
    sentence = "You’ve blocked {name}: unblock them first with /block."


class OfferExpired(TableError):
    code = "offer_expired"
    sentence = "This challenge has expired: send a new one."


class OfferTaken(TableError):
    code = "offer_taken"
    sentence = "This challenge was accepted in another chat: send a new one."


class ChallengerIsBusy(TableError):
    code = "challenger_is_busy"
    sentence = "{name} is at too many tables already: try again later."


class GameOnHere(TableError):
    code = "game_on_here"
    sentence = "Another game is running here: finish it first."
