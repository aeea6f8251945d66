"""Whether a browser keeps the cookie that it was just given.

Someone new is led through ``/cookies?to=ADDRESS``. A browser that blocks cookies would otherwise come to a table as a
stranger, and read there that the table does not exist.
"""

import re

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef
from yarl import URL

from adapters.web.refusals import Refused
from adapters.web.site import Site, browser_language
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

PATH = "/cookies"
ADDRESS = re.compile(r"/(?![/\\])[A-Za-z0-9/?=_-]*")
"""An address of ours."""

BLOCKED = _("Your browser blocks cookies. I need one to recognise you: allow cookies for this site, then try again.")
BLOCKED_IN_APP = _(
    "This window may not keep a cookie, so I do not recognise you. Play in the chat, or open the chat in another "
    "browser or app."
)


def cookie_check_url(address: str) -> str:
    """Return the address to lead someone new to, who wants to go to ``address``."""
    return str(URL(PATH).with_query(to=address))


class CookieCheck:
    """Answers there."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.routes: list[AbstractRouteDef] = [web.get(PATH, self.check)]

    async def check(self, request: web.Request) -> web.Response:
        """Redirect readers who sent their cookie; tell everyone else that it is missing."""
        address = request.query.get("to", "")
        if not ADDRESS.fullmatch(address):
            raise Refused("there is no such request")
        if await self._site.people.identify(request):
            return web.Response(status=303, headers={"Location": address})
        is_framed = request.headers.get("Sec-Fetch-Dest") == "iframe"
        why = texts(language_of(browser_language(request))).gettext(BLOCKED_IN_APP if is_framed else BLOCKED)
        return self._site.page(request, "said.html", why=why)
