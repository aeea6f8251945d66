"""Refusals of a table, in words for the person who asked. The engine has its own errors for illegal moves."""

from engine.errors import EngineError


class TableError(EngineError):
    """The table refused an action and has not changed."""

    code = "table_fault"


class NoSuchTable(TableError):
    code = "no_such_table"
    sentence = "There’s no table {code} any more: open another one."


class SetAside(TableError):
    """The rules of this version refuse the table's log. `buongioco tables` shows the host more."""

    code = "set_aside"
    sentence = "I can’t open table {code} any more: tell the bot’s host."


class TooManyTables(TableError):
    code = "too_many_tables"
    sentence = "You’re at {most} tables already: finish a game first."


class TooManyFromAddress(TableError):
    code = "too_many_from_address"
    sentence = "Guests on your network have too many open tables: finish a game first."


class StoreFull(TableError):
    code = "store_full"
    sentence = "There’s no room for new tables right now: tell the bot’s host (running games go on)."


class TooManyChallenges(TableError):
    code = "too_many_challenges"
    sentence = "This chat already has {most} open challenges: accept one or cancel one."


class TooManyChanges(TableError):
    code = "too_many_changes"
    sentence = "This challenge was changed too often: play it as it is, or open another."


class OpenedTooOften(TableError):
    code = "opened_too_often"
    sentence = "This was restarted too often today: open a new table."


class NotAtThisTable(TableError):
    code = "not_at_this_table"
    sentence = "You have no seat at table {code}: /tables shows your tables."


class OldPanel(TableError):
    """The table has changed since the pressed panel was drawn."""

    code = "old_panel"
    sentence = "This button has expired: use the latest message."


class AlreadySeated(TableError):
    code = "already_seated"
    sentence = "You already have a seat at this table: wait for the others."


class NoChairForYou(TableError):
    """The opener has blocked this person, who must not learn this."""

    code = "no_chair_for_you"
    sentence = "I can’t seat you at this table: open your own with /challenge."


class ChairTaken(TableError):
    code = "chair_taken"
    sentence = "{name} already has that seat: choose another."


class NoSuchChair(TableError):
    code = "no_such_chair"
    sentence = "This table doesn’t have that seat: choose another."


class TableIsFull(TableError):
    code = "table_is_full"
    sentence = "All seats at this table are taken: open your own with /challenge."


class AlreadyPlaying(TableError):
    code = "already_playing"
    sentence = "Too late: the game has already started."


class NotPlaying(TableError):
    code = "not_playing"
    sentence = "The game hasn’t started yet: wait until all seats are taken."


class OnlyTheChallenger(TableError):
    code = "only_the_challenger"
    sentence = "Only the player who opened the table can change that: ask {name}."


class NotInvited(TableError):
    code = "not_invited"
    sentence = "This challenge is for {name}: open your own with /challenge."


class AlreadyAsking(TableError):
    code = "already_asking"
    sentence = "You’ve already asked for a seat: wait for the answer."


class NobodyAsks(TableError):
    code = "nobody_asks"
    sentence = "The seat is free again: wait for another player."


class NotYoursToDecide(TableError):
    code = "not_yours_to_decide"
    sentence = "You can’t decide that at this table."


class WaitToLook(TableError):
    code = "wait_to_look"
    sentence = "You left games I found for you: search again in {minutes} min."


class SaidEnough(TableError):
    code = "said_enough"
    sentence = "You’ve already said {most} things in this deal: play on."


class TimeIsNotUp(TableError):
    code = "time_is_not_up"
    sentence = "There’s still time for this move: wait a little."


class NoSuchClock(TableError):
    code = "no_such_clock"
    sentence = "I don’t offer that clock: choose another."


class TooManyChats(TableError):
    code = "too_many_chats"
    sentence = "This table is in too many chats already: play from one of them."


class GameNotKept(TableError):
    code = "game_not_kept"
    sentence = "This game is no longer in the archive: start a new one."


class NotBegun(TableError):
    code = "not_begun"
    sentence = "Table {code} is waiting for players: your cards come when the game starts."


class NoTables(TableError):
    code = "no_tables"
    sentence = "You have no game running: start one with /challenge."
