"""What a table refuses, in words for the person who asked. Moves are refused by the engine, in its own."""

from engine.errors import EngineError


class TableFault(EngineError):
    """Nothing has changed at the table."""

    code = "table_fault"


class NoSuchTable(TableFault):
    code = "no_such_table"
    sentence = "There is no table {code} any more."


class SetAside(TableFault):
    """The rules of this version refuse the table's log; `buongioco tables` tells the host more."""

    code = "set_aside"
    sentence = "I cannot read table {code} any more, so it is set aside. Whoever hosts me can look into it."


class TooManyTables(TableFault):
    code = "too_many_tables"
    sentence = "You sit at {most} tables already: finish one first."


class TooManyChallenges(TableFault):
    code = "too_many_challenges"
    sentence = "{most} challenges are open in this chat already: accept one of them, or take one back."


class TooManyChanges(TableFault):
    code = "too_many_changes"
    sentence = "This challenge was changed too often: play it as it is, or open another."


class NotAtThisTable(TableFault):
    code = "not_at_this_table"
    sentence = "You do not sit at table {code}."


class OldPanel(TableFault):
    """The press came from a panel that the table has moved on from."""

    code = "old_panel"
    sentence = "The table has moved on since then: here is how it stands."


class AlreadySeated(TableFault):
    code = "already_seated"
    sentence = "You sit at this table already."


class ChairTaken(TableFault):
    code = "chair_taken"
    sentence = "{name} sits there already."


class NoSuchChair(TableFault):
    code = "no_such_chair"
    sentence = "This table has no such chair."


class TableIsFull(TableFault):
    code = "table_is_full"
    sentence = "Every chair at this table is taken."


class AlreadyPlaying(TableFault):
    code = "already_playing"
    sentence = "The game has begun: that cannot be changed any more."


class NotPlaying(TableFault):
    code = "not_playing"
    sentence = "The game has not begun yet."


class OnlyTheChallenger(TableFault):
    code = "only_the_challenger"
    sentence = "Only {name}, who opened the table, can change that."


class NotInvited(TableFault):
    code = "not_invited"
    sentence = "This challenge is for {name}."


class AlreadyAsking(TableFault):
    code = "already_asking"
    sentence = "You have asked for a chair already: wait for the answer."


class NobodyAsks(TableFault):
    code = "nobody_asks"
    sentence = "Nobody is asking for that chair any more."


class NotYoursToDecide(TableFault):
    code = "not_yours_to_decide"
    sentence = "That is not yours to decide."


class TimeIsNotUp(TableFault):
    code = "time_is_not_up"
    sentence = "There is still time for this move."


class NoSuchClock(TableFault):
    code = "no_such_clock"
    sentence = "There is no such clock."


class TooManyChats(TableFault):
    code = "too_many_chats"
    sentence = "This table is shown in as many chats as it may be."
