"""Refusals of a table, in words for the person who asked. The engine has its own errors for illegal moves."""

from engine.errors import EngineError


class TableError(EngineError):
    """The table refused an action and has not changed."""

    code = "table_fault"


class NoSuchTable(TableError):
    code = "no_such_table"
    sentence = "There is no table {code} any more."


class SetAside(TableError):
    """The rules of this version refuse the table's log. `buongioco tables` shows the host more."""

    code = "set_aside"
    sentence = "I cannot read table {code} any more, so it is set aside. Whoever hosts me can look into it."


class TooManyTables(TableError):
    code = "too_many_tables"
    sentence = "You sit at {most} tables already: finish one first."


class TooManyFromAddress(TableError):
    code = "too_many_from_address"
    sentence = "Too many tables of guests at your address are unfinished: finish one first."


class StoreFull(TableError):
    code = "store_full"
    sentence = "There is no room for new tables just now. Games under way go on: tell the host of this bot."


class TooManyChallenges(TableError):
    code = "too_many_challenges"
    sentence = "This chat has {most} open challenges already: accept one, or take one back."


class TooManyChanges(TableError):
    code = "too_many_changes"
    sentence = "This challenge was changed too often: play it so, or open another."


class OpenedTooOften(TableError):
    code = "opened_too_often"
    sentence = "This was begun anew too often today: open another table."


class NotAtThisTable(TableError):
    code = "not_at_this_table"
    sentence = "You do not sit at table {code}."


class OldPanel(TableError):
    """The table has changed since the pressed panel was drawn."""

    code = "old_panel"
    sentence = "That was an old button: the table has moved on."


class AlreadySeated(TableError):
    code = "already_seated"
    sentence = "You sit at this table already."


class NoChairForYou(TableError):
    """The opener has blocked this person, who must not learn this."""

    code = "no_chair_for_you"
    sentence = "I cannot seat you here. /challenge opens a table of your own."


class ChairTaken(TableError):
    code = "chair_taken"
    sentence = "{name} sits there already."


class NoSuchChair(TableError):
    code = "no_such_chair"
    sentence = "This table has no such chair."


class TableIsFull(TableError):
    code = "table_is_full"
    sentence = "Every chair at this table is taken."


class AlreadyPlaying(TableError):
    code = "already_playing"
    sentence = "The game has begun: that cannot be changed any more."


class NotPlaying(TableError):
    code = "not_playing"
    sentence = "The game has not begun yet."


class OnlyTheChallenger(TableError):
    code = "only_the_challenger"
    sentence = "Only {name}, who opened the table, can change that."


class NotInvited(TableError):
    code = "not_invited"
    sentence = "This challenge is for {name}."


class AlreadyAsking(TableError):
    code = "already_asking"
    sentence = "You have asked for a chair already: wait for the answer."


class NobodyAsks(TableError):
    code = "nobody_asks"
    sentence = "Nobody is asking for that chair any more."


class NotYoursToDecide(TableError):
    code = "not_yours_to_decide"
    sentence = "That is not yours to decide."


class WaitToLook(TableError):
    code = "wait_to_look"
    sentence = "You left games that I had found for you: look again in {minutes} min."


class SaidEnough(TableError):
    code = "said_enough"
    sentence = "You have said {most} things in this deal: play on."


class TimeIsNotUp(TableError):
    code = "time_is_not_up"
    sentence = "There is still time for this move."


class NoSuchClock(TableError):
    code = "no_such_clock"
    sentence = "There is no such clock."


class TooManyChats(TableError):
    code = "too_many_chats"
    sentence = "This table is shown in as many chats as it may be."


class GameNotKept(TableError):
    code = "game_not_kept"
    sentence = "This game is not in the archive any more."


class NotBegun(TableError):
    code = "not_begun"
    sentence = "Table {code} still waits for players: there are no cards yet."


class NoTables(TableError):
    code = "no_tables"
    sentence = "You have no game on. /challenge opens a table."
