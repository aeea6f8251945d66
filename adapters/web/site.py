"""The web server of the bot's process: one address for all pages, the playground's chat, /healthz and /metrics."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from math import ceil
from typing import Any

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef
from cachetools import TTLCache, cached

from adapters.web.access import Access
from adapters.web.api.problems import ApiError
from adapters.web.assets import Assets
from adapters.web.languages import negotiate
from adapters.web.limits import LimitExceeded, Limits
from adapters.web.people import READER_COOKIE, WebPeople, WebPerson, set_cookie
from adapters.web.refusals import Refused
from adapters.web.templates import Templates
from bot import monitoring
from bot.addresses import Visitor
from bot.card_room import CardRoom
from bot.connections import PER_ADDRESS, Connections, connection_limit
from bot.settings import BadSetting
from bot.store import STORE_ERRORS
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts
from bot.web_server import body_timeout, listen

REMEDY = "set BUONGIOCO_PLAYGROUND_PORT or BUONGIOCO_PLAYGROUND_HOST, or BUONGIOCO_PLAYGROUND=false"
ANY_ADDRESS = {"": socket.AF_INET, "0.0.0.0": socket.AF_INET, "::": socket.AF_INET6}  # noqa: S104 - to be named
"""Where one listens on every address of a kind; at ``::`` asyncio takes those of IPv6 alone."""

DOCUMENTATION_ADDRESS = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
LOOPBACK = {socket.AF_INET: "127.0.0.1", socket.AF_INET6: "::1"}
ADDRESS_SECONDS = 60.0
"""How old what is known of this machine's address may be: it may come into another network."""

TOO_MUCH = _("Too much was asked for from where you are: try again in a minute.")
NOTHING_HERE = _("There is nothing here: the link may be wrong.")

MOST_SENT = 8192
"""Bytes of a request's body: what a Mini App says of its person is the longest."""

SHARE_OF_FILES = 0.8
"""The share of the process's open files that connections may have: all streams and pages (`adapters.web.limits`)."""

CONTENT_SECURITY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
    )
)
NOBODY = "'none'"
SECURITY = {
    "X-Content-Type-Options": "nosniff",
    # With "no-referrer" browsers leave out where a form comes from, which is looked at.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Site:
    """Serves what was added to it. ``listening`` is whether it does so just now."""

    def __init__(self, card_room: CardRoom) -> None:
        self._card_room = card_room
        self._host, self.port = card_room.settings.playground_host, card_room.settings.playground_port
        self.access = Access(card_room.settings)
        self.people = WebPeople(card_room)
        self.limits = Limits(self.access, on=card_room.settings.rate_limits)
        self.assets = Assets()
        self.templates = Templates(self.assets)
        self._routes: list[AbstractRouteDef] = []
        self.listening = False
        self.on_closing: list[Callable[[], None]] = []
        """Called when it closes: what waits for news ends, so that nobody waits for it."""
        self._failure: BadSetting | None = None
        self._has_failed = asyncio.Event()
        self._security = SECURITY

    def guest_visitor(self, request: web.Request, reader: WebPerson) -> Visitor | None:
        """Return from where a guest comes; None for people of a chat, whose platform knows them."""
        is_counted = reader.is_guest and self._card_room.settings.rate_limits
        return self.access.visitor(request) if is_counted else None

    def add(self, routes: Sequence[AbstractRouteDef]) -> None:
        """Have something served, from the next time on that it listens."""
        self._routes += routes

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Listen meanwhile; BadSetting where it cannot."""
        frames = [app.frame_origin for app in self._card_room.mini_apps.values()] if self.is_secure else []
        policy = f"{CONTENT_SECURITY}; frame-ancestors {' '.join(frames or [NOBODY])}"
        self._security = {**SECURITY, "Content-Security-Policy": policy}
        app = web.Application(middlewares=[self._guard], client_max_size=MOST_SENT)
        app.add_routes(self._routes)
        monitoring.add_monitoring(app, self._card_room, self._host)
        connections = Connections(
            connection_limit(SHARE_OF_FILES),
            PER_ADDRESS if self._card_room.settings.rate_limits else sys.maxsize,
            behind_proxy=self.access.public is not None,
        )
        try:
            runner = await listen(app, self._host, self.port, "The playground", REMEDY, connections)
        except BadSetting as error:
            self._failure = error
            self._has_failed.set()
            raise
        self._has_failed.clear()
        try:
            self.port = runner.addresses[0][1]
            self.listening = True
            yield
        finally:
            self.listening = False
            for close in self.on_closing:
                close()
            await runner.cleanup()

    async def wait_for_failure(self) -> None:
        """Wait until it cannot be served, and raise why: for adapters whose pages stand here beside another's."""
        await self._has_failed.wait()
        assert self._failure
        raise self._failure

    @property
    def url(self) -> str:
        """Where it is for those who may come, without a slash at its end."""
        if self.access.public:
            return str(self.access.public)
        shown = _own_address(ANY_ADDRESS[self._host]) if self._host in ANY_ADDRESS else self._host
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}"

    @property
    def is_secure(self) -> bool:
        """Whether it is reached by https, so that cookies are for that alone."""
        return self.access.public is not None and self.access.public.scheme == "https"

    def page(self, request: web.Request, template: str, language: str = "", /, **values: object) -> web.Response:
        """A page (`Templates.page`), in a language or in that which its reader's browser speaks."""
        text = self.templates.page(template, language or language_of(browser_language(request)), **values)
        headers = {"Cache-Control": "no-cache", "Vary": "Accept-Language, Cookie"}
        return web.Response(text=text, content_type="text/html", headers=headers)

    def said(self, request: web.Request, status: HTTPStatus, why: str) -> web.Response:
        """A page that says one thing, and leads home; nothing but the text where no page was asked for."""
        if "text/html" not in request.headers.get("Accept", ""):
            return web.Response(text=why, status=status)
        page = self.page(request, "said.html", why=why)
        page.set_status(status)
        return page

    def check_own_page(self, request: web.Request) -> None:
        """Refused unless one of our own pages asks: browsers say so where something is written or a socket opened, and
        another site's page was refused already.
        """
        if "Origin" not in request.headers:
            raise Refused("Only a page of this address may ask for this.")

    async def read_form(self, request: web.Request) -> dict[str, str]:
        """What a form of one of our pages says; Refused for any other, and for what is none."""
        self.check_own_page(request)
        is_form = request.content_type == "application/x-www-form-urlencoded"
        # In others half of a surrogate pair may come, which nothing can be done with.
        if not is_form or (request.charset or "utf-8").lower() != "utf-8":
            raise Refused("there is no such request")
        try:
            async with body_timeout():
                return {name: str(said) for name, said in (await request.post()).items()}
        except ValueError:
            # Bytes that are no text.
            raise Refused("there is no such request") from None

    @web.middleware
    async def _guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        """Count every request. Refuse those that another site had a browser make, that came by another name, or past a
        closed door.
        """
        language = language_of(browser_language(request))
        try:
            self.limits.count_request(request)
            is_watching, is_framed = request.path in monitoring.PATHS, request.path.startswith("/app/")
            self.access.check(request.headers, request.version, is_watching, is_framed)
            response: web.StreamResponse = await handler(request)
        except Refused as refused:
            if _is_api_request(request):
                response = ApiError(HTTPStatus.FORBIDDEN, str(refused)).response()
                response.headers.update(self._security)
                return response
            response = self.said(request, HTTPStatus.FORBIDDEN, refused.text(language))
        except LimitExceeded as refused:
            if _is_api_request(request):
                response = ApiError(HTTPStatus.TOO_MANY_REQUESTS, str(refused), refused.wait).response()
                response.headers.update(self._security)
                return response
            response = self.said(request, HTTPStatus.TOO_MANY_REQUESTS, texts(language).gettext(TOO_MUCH))
            response.headers["Retry-After"] = str(ceil(refused.wait))
        except web.HTTPNotFound:
            response = self.said(request, HTTPStatus.NOT_FOUND, texts(language).gettext(NOTHING_HERE))
        except web.HTTPException as answer:
            answer.headers.update(self._security)
            raise
        except ConnectionError:
            # It is whoever asked that is away: errors of the store's connections are of the Redis client's own class.
            raise
        except STORE_ERRORS as error:
            why = self._card_room.report_store_error(error, language)
            response = self.said(request, HTTPStatus.SERVICE_UNAVAILABLE, why)
        if not response.prepared:
            response.headers.update(self._security)
            response.headers.setdefault("Cache-Control", "no-cache")
            if response.content_type == "text/html" and (cookie := request.get(READER_COOKIE)):
                # After they have left the browser nobody comes back to it by the browser's own Back.
                response.headers["Cache-Control"] = "no-store"
                if request.method == "GET":
                    # Whoever comes again and again stays who they are.
                    set_cookie(response, cookie, request.cookies[cookie], secure=self.is_secure)
        return response


def _is_api_request(request: web.Request) -> bool:
    """Whether errors are answered as the interface for programs has them."""
    return request.path == "/api" or request.path.startswith("/api/")


def browser_language(request: web.Request) -> str:
    """Return the language of ours that a browser asks for; empty if it asks for none of them."""
    return negotiate(",".join(request.headers.getall("Accept-Language", [])))


@cached(TTLCache(2, ADDRESS_SECONDS))
def _own_address(family: socket.AddressFamily) -> str:
    """This machine's address on its network, as far as it knows one; boards ask for it whenever they are drawn."""
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as line:
        # Nothing is sent by that.
        line.connect((DOCUMENTATION_ADDRESS[family], 9))
        return str(line.getsockname()[0])
    return LOOPBACK[family]


async def until_cancelled() -> None:
    await asyncio.Event().wait()
