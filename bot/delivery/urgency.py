"""How loudly a table calls for somebody, and when that is worth a new message."""

import time

from bot.delivery.lowest import LowestHands
from bot.delivery.message_state import MessageState
from bot.delivery.names import Board, Hand
from bot.delivery.surface import Surface
from bot.delivery.table_sync import TableSync
from bot.platform import is_ephemeral, is_private
from bot.tables.table import Table


def seat_urgency(table: Table, seat: int) -> int:
    """How loudly something at the table calls for this seat: 0 not at all, 1 there is something to do, 2 and 3 as time
    runs out.
    """
    if table.game is None or table.error:
        return 1
    turn = table.game.turn
    if turn == seat:
        return {"": 1, "nudged": 2, "flagged": 3}[table.alarm]
    # The others decide what becomes of a player whose time is up; partners do not.
    return int(table.alarm == "flagged" and turn is not None and (turn - seat) & 1)


def surface_urgency(table: Table, surface: Surface, called: tuple[str, str] | None) -> int:
    """What a surface's message is to carry as its urgency: a hand's as above, a board's 1 and the seat to move if that
    player is ``called``, for they are called by a new board, once a turn.
    """
    if isinstance(surface.name, Hand):
        return seat_urgency(table, surface.name.seat)
    turn = table.game.turn if table.game else None
    return 1 + turn if isinstance(surface.name, Board) and called and turn is not None else 0


class RepostPolicy:
    """Knows when a panel comes as a new message, so that the phone rings, though an edit would do.

    ``ring_after`` is the seconds that a person has left a panel alone after which that is so.
    """

    def __init__(self, lowest: LowestHands, ring_after: float) -> None:
        self.lowest, self.ring_after = lowest, ring_after

    def needs_repost(self, sync: TableSync, surface: Surface, place: str, urgency: int) -> bool:
        """Whether a message that stands there gives way to a new one.

        A hand's does when time runs out, and when there is something to do for somebody who is not looking, or looks at
        another table; what is ephemeral never does, for it may not be sent at any time. A board's does for somebody who
        wants to be called and has left their hand alone.
        """
        known = surface.known
        if not known.message or is_ephemeral(place):
            return False
        if is_private(place):
            is_elsewhere = self._is_inactive(known) or not self.lowest.is_lowest(place, sync.code)
            return urgency > known.urgency and (urgency > 1 or is_elsewhere)
        hand = sync.get(Hand(urgency - 1)) or surface
        return urgency not in (0, known.urgency) and self._is_inactive(hand.known)

    def _is_inactive(self, known: MessageState) -> bool:
        # What was seen in the future was seen before a clock was set back, nobody knows when.
        return abs(time.time() - known.seen_at) > self.ring_after
