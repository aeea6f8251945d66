"""Texts and buttons of the moment before a deal, when an opponent of the dealer can cut the pack."""

from bot import actions
from bot.panel import Button, Role, Row, Writer
from bot.tables.snapshot import TableSnapshot
from bot.words.table_lines import turn_line
from bot.words.wording import Wording


def write_cut_task(page: Writer, snapshot: TableSnapshot, words: Wording) -> None:
    """Write who can cut the pack."""
    page.line(turn_line(snapshot, words), "bold")


def stand_button(code: str, words: Wording) -> Button:
    _ = words.text
    return Button(_("Stand up"), actions.table(code, "stand"))


def cut_row(snapshot: TableSnapshot, words: Wording, *, is_for_cutter: bool) -> Row:
    """Return the button that cuts the pack, if ``is_for_cutter``, and the one that shows the whole seal."""
    _ = words.text
    deal = snapshot.view.deal_number + 1 if snapshot.view else 1
    seal = Button(_("🔒 Fair shuffle"), actions.page("fair", snapshot.code, deal, actions.SEPARATE), role=Role.SEAL)
    cut = Button(_("✂️ Cut the pack"), actions.cut(snapshot.code, snapshot.cutting.sealed_at), "good", role=Role.CUT)
    return (cut, seal) if is_for_cutter else (seal,)
