"""Pages about a person's data."""

from collections.abc import Sequence
from hashlib import blake2b

from bot import actions
from bot.panel import Button, Panel, Writer
from bot.texts import texts


def owner_tag(person: str) -> str:
    """Return a tag in a page's buttons that identifies the person who was asked."""
    return blake2b(person.encode(), digest_size=5).hexdigest()


def forget_page(language: str, person: str, resigned: Sequence[str], left: Sequence[str]) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Shall I forget you?"), "bold")
    page.line(_("For good I forget your name, your settings, your ratings and your places in leaderboards."))
    page.line(_("In finished games, their replays and exports, “somebody” takes your place."))
    if resigned:
        page.line(_("You resign where a game is on: {codes}."), codes=", ".join(resigned))
    if left:
        page.line(_("You leave the tables that wait for players: {codes}."), codes=", ".join(left))
    page.line(_("You cannot play today's deal or answer today's puzzle a second time."))
    page.line(_("For that I keep a mark until midnight. It holds neither your name nor your id."))
    page.gap()
    page.line(_("What stands in chats already I cannot take back; its old buttons do nothing any more."))
    page.line(_("If you write to me afterwards, I meet you as a stranger. /mydata sends you what I keep of you."))
    tag = owner_tag(person)
    yes = Button(_("Yes, forget me"), actions.page("forget", "yes", tag), "danger")
    return page.panel((yes, Button(_("No"), actions.page("forget", "no", tag))))


def forgotten_page(language: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("I am forgetting you. In a minute nothing here names you."))
    page.line(_("Farewell! If you write to me again, I meet you as a stranger."))
    return page.panel()


def mydata_page(language: str) -> Panel:
    return _sentence(texts(language).gettext("This is what I keep of you."))


def not_forgotten_page(language: str) -> Panel:
    return _sentence(texts(language).gettext("Good: everything stays as it is."))


def _sentence(text: str) -> Panel:
    page = Writer()
    page.line(text)
    return page.panel()
