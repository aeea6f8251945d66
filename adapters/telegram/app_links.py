"""Links that open a page of ours in the bot's main Mini App: ``https://t.me/<bot>?startapp=t_K7QF2M``.

The value after ``startapp`` has at most 512 characters, all of ``A-Z a-z 0-9 _ -``
(core.telegram.org/bots/webapps#direct-link-mini-apps).
"""

import re

UNKNOWN_PAGE = "/?unknown"
"""The first page, which then says that the link leads nowhere."""

ID, STEP = "[A-Za-z0-9-]{1,99}", r"d\d{1,4}(?:m\d{1,4})?"
START = re.compile(
    rf"g_(?P<game>{ID})(?:_(?P<step>{STEP}))?|(?P<kind>t|duel|match|tournament|learn|puzzle)_(?P<id>{ID})"
    "|(?P<single>daily|puzzle|duel|learn|tournaments)"
)
"""A start value: a page's path with "_" instead of "/". Puzzles have their id in a query, replays a step after "#"."""

PUZZLE = "/puzzle?id="


def app_link(username: str, page: str) -> str:
    """Return the link to a page such as ``/t/K7QF2M``; empty if the app opens no such page by a link."""
    start = page.replace(PUZZLE, "/puzzle/").removeprefix("/").replace("/", "_").replace("#", "_", 1)
    return f"https://t.me/{username}?startapp={start}" if START.fullmatch(start) else ""


def page_of(start: str) -> str:
    """Return the page that a start value names. The value comes from the link, so anyone can choose it."""
    match = START.fullmatch(start)
    if match is None:
        return UNKNOWN_PAGE
    if match["single"]:
        return f"/{match['single']}"
    if match["game"]:
        return f"/g/{match['game']}#{match['step']}" if match["step"] else f"/g/{match['game']}"
    return f"{PUZZLE}{match['id']}" if match["kind"] == "puzzle" else f"/{match['kind']}/{match['id']}"
