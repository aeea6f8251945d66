"""Links that open a page of ours in the bot's main Mini App: ``https://t.me/<bot>?startapp=t_K7QF2M``.

The value after ``startapp`` has at most 512 characters, all of ``A-Z a-z 0-9 _ -``
(core.telegram.org/bots/webapps#direct-link-mini-apps).
"""

import re

UNKNOWN_PAGE = "/?unknown"
"""The first page, which then says that the link leads nowhere."""

START = re.compile(r"(t|g|duel|tournament|learn|puzzle)_([A-Za-z0-9-]{1,99})|(daily|puzzle|duel|learn|tournaments)")
"""A start value: a page's path with "_" instead of "/". Puzzles have their id in a query."""

PUZZLE = "/puzzle?id="


def app_link(username: str, page: str) -> str:
    """Return the link to a page such as ``/t/K7QF2M``; empty if the app opens no such page by a link."""
    start = page.replace(PUZZLE, "/puzzle/").removeprefix("/").replace("/", "_")
    return f"https://t.me/{username}?startapp={start}" if START.fullmatch(start) else ""


def page_of(start: str) -> str:
    """Return the page that a start value names. The value comes from the link, so anyone can choose it."""
    found = START.fullmatch(start)
    if found is None:
        return UNKNOWN_PAGE
    kind, id_, single = found.groups()
    if single:
        return f"/{single}"
    return f"{PUZZLE}{id_}" if kind == "puzzle" else f"/{kind}/{id_}"
