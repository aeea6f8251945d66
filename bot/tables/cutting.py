"""The choice of the player who cuts a pack."""

from bot.tables.table_state import TableState
from engine.shuffle import first_dealer


def possible_cutters(table: TableState, secret: bytes) -> tuple[int, int]:
    """Return the seats that the log's rules allow to cut: those before and after the dealer.

    This must never depend on people, lateness or the release. Otherwise logs would become unreadable.
    """
    seats = len(table.chairs)
    dealer = table.game.dealer_for(secret) if table.game else first_dealer(seats, secret)
    return (dealer - 1) % seats, (dealer + 1) % seats


def find_cutter(table: TableState, secret: bytes) -> int | None:
    """Return the seat that can cut a pack with this secret; None if no person can.

    It is the player before the dealer. If that player is a robot or away, it is the player after the dealer. A player
    is away while a robot makes their moves. A program that did not cut in time is not asked again.
    """
    for seat in possible_cutters(table, secret):
        chair = table.chairs[seat]
        if chair and not chair.is_robot and not table.late_counts[seat] and seat not in table.never_cut:
            return seat
    return None
