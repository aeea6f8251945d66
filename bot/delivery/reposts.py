"""Reposts: how urgent a table is for a person, and when that needs a new message instead of an edit."""

import time
from collections.abc import Callable

from cachetools import FIFOCache

from bot.delivery.message_state import MessageState
from bot.delivery.surface import Surface
from bot.delivery.surface_names import Board, Hand
from bot.delivery.table_sync import TableSync
from bot.platform import is_ephemeral, is_private
from bot.tables.table import Table

RING_SECONDS = 45  # time without a press after which a turn comes as a new message, so that the phone rings
PLACES_CACHED = 100_000  # maximum number of private chats whose lowest hand is remembered


def seat_urgency(table: Table, seat: int) -> int:
    """Return a seat's urgency: 0 nothing, 1 something to do, 2 and 3 as time runs out."""
    if table.game is None or table.error:
        return 1
    turn = table.game.turn
    if turn == seat:
        return {"": 1, "nudged": 2, "flagged": 3}[table.alarm]
    # The opponents of a timed-out player decide how to go on, not the partner.
    return int(table.alarm == "flagged" and turn is not None and (turn - seat) & 1)


def surface_urgency(table: Table, surface: Surface, player_to_call: tuple[str, str] | None) -> int:
    """Return the urgency stored with a surface's message.

    A hand has its seat's urgency. A board has 1 plus the seat to move if that player wants to be called, so each of
    their turns notifies them once with a new board. ``player_to_call`` is that person and their name.
    """
    if isinstance(surface.name, Hand):
        return seat_urgency(table, surface.name.seat)
    turn = table.game.turn if table.game else None
    return 1 + turn if isinstance(surface.name, Board) and player_to_call and turn is not None else 0


class LowestHands:
    """The table whose hand is the lowest (the newest) in each private chat.

    This worker's sends and other workers' notifications keep it up to date. After a lost notification a hand can be
    edited instead of sent again, or the reverse, but its content is always right.
    """

    def __init__(self, on_sent: Callable[[str, str], None] | None = None) -> None:
        """``on_sent`` notifies other workers of the place and the table of a hand that this worker sent."""
        self._tables: FIFOCache[str, str] = FIFOCache(PLACES_CACHED)
        self._on_sent = on_sent

    def record_sent(self, place: str, code: str) -> None:
        """Note a hand that this worker sent, and notify the other workers."""
        self.record(place, code)
        if self._on_sent:
            self._on_sent(place, code)

    def record(self, place: str, code: str) -> None:
        """Note the table of the lowest hand in a private chat."""
        self._tables[place] = code

    def is_lowest(self, place: str, code: str) -> bool:
        """Return whether a table's hand is lowest in a private chat; True if unknown."""
        return self._tables.get(place, code) == code


class RepostPolicy:
    """Decides when a new message must replace a surface's message, so that the phone rings.

    A person is inactive if they have not used the surface for ``ring_after`` seconds.
    """

    def __init__(self, lowest: LowestHands, ring_after: float) -> None:
        self.lowest, self.ring_after = lowest, ring_after

    def needs_repost(self, sync: TableSync, surface: Surface, place: str, urgency: int) -> bool:
        """Return whether a new message must replace the current one.

        A hand is reposted when time runs out, or when there is something to do for a person who is inactive or plays at
        another table. Ephemeral messages are never reposted, because they can usually be sent only in reply to a press
        or command. A board is reposted for a player who wants to be notified and has not used their hand.
        """
        message_state = surface.message_state
        if not message_state.message or is_ephemeral(place):
            return False
        if is_private(place):
            needs_attention = self._is_inactive(message_state) or not self.lowest.is_lowest(place, sync.code)
            return urgency > message_state.urgency and (urgency > 1 or needs_attention)
        # A board's urgency is 1 plus the seat to move.
        hand = sync.get(Hand(urgency - 1)) or surface
        return urgency not in (0, message_state.urgency) and self._is_inactive(hand.message_state)

    def _is_inactive(self, message_state: MessageState) -> bool:
        # A time in the future was stored before a clock was set back. It counts as inactive if it is far ahead.
        return abs(time.time() - message_state.seen_at) > self.ring_after
