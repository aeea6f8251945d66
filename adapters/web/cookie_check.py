"""The check whether a browser kept the cookie it was just given.

New people are redirected through ``/cookies?to=ADDRESS``. Without it a browser that blocks cookies would reach the
table as a stranger and read that the table does not exist.
"""

import re

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef

from adapters.web.refusals import Refused
from adapters.web.site import COOKIE_CHECK, Site, browser_language
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

ADDRESS = re.compile(r"/(?![/\\])[A-Za-z0-9/?=_-]*")  # an address on this site
BLOCKED = _("Your browser blocks cookies. I need one to recognise you: allow cookies for this site, then try again.")
BLOCKED_IN_APP = _(
    "This window may not keep a cookie, so I do not recognise you. Play in the chat, or open the chat in another "
    "browser or app."
)


class CookieCheck:
    """The handler of ``/cookies``."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.routes: list[AbstractRouteDef] = [web.get(COOKIE_CHECK, self.check)]

    async def check(self, request: web.Request) -> web.Response:
        """Redirect readers who sent their cookie; tell all others that it is missing."""
        address = request.query.get("to", "")
        if not ADDRESS.fullmatch(address):
            raise Refused("there is no such request")
        if await self._site.people.identify(request):
            return self._site.redirect(address)
        is_framed = request.headers.get("Sec-Fetch-Dest") == "iframe"
        why = texts(language_of(browser_language(request))).gettext(BLOCKED_IN_APP if is_framed else BLOCKED)
        return self._site.message_page(request, why)
