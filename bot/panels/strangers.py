"""Blocking and reporting at a table of strangers, and phrases to say goodbye."""

from collections.abc import Sequence
from typing import Literal

from bot import actions
from bot.panel import Button, Row
from bot.tables.snapshot import isolate_name
from bot.tables.table_state import FAREWELLS
from bot.texts import texts
from bot.words.phrases import phrase_text

Deed = Literal["block", "report"]  # these words are part of payloads and drafts
DEEDS: tuple[Deed, ...] = ("block", "report")


def deed_label(language: str, deed: Deed, name: str, count: int) -> str:
    """Return the label of an action's button, with the name if there are several strangers (``count``)."""
    _ = texts(language).gettext
    label = {"block": _("🚫 Block"), "report": _("🚩 Report")}[deed]
    return f"{label} {name}" if count > 1 else label


def deed_question(language: str, deed: Deed, name: str) -> tuple[str, str, str]:
    """Return the question before an action, its consequence, and the label of the yes button."""
    _ = texts(language).gettext
    if deed == "block":
        return (
            _("Block {name}?").format(name=name),
            _("I won’t match you again, or call you when they challenge you. They won’t know."),
            _("Yes, block"),
        )
    note = _("The host sees who you both are and how this game went. {name} won’t know.")
    return _("Report {name} to the bot’s host?").format(name=name), note.format(name=name), _("Yes, report")


def farewell_row(language: str, game_id: str) -> Row:
    return tuple(
        Button(f"💬 {phrase_text(language, phrase)}", actions.page("say", game_id, phrase)) for phrase in FAREWELLS
    )


def deed_row(language: str, game_id: str, strangers: Sequence[tuple[int, str]]) -> Row:
    """Return buttons for actions about the strangers in a finished game; ``strangers`` are their seats and names."""
    return tuple(
        Button(deed_label(language, deed, isolate_name(name), len(strangers)), actions.page(deed, "ask", game_id, seat))
        for deed in DEEDS
        for seat, name in strangers
    )
