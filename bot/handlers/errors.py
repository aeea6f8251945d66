"""What handlers refuse."""

from bot.tables.errors import TableError


class NoSuchGame(TableError):
    code = "no_such_game"
    sentence = "I know no game {name}. There are: {games}."


class NoSuchTarget(TableError):
    code = "no_such_target"
    sentence = "{game} is played to {targets}, not to {points}."


class NoSuchPerson(TableError):
    code = "no_such_person"
    sentence = "I have not met {name} yet."


class NotYourself(TableError):
    code = "not_yourself"
    sentence = "You cannot challenge yourself. Without a name, anybody may accept."


class OnePersonAtATime(TableError):
    code = "one_person_at_a_time"
    sentence = "One person at a time, please: you named {names}."


class NotBegun(TableError):
    code = "not_begun"
    sentence = "Table {code} still waits for players: there are no cards yet."


class OnlyAdministrators(TableError):
    code = "only_administrators"
    sentence = "Only administrators of this group can change its settings."


class AdministratorsUnknown(TableError):
    code = "administrators_unknown"
    sentence = "I could not find out whether you are an administrator here. Try again in a moment."


class SayWhichTable(TableError):
    code = "say_which_table"
    sentence = "You sit at several tables; say which one: {codes}."


class NoTables(TableError):
    code = "no_tables"
    sentence = "You have no game on. /challenge opens a table."


class NoChallenge(TableError):
    code = "no_challenge"
    sentence = "You have no open challenge. /challenge opens a table."


class SayTheCode(TableError):
    code = "say_the_code"
    sentence = "Which table? /join CODE: the code stands on the challenge."


class UnknownCode(TableError):
    code = "unknown_code"
    sentence = "There is no table {code}. The code stands on the challenge, such as K7QF2M."


class GameNotKept(TableError):
    code = "game_not_kept"
    sentence = "This game is not in the archive any more."


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


class NotInPrivateYet(TableError):
    code = "not_in_private_yet"
    sentence = "I ask you in our private chat: open it and write /find there."


class OpenPrivateForDaily(TableError):
    code = "open_private_for_daily"
    sentence = "The cards come in our private chat: open it and write /daily there."


class NoSuchPuzzle(TableError):
    code = "no_such_puzzle"
    sentence = "I do not have that puzzle any more: /puzzle shows another one."


class AskedIfReady(TableError):
    code = "asked_if_ready"
    sentence = "There is somebody already: look below whether you are ready."


class BadNickname(TableError):
    code = "bad_nickname"
    sentence = "A name has 2 to 16 letters, perhaps with spaces between them."


class TooManyBlocks(TableError):
    code = "too_many_blocks"
    sentence = "You have blocked {most} people already: /block lets you unblock some."


class BlockedByYou(TableError):
    code = "blocked_by_you"
    sentence = "You have blocked {name}: /block lets you unblock them."


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


class AskedJustNow(TableError):
    code = "asked_just_now"
    sentence = "You asked a moment ago: once in {seconds} seconds is enough."


class NotYourPage(TableError):
    code = "not_your_page"
    sentence = "That question was for somebody else: /forget asks you."


class NothingToAnalyse(TableError):
    code = "nothing_to_analyse"
    sentence = "I have no finished game of yours: /challenge opens a table."


class TooManyAnalyses(TableError):
    code = "too_many_analyses"
    sentence = "I have many games to look at: ask again in a few minutes."


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


class TournamentsNeedMe(TableError):
    code = "tournaments_need_me"
    sentence = "Add me to this chat first: the card of a tournament is kept up to date there."


class WantsAnother(TableError):
    code = "wants_another"
    sentence = "That is you: whoever wants to play with you presses this button."
