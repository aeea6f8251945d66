"""When a table wants to be looked at again, though nobody presses anything."""

from math import inf

from bot.tables.table import TIME_FOR_GUESTS, TIME_TO_ACCEPT, TIME_TO_BE_READY, TIME_TO_COME_BACK, Table

NEVER = inf


def next_alarm(before: Table, after: Table, robot_pause: float) -> float | None:
    """In how many seconds of playing time the table's clock is to ring; NEVER stops it, None leaves it as it was.

    An open table waits a day for players; one for people who were matched waits a minute. Half of a move's time is a
    nudge, the other half brings the flag. A robot moves after a moment, its pause in seconds. Where only robots wait
    for one person no move's time runs, strict or not: it would take a move from them for nobody's sake. But a
    table that they have left ends some day, for nobody else would end it.
    """
    if after.phase == "open":
        time = TIME_TO_BE_READY if after.matched else TIME_TO_ACCEPT
        return None if before.exists else time
    if after.phase in ("closed", "over"):
        return NEVER
    mover = after.to_move
    if mover and mover.is_robot:
        return robot_pause
    if after.is_practice:
        return TIME_FOR_GUESTS if after.is_of_guests else TIME_TO_COME_BACK
    if not after.clock or after.alarm == "flagged":
        # Guests may be anybody, and many: what they leave must not stay for ever.
        return TIME_FOR_GUESTS if after.is_of_guests else NEVER
    if after.alarm == "nudged":
        return None if before.alarm == "nudged" else after.clock / 2
    if _is_same_decision(before, after):
        return None
    return after.clock / 2


def _is_same_decision(before: Table, after: Table) -> bool:
    """Whether the player to move is still to make the same move, and had no more time given."""
    if before.game is None or after.game is None or before.alarm:
        return False
    turn = after.game.turn
    return turn is not None and before.game.turn == turn and before.moved_at[turn] == after.moved_at[turn]
