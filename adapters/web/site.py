"""The web server of the bot's process: one address for all pages, the playground's chat, /healthz and /metrics."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from math import ceil
from typing import Any

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef
from cachetools import TTLCache, cached
from yarl import URL

from adapters.web.access import Access
from adapters.web.api.problems import ApiError
from adapters.web.app_visitors import AppVisitors
from adapters.web.assets import Assets
from adapters.web.languages import negotiate
from adapters.web.limits import LimitExceeded, Limits
from adapters.web.people import COOKIE, FRAMED, READER_COOKIE, READER_TAG, WebPeople, WebPerson, set_cookie
from adapters.web.refusals import Refused
from adapters.web.templates import Templates
from bot.card_room import CardRoom
from bot.http.addresses import Visitor
from bot.http.connections import PER_ADDRESS, Connections, connection_limit
from bot.http.server import body_timeout, listen
from bot.panel import Panel
from bot.platform import NotDelivered
from bot.rate_limiter import RateLimit
from bot.running import monitoring
from bot.settings import BadSetting
from bot.site.mini_app import MiniApp
from bot.store import STORE_ERRORS
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

REMEDY = "set BUONGIOCO_PLAYGROUND_PORT or BUONGIOCO_PLAYGROUND_HOST, or BUONGIOCO_PLAYGROUND=false"
# Hosts that mean every address of a family, each with a distant address that is reserved for documentation. With
# ``::`` asyncio listens on IPv6 only.
ANY_ADDRESS = {"": "192.0.2.1", "0.0.0.0": "192.0.2.1", "::": "2001:db8::1"}  # noqa: S104 - only names
ADDRESS_SECONDS = 60.0  # lifetime of this machine's cached address, since the machine can change networks
COOKIE_CHECK = "/cookies"
ACTIVITY = "discord"  # the platform whose app opens the first page
TRIED_COOKIE = "buongioco_probe"  # set by static/cookies.js

TOO_MUCH = _("Too many requests from your network: try again in a minute.")
NOTHING_HERE = _("There’s nothing here: check the link.")

MAX_SENT = 8192  # bytes of a request's body; a Mini App sends the longest
SHARE_OF_FILES = 0.8  # maximum of connections, as a share of the files that the process can open

CONTENT_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; manifest-src 'self'"
)
NO_SNIFFING = {"X-Content-Type-Options": "nosniff"}
PARTS = ("text/css", "text/javascript")  # for these types, browsers ignore all other security headers
SECURITY = {
    **NO_SNIFFING,
    # With "no-referrer", browsers would send no Origin with forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Site:
    """The web server. ``listening`` is true while it accepts connections."""

    def __init__(self, card_room: CardRoom) -> None:
        self.card_room = card_room
        self._host, self.port = card_room.settings.playground_host, card_room.settings.playground_port
        self.access = Access(card_room.settings)
        self.people = WebPeople(card_room)
        self._app_visitors = AppVisitors(self.people)
        self.limits = Limits(self.access, on=card_room.settings.rate_limits)
        self.assets = Assets()
        self.templates = Templates(self.assets)
        self.routes: list[AbstractRouteDef] = []  # added to the application by the next `open`
        self.listening = False
        self.on_closing: list[Callable[[], None]] = []  # called at shutdown, to end streams that wait for changes
        self._failure: BadSetting | None = None
        self._has_failed = asyncio.Event()
        self._security = SECURITY

    def guest_visitor(self, request: web.Request, reader: WebPerson) -> Visitor | None:
        """Return a guest's visitor, for limits; None for people of a chat, and if the host has turned limits off."""
        is_counted = reader.is_guest and self.card_room.settings.rate_limits
        return self.access.visitor(request) if is_counted else None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Listen until the context ends. Raises `BadSetting` if the address cannot be used."""
        apps = self.card_room.mini_apps.values() if self.is_secure else ()
        frames = [origin for app in apps for origin in app.frame_origins]
        ancestors = " ".join(frames) or "'none'"
        self._security = {**SECURITY, "Content-Security-Policy": f"{CONTENT_SECURITY}; frame-ancestors {ancestors}"}
        app = web.Application(middlewares=[self._guard], client_max_size=MAX_SENT)
        app.add_routes(self.routes)
        monitoring.add_monitoring(app, self.card_room, self._host)
        connections = Connections(
            connection_limit(SHARE_OF_FILES),
            PER_ADDRESS if self.card_room.settings.rate_limits else sys.maxsize,
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
        """Wait until the server fails to listen and raise the reason, for adapters that share the site."""
        await self._has_failed.wait()
        assert self._failure
        raise self._failure

    @property
    def url(self) -> str:
        """The site's address for its visitors, without a trailing slash."""
        if self.access.public:
            return str(self.access.public)
        host = _own_address(ANY_ADDRESS[self._host]) if self._host in ANY_ADDRESS else self._host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def is_secure(self) -> bool:
        """True if the public address is https. Cookies are then marked Secure."""
        return self.access.public is not None and self.access.public.scheme == "https"

    def page(
        self,
        request: web.Request,
        template: str,
        language: str = "",
        status: HTTPStatus = HTTPStatus.OK,
        /,
        **values: object,
    ) -> web.Response:
        """Render a template (`Templates.page`), by default in the browser's language."""
        language = language or language_of(browser_language(request))
        notice, reader_tag = self.card_room.lobby.notice(language), request.get(READER_TAG)
        # The platform whose app shows the page. Not verified: it only chooses scripts and styles.
        app = request.cookies.get(FRAMED, "").partition(":")[0]
        text = self.templates.page(template, language, notice=notice, reader_tag=reader_tag, app=app, **values)
        headers = {"Cache-Control": "no-cache", "Vary": "Accept-Language, Cookie"}
        return web.Response(text=text, status=status, content_type="text/html", headers=headers)

    def fresh_page(self, request: web.Request, template: str, language: str = "", /, **values: object) -> web.Response:
        """Render a page that the browser's Back loads again, for example because its form can be sent only once."""
        page = self.page(request, template, language, **values)
        page.headers["Cache-Control"] = "no-store"
        return page

    def message_page(
        self,
        request: web.Request,
        text: str,
        status: HTTPStatus = HTTPStatus.OK,
        language: str = "",
        watch_id: str = "",
        cookie: str = "",
    ) -> web.Response:
        """Return a page with one message and a link home, or to the table to watch. ``cookie`` is for a new guest."""
        page = self.page(request, "message.html", language, status, text=text, watch_id=watch_id)
        if cookie:
            set_cookie(page, COOKIE, cookie, secure=self.is_secure)
        return page

    def message(self, request: web.Request, status: HTTPStatus, text: str) -> web.Response:
        """Return a `message_page`, or plain text if the client does not accept HTML."""
        if "text/html" in request.headers.get("Accept", ""):
            return self.message_page(request, text, status)
        return web.Response(text=text, status=status)

    def redirect(
        self, address: str, cookie: str = "", value: str = "", request: web.Request | None = None
    ) -> web.Response:
        """Redirect to a page of this site.

        If a cookie is set, `sign_in.check_cookie` first checks that the browser keeps it. The check takes a round trip,
        so it is left out if the ``request`` has the cookie that our pages try.
        """
        is_proven = request is not None and TRIED_COOKIE in request.cookies
        location = str(URL(COOKIE_CHECK).with_query(to=address)) if value and not is_proven else address
        response = web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": location})
        if value:
            set_cookie(response, cookie, value, secure=self.is_secure)
        return response

    async def reader(self, request: web.Request) -> tuple[WebPerson | None, str]:
        """Return the reader, or None for a stranger, and the language of their page."""
        reader = await self.people.identify(request)
        return reader, await self._language(request, reader)

    async def _language(self, request: web.Request, reader: WebPerson | None) -> str:
        """Return the reader's language; for strangers, their browser's."""
        preferred = browser_language(request)
        return await self.card_room.lobby.language_of(reader.person, preferred) if reader else language_of(preferred)

    async def admit(self, request: web.Request, reader: WebPerson | None, name: str = "") -> tuple[WebPerson, str, str]:
        """Return the reader under their chosen name, the cookie of a new guest or "", and their language.

        A stranger becomes a guest. Raise `Refused` for a banned reader, or if too many guests come at once.
        """
        language = await self._language(request, reader)
        if reader:
            if text := self.card_room.lobby.ban_text(reader.person, language):
                raise Refused(text)
            return await self.people.rename(reader, name), "", language
        self.limits.count_newcomer(request)
        reader, cookie = await self.people.add_guest(name)
        return reader, cookie, language

    def check_own_page(self, request: web.Request) -> None:
        """Raise `Refused` without an `Origin`, which our pages send. `Access.check` refuses other sites."""
        if "Origin" not in request.headers:
            raise Refused("Only a page of this address can ask for this.")

    async def read_form(self, request: web.Request) -> dict[str, str]:
        """Return the form that one of our pages sent; raise `Refused` for anything else."""
        self.check_own_page(request)
        is_form = request.content_type == "application/x-www-form-urlencoded"
        # Other encodings can yield lone surrogates, which cannot be stored.
        if not is_form or (request.charset or "utf-8").lower() != "utf-8":
            raise Refused("there is no such request")
        try:
            async with body_timeout():
                return {name: str(value) for name, value in (await request.post()).items()}
        except ValueError:
            raise Refused("there is no such request") from None

    @web.middleware
    async def _guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        """Check and limit every request, turn errors into pages, and renew the reader's cookie."""
        language = language_of(browser_language(request))
        try:
            apps = dict(self.card_room.mini_apps)
            is_recognized = self._app_visitors.recognize(request, apps)
            self.limits.count_request(request)
            is_monitoring = request.path in monitoring.PATHS
            is_framed = request.path.startswith("/app/") or is_activity_launch(request, apps)
            origins = [app.page_origin for app in apps.values() if app.page_origin]
            self.access.check(request.headers, request.version, is_monitoring, is_framed, origins)
            if not is_recognized:
                await self._app_visitors.look_up(request, apps)
            response: web.StreamResponse = await handler(request)
        except Refused as refused:
            error = ApiError(HTTPStatus.FORBIDDEN, str(refused))
            response = self._error(request, error, refused.text(language))
        except LimitExceeded as refused:
            error = ApiError(HTTPStatus.TOO_MANY_REQUESTS, str(refused), refused.wait)
            response = self._error(request, error, texts(language).gettext(TOO_MUCH))
        except web.HTTPNotFound:
            response = self.message(request, HTTPStatus.NOT_FOUND, browser_text(request, NOTHING_HERE))
        except web.HTTPException as answer:
            answer.headers.update(self._security)
            raise
        except ConnectionError:
            # The client is gone. Connection errors of the store have their own class, from the Redis client.
            raise
        except STORE_ERRORS as failure:
            text = self.card_room.report_store_error(failure, language)
            response = self.message(request, HTTPStatus.SERVICE_UNAVAILABLE, text)
        if not response.prepared:
            is_part = request.path.startswith("/static/") and response.content_type in PARTS
            response.headers.update(NO_SNIFFING if is_part else self._security)
            response.headers.setdefault("Cache-Control", "no-cache")
            if response.content_type == "text/html" and (cookie := request.get(READER_COOKIE)):
                # After a sign-out, the browser's Back must not show the page again.
                response.headers["Cache-Control"] = "no-store"
                if request.method == "GET":
                    # Each visit extends the cookie's life.
                    set_cookie(response, cookie, request.cookies[cookie], secure=self.is_secure)
        return response

    def _error(self, request: web.Request, error: ApiError, text: str) -> web.Response:
        """Return a problem to programs, and a page with the text to people."""
        if request.path == "/api" or request.path.startswith("/api/"):
            return error.response()
        response = self.message(request, error.status, text)
        if error.retry_after is not None:
            response.headers["Retry-After"] = str(ceil(error.retry_after))
        return response


class SiteAdapter:
    """What the two adapters of the site share."""

    has_ephemeral = False
    has_live_hands = False
    plays_here = False

    def __init__(self, site: Site) -> None:
        self.site = site

    async def close(self) -> None:
        """Do nothing: the card room closes the store."""

    @property
    def pages_url(self) -> str:
        return self.site.url

    @property
    def healthy(self) -> bool:
        return self.site.listening

    def overall_rate_limit(self) -> RateLimit:
        return RateLimit()

    def draws(self, _place: str, _panel: Panel) -> bool:
        return False

    def has_admins(self, place: str) -> bool:
        return False

    async def is_admin(self, place: str, person: str) -> bool:
        raise NotDelivered("groups on web pages have no administrators")


def is_activity_launch(request: web.Request, apps: Mapping[str, MiniApp]) -> bool:
    """Return whether Discord opens the first page as an Activity. Its proxy cannot open another page."""
    return request.path == "/" and "frame_id" in request.query and ACTIVITY in apps


def browser_language(request: web.Request) -> str:
    """Return the browser's preferred language among ours, or ""."""
    return negotiate(",".join(request.headers.getall("Accept-Language", [])))


def browser_text(request: web.Request, text: str) -> str:
    return texts(language_of(browser_language(request))).gettext(text)


@cached(TTLCache(2, ADDRESS_SECONDS))
def _own_address(distant: str) -> str:
    """Return this machine's address on its network, or the loopback address.

    The result is cached, because each drawn board needs it.
    """
    family, loopback = (socket.AF_INET6, "::1") if ":" in distant else (socket.AF_INET, "127.0.0.1")
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as udp:
        # Connecting a UDP socket sends nothing.
        udp.connect((distant, 9))
        return str(udp.getsockname()[0])
    return loopback
