"""The choice of the player who cuts a pack."""

from bot.tables.table_state import TableState
from engine.shuffle import first_dealer


def find_cutter(table: TableState, secret: bytes) -> int | None:
    """Return the seat that can cut a pack with this secret; None if no person can.

    It is the last player before the dealer; if that is a robot or away, the one after the dealer. A player is away
    while a robot makes their moves. A program that let the time of a cut pass is not asked again.
    """
    seats = len(table.chairs)
    dealer = table.game.dealer_for(secret) if table.game else first_dealer(seats, secret)
    for seat in ((dealer - 1) % seats, (dealer + 1) % seats):
        chair = table.chairs[seat]
        if chair and not chair.is_robot and not table.lates[seat] and seat not in table.never_cut:
            return seat
    return None
