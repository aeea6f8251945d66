"""Errors about commands and presses, each with the sentence that the person reads."""

from bot.tables.errors import TableError


class SayWhichTable(TableError):
    code = "say_which_table"
    sentence = "You sit at several tables; say which one: {codes}."


class NoChallenge(TableError):
    code = "no_challenge"
    sentence = "You have no open challenge. /challenge opens a table."


class SayTheCode(TableError):
    code = "say_the_code"
    sentence = "Which table? /join CODE: the code stands on the challenge."


class UnknownCode(TableError):
    code = "unknown_code"
    sentence = "There is no table {code}. The code stands on the challenge, such as K7QF2M."


class NoEphemeral(TableError):
    code = "no_asides"
    sentence = "I cannot show your cards here: open our private chat."


class UnknownCommand(TableError):
    code = "unknown_command"
    sentence = "I do not know /{word}. /help lists what I can do."


class ReportIsAButton(TableError):
    code = "report_is_a_button"
    sentence = "To report somebody press 🚩 Report, below your hand or the result of a game that /find made."


class PhrasesAreButtons(TableError):
    code = "phrases_are_buttons"
    sentence = "To say something press 💬 Say, below your hand in a game that /find made."


class OnlyInGroups(TableError):
    code = "only_in_groups"
    sentence = "/{word} is for groups: write it there."


class OnlyInPrivate(TableError):
    code = "only_in_private"
    sentence = "/{word} is for our private chat: write it there."


class NoHints(TableError):
    code = "no_hints"
    sentence = "Hints are for practice, against robots alone."


class NoTimeForHints(TableError):
    code = "no_time_for_hints"
    sentence = "The robots are busy: ask again in a moment."


class BlockedByYou(TableError):
    code = "blocked_by_you"
    sentence = "You have blocked {name}: /block lets you unblock them."


class OfferExpired(TableError):
    code = "offer_expired"
    sentence = "This challenge is over: send a new one."


class OfferTaken(TableError):
    code = "offer_taken"
    sentence = "This challenge was taken up in another chat: send a new one."


class ChallengerIsBusy(TableError):
    code = "challenger_is_busy"
    sentence = "{name} sits at too many tables already."


class GameOnHere(TableError):
    code = "game_on_here"
    sentence = "Another game is on here."
