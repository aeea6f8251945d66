"""Tables as a program sees them from its seat, as JSON."""

from pydantic import Field

from bot.site.watching import PublicTable, public_table
from bot.tables.table import Table


class OwnTable(PublicTable):
    """A table as a player sees it. ``view`` includes the player's hand."""

    seat: int | None = Field(description="This program's seat; null while it asks for one.")
    moves: list[str] = Field(description="The legal moves now, in or out of turn, in a record's notation.")


def own_table(table: Table, person: str) -> OwnTable:
    """Return the table as a person sees it, using only the view of their seat."""
    seat = table.seat_of(person)
    view = table.view(seat) if seat is not None else None
    deal = view.deal if view else None
    known = dict(public_table(table))
    moves = list(view.moves) if view and table.phase == "playing" else []
    return OwnTable.model_construct(**(known | {"view": deal or known["view"], "seat": seat, "moves": moves}))
