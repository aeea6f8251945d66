"""Pages about a person's data."""

from collections.abc import Sequence
from hashlib import blake2b

from bot import actions
from bot.panel import Button, Panel, Span, Writer
from bot.texts import texts


def owner_tag(person: str) -> str:
    """Return the tag in page buttons that identifies the person who was asked."""
    return blake2b(person.encode(), digest_size=5).hexdigest()


def privacy_page(language: str) -> Panel:
    """Return what is stored about a person, and how to get and delete it."""
    _ = texts(language).gettext
    page = Writer(_("Your data"))
    page.line(_("I keep your name, settings, games and ratings. The bot’s host can read them."))
    page.line(_("/mydata sends you all your data as a file."))
    page.line(_("/forget deletes it; I ask first."))
    return page.panel((Button(_("◀ Back"), actions.page("settings")),))


def forget_page(language: str, person: str, resigned: Sequence[str], left_tables: Sequence[str]) -> Panel:
    _ = texts(language).gettext
    page = Writer(_("Shall I forget you?"))
    page.line(_("I delete your name, settings, ratings and leaderboard places for good."))
    page.line(_("In finished games and replays you become “somebody”."))
    if resigned:
        page.line(_("You resign your running games: {codes}."), codes=", ".join(resigned))
    if left_tables:
        page.line(_("You leave your open tables: {codes}."), codes=", ".join(left_tables))
    page.line(_("You can’t play today’s deal or puzzle again: until midnight I keep a mark without your name or id."))
    page.line(_("Messages already in chats stay, but their buttons stop working."))
    page.line(_("Want a copy first? /mydata sends it."))
    tag = owner_tag(person)
    yes_button = Button(_("Yes, forget me"), actions.page("forget", "yes", tag), "danger")
    return page.panel((yes_button, Button(_("No"), actions.page("forget", "no", tag))))


def forgotten_page(language: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("I’m forgetting you: in a minute nothing here has your name."))
    page.line(_("Goodbye! If you write to me again, we start over."))
    return page.panel()


def mydata_page(language: str) -> Panel:
    return Panel((Span(texts(language).gettext("This file has everything I keep about you. Delete it with /forget.")),))


def not_forgotten_page(language: str) -> Panel:
    return Panel((Span(texts(language).gettext("OK, everything stays as it is.")),))
