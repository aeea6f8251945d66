"""What people at a table of strangers may say and do about each other."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from bot import actions
from bot.panel import Button, Row
from bot.tables.snapshot import isolated
from bot.tables.table import FAREWELLS
from bot.texts import texts

Deed = Literal["block", "report"]
"""What may be done about a stranger. The word stands in payloads and drafts."""


DEEDS: tuple[Deed, ...] = ("block", "report")


def deed_label(language: str, deed: Deed, name: str, count: int) -> str:
    """The button that asks whether it is to be done to whoever is called so, if there are so many of whom to ask."""
    _ = texts(language).gettext
    label = {"block": _("🚫 Block"), "report": _("🚩 Report")}[deed]
    return f"{label} {name}" if count > 1 else label


def phrase_text(language: str, phrase: str) -> str:
    """One of the phrases that strangers say (`bot.tables.table.PHRASES`), as it reads in a language."""
    _ = texts(language).gettext
    return {
        "hello": _("Hello!"),
        "luck": _("Good luck!"),
        "played": _("Well played!"),
        "thanks": _("Thank you!"),
        "sorry": _("Sorry!"),
        "game": _("Good game!"),
    }[phrase]


class Question(NamedTuple):
    """What is asked before something is done: the question, what it comes to, and what a yes reads."""

    question: str
    consequence: str
    yes: str


def deed_question(language: str, deed: Deed, name: str) -> Question:
    """The question whether it is to be done to whoever is called so."""
    _ = texts(language).gettext
    if deed == "block":
        return Question(
            _("Block {name}?").format(name=name),
            _("I match you with them no more, and do not call you where they challenge you. Nobody tells them."),
            _("Yes, block"),
        )
    told = _("They are told who you both are, and read how this game was played. Nobody tells {name}.")
    return Question(_("Report {name} to whoever hosts me?").format(name=name), told.format(name=name), _("Yes, report"))


def farewell_row(language: str, game_id: str) -> Row:
    """What may be said when a game of strangers is over."""
    return tuple(Button(f"💬 {phrase_text(language, one)}", actions.page("say", game_id, one)) for one in FAREWELLS)


def deed_row(language: str, game_id: str, others: Sequence[tuple[int, str]]) -> Row:
    """What may be done about whoever sat in these seats of a finished game, by these names."""
    return tuple(
        Button(deed_label(language, deed, isolated(name), len(others)), actions.page(deed, "ask", game_id, seat))
        for deed in DEEDS
        for seat, name in others
    )
