"""The time at which a table's clock rings without a press."""

from math import inf

from bot.tables.table import TIME_FOR_GUESTS, TIME_TO_ACCEPT, TIME_TO_BE_READY, TIME_TO_COME_BACK, Table

NEVER = inf


def next_alarm(before: Table, after: Table, robot_pause: float) -> float | None:
    """Return the seconds of playing time until the table's clock rings. NEVER stops it; None leaves it unchanged.

    An open table waits a day for players, or a minute for matched people. The first half of a move's time ends with a
    nudge, the second with the flag. A robot moves after ``robot_pause`` seconds. In practice no move is timed, even
    with a strict clock, because no other person waits. An abandoned practice table still ends some day, because no
    other player could end it.
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
        # Guests are unknown and can be many: the tables they leave must not stay for ever.
        return TIME_FOR_GUESTS if after.is_of_guests else NEVER
    if after.alarm == "nudged":
        return None if before.alarm == "nudged" else after.clock / 2
    if _is_same_decision(before, after):
        return None
    return after.clock / 2


def _is_same_decision(before: Table, after: Table) -> bool:
    """Return whether the same move is still pending and its time was not extended."""
    if before.game is None or after.game is None or before.alarm:
        return False
    turn = after.game.turn
    return turn is not None and before.game.turn == turn and before.moved_at[turn] == after.moved_at[turn]
