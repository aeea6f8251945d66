"""Tables' clocks: times in seconds, when a clock rings next, and what happens when it rings."""

from collections.abc import Sequence
from math import inf

from bot.store.entries import Close, Entry, Flag, Late, Move, Nudge, Stop
from bot.tables.limits import HOURS_TO_ACCEPT
from bot.tables.table_state import TableState

CLOCKS = (0, 60, 300, 1800, 86400)  # seconds for a move, from which a table can choose; 0 means no clock
LATE_MOVES_TO_FORFEIT = 3  # late moves in a row that lose the game under a strict clock
NEVER = inf  # the time of a stopped clock

READY_SECONDS = 60  # the time for matched people to confirm that they are ready
CUT_SECONDS = 20  # the time for a player to cut the pack
GUEST_SECONDS = 24 * 3600  # the playing time after which a game ends if only web guests could continue it
COME_BACK_SECONDS = 30 * 24 * 3600  # the time without a move after which a practice table ends


def next_alarm(table: TableState, earlier: TableState, robot_pause: float) -> float | None:
    """Return the seconds of playing time until the clock rings, NEVER to stop it, or None to leave it unchanged.

    ``earlier`` is the table before the last commit. An open table waits a day for players, or a minute for matched
    people. A sealed pack waits 20 seconds for a cut. The first half of a move's time ends with a nudge, the second with
    the flag. A robot moves after ``robot_pause`` seconds. Moves in practice have no time limit, even with a strict
    clock, because no other person waits. An abandoned practice table ends after `COME_BACK_SECONDS`, because no other
    player can end it. A guest has as long as others for a duel, which has an end of its own.
    """
    if table.awaits_cut:
        return None if earlier.sealed == table.sealed else CUT_SECONDS
    if table.phase == "open":
        time = READY_SECONDS if table.matched else HOURS_TO_ACCEPT * 3600
        return None if earlier.exists and not earlier.awaits_cut else time
    if table.game is None or table.phase != "playing":
        return NEVER
    if table.to_move and table.to_move.is_robot:
        return robot_pause
    if table.is_practice:
        return GUEST_SECONDS if table.has_only_guests and not table.duel else COME_BACK_SECONDS
    if not table.clock or table.alarm == "flagged":
        # Guests are anonymous and can be many, so the tables that they leave must not stay forever.
        return GUEST_SECONDS if table.has_only_guests else NEVER
    if table.alarm == "nudged":
        return None if earlier.alarm == "nudged" else table.clock / 2
    turn = table.game.turn
    is_same_decision = (
        earlier.game is not None
        and not earlier.alarm
        and turn is not None
        and earlier.game.turn == turn
        and earlier.moved_at[turn] == table.moved_at[turn]
    )
    return None if is_same_decision else table.clock / 2


def seconds_left(table: TableState, rings_in: float | None) -> float | None:
    """Return the seconds left for the move or the cut, 0 if time is up; None if no clock runs for a person.

    ``rings_in`` is the time until the table's clock rings, None if it is stopped.
    """
    if table.awaits_cut:
        return max(rings_in or 0.0, 0.0)
    if not table.clock or table.is_practice or table.phase != "playing" or (table.to_move and table.to_move.is_robot):
        return None
    if table.alarm == "flagged":
        return 0.0
    if rings_in is None:
        return None
    return max(rings_in, 0.0) + (0 if table.alarm == "nudged" else table.clock / 2)


def entries_at_alarm(table: TableState) -> list[Entry]:
    """Return the entries to write when the clock rings, if no pack waits for a cut and no robot is to move."""
    if table.phase == "open":
        return [Close("expired")]
    if table.phase != "playing":
        return []
    if table.is_practice:
        return [Stop("cancelled")]
    if table.clock and table.alarm != "flagged":
        return [Flag() if table.alarm else Nudge()]
    return [Stop("cancelled")] if table.has_only_guests else []


def entries_of_late_move(table: TableState, seat: int, moves: Sequence[Move]) -> list[Entry]:
    """Return the entries to write when a robot chooses ``moves`` for a late player.

    Under a strict clock, a player loses the game at the third decision in a row that a robot makes for them.
    """
    if table.strict and table.late_counts[seat] + 1 >= LATE_MOVES_TO_FORFEIT:
        return [Late(seat), Stop("timeout", 1 - (seat & 1))]
    return [Late(seat), *moves]
