"""Panels about a person's browsers."""

import time
from collections.abc import Sequence

from bot import actions
from bot.panel import Button, Panel, Writer
from bot.site.sessions import Session
from bot.texts import texts


def link_panel(language: str, address: str) -> Panel:
    """Return a link that signs its reader in."""
    _ = texts(language).gettext
    page = Writer()
    page.line(_("This link opens your cards in a browser. It works once, within ten minutes."))
    page.line(_("Keep it to yourself: whoever opens it plays as you. /settings shows and ends browsers."))
    return page.panel((Button(_("Open in the browser"), address, "good", kind="link"),))


def browsers_page(language: str, sessions: Sequence[Session], *, can_open: bool) -> Panel:
    """List a person's browsers, each with a button that ends it.

    ``can_open`` is whether another one can be opened.
    """
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Browsers in which you play"), "bold")
    if not sessions:
        page.line(_("None: the button below your cards opens one."))
    for number, session in enumerate(sessions, 1):
        page.line(
            _("{number}. since {made}, last used {used}"),
            number=number,
            made=_day(session.made),
            used=_day(session.used),
        )
    opening = (Button(_("Open in the browser"), actions.page("browsers", "home")),) if can_open else ()
    ends = tuple(
        Button(_("End {number}").format(number=number), actions.page("browsers", "end", session.id), "danger")
        for number, session in enumerate(sessions, 1)
    )
    all_ = (Button(_("End all"), actions.page("browsers", "end", "all"), "danger"),) if len(sessions) > 1 else ()
    return page.panel(opening, ends, all_, (Button(_("◀ Back"), actions.page("settings")),))


def _day(at: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(at))
