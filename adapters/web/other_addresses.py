"""Other words for pages, in all languages: a page is also found under the words of its command, such as ``/regole``."""

from collections.abc import Iterator

from aiohttp import web

from adapters.web.site import Site
from bot.command_names import COMMANDS

# The pages of commands, by the command's English name.
PAGES = {
    "challenge": "/",
    "tables": "/",
    "join": "/",
    "start": "/",
    "find": "/find",
    "daily": "/daily",
    "duel": "/duel",
    "puzzle": "/puzzle",
    "rules": "/rules",
    "learn": "/learn",
    "tournament": "/tournaments",
    "league": "/tournaments",
    "leaderboard": "/leaderboard",
    "settings": "/settings",
    "block": "/blocks",
    "help": "/how-to-play",
}

# Words in the titles of pages that are not commands.
MORE_WORDS = {"come-si-gioca": "/how-to-play", "sicurezza": "/safety", "smazzata-del-giorno": "/daily"}


def other_addresses() -> Iterator[tuple[str, str]]:
    """Yield each other word with the page that it leads to."""
    for spec in COMMANDS:
        if page := PAGES.get(spec.name):
            yield from ((word, page) for word in spec.words if f"/{word}" != page)
    yield from MORE_WORDS.items()


async def redirect(site: Site, request: web.Request) -> web.Response:
    """Redirect to the page, with the rest of the address and the query."""
    word, _slash, subpath = request.path.removeprefix("/").partition("/")
    page = dict(other_addresses())[word]
    # An address that begins with two slashes would lead to another site.
    path = f"{page.rstrip('/')}/{subpath}" if (subpath := subpath.lstrip("/")) else page
    return site.redirect(str(request.rel_url.with_path(path).with_query(request.query)))
