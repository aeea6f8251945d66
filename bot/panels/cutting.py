"""The moment before a deal in which an opponent of the dealer can cut the pack."""

from bot import actions
from bot.panel import Button, Role, Row, Span, Writer
from bot.tables.snapshot import TableSnapshot
from bot.words.table_lines import turn_line
from bot.words.wording import Wording


def write_cut_task(page: Writer, seen: TableSnapshot, words: Wording) -> None:
    """Write who can cut the pack, and the seal of its secret."""
    page.line(turn_line(seen, words), "bold")
    page.line(words.text("🔒 Seal: {seal}"), "small", seal=Span(seen.cutting.seal, "code"))


def cut_row(seen: TableSnapshot, words: Wording) -> Row:
    """Return the button that cuts the pack."""
    _ = words.text
    return (Button(_("✂️ Cut the pack"), actions.cut(seen.code, seen.cutting.sealed_at), "good", role=Role.CUT),)
