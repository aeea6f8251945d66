"""Tables as one who sits there may see them, as JSON tells them: for programs that play."""

from pydantic import Field

from bot.site.watching import PublicTable, public_table
from bot.tables.table import Table


class OwnTable(PublicTable):
    """A table as one who sits there may see it: ``view`` has that seat's hand, too."""

    seat: int | None = Field(description="Where this program sits; null while it only asks for a chair.")
    moves: list[str] = Field(description="What it may do now, in or out of turn, in a record's notation.")


def own_table(table: Table, person: str) -> OwnTable:
    """What somebody at a table may see of it, by nothing but the view of their seat."""
    seat = table.seat_of(person)
    view = table.view(seat) if seat is not None else None
    deal = view.deal if view else None
    known = dict(public_table(table))
    moves = list(view.moves) if view and table.phase == "playing" else []
    return OwnTable.model_construct(**(known | {"view": deal or known["view"], "seat": seat, "moves": moves}))
