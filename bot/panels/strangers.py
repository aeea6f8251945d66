"""What people see who do not want to meet somebody: the question, what came of it, and whom they have blocked."""

from collections.abc import Sequence

from bot import actions
from bot.find.blocks import Block
from bot.panel import Button, Panel, Span, Writer
from bot.panels.snapshot import isolated
from bot.texts import texts


def block_question(language: str, name: str, game_id: str, seat: int) -> Panel:
    """Asks whether the player in that seat of a finished game is to be blocked."""
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Block {name}?"), "bold", name=isolated(name))
    page.line(_("I match you with them no more, and they cannot challenge you. Nobody tells them."))
    yes = Button(_("Yes, block"), actions.page("block", "yes", game_id, seat), "danger")
    return page.panel((yes, Button(_("No"), actions.page("block", "no"))))


def blocked_page(language: str, name: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("You have blocked {name}."), name=Span(isolated(name), "bold"))
    page.line(_("/block shows whom you have blocked, and lets you unblock them."))
    return page.panel()


def not_blocked_page(language: str) -> Panel:
    page = Writer()
    page.line(texts(language).gettext("Good: nobody is blocked."))
    return page.panel()


def blocks_page(language: str, blocks: Sequence[Block]) -> Panel:
    """Whom somebody has blocked, as they knew them, each with a button that undoes it."""
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Whom you have blocked"), "bold")
    if not blocks:
        page.line(_("Nobody. There is a button for it beside a stranger's game, or write /block @name."))
    else:
        page.line(
            _("I match you with none of them, and they cannot challenge you by name or sit down at a table of yours.")
        )
    rows = [
        (Button(_("Unblock {name}").format(name=isolated(one.name)), actions.page("block", "undo", one.token)),)
        for one in reversed(blocks)
    ]
    return page.panel(*rows, (Button(_("My own settings"), actions.page("settings")),))
