"""The playground's web server: one page, a WebSocket for each tab, and what hosts watch: /healthz and /metrics.

On one's own machine (127.0.0.1) a tab may act as anybody. Opened to a network each person has a secret link, and only
that link acts as them; who has the host's link may add people and see their links, and act as nobody.
"""

import asyncio
import errno
import ipaddress
import json
import secrets
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import structlog
from aiohttp import WSCloseCode, WSMsgType, web

from adapters.playground.village import Chat, Refused, Village, Villager
from bot.house import House
from bot.platform import DeliveryFault
from bot.settings import BadSetting
from bot.watching import add_watching

LONGEST_WORD = 64 * 1024
"""Bytes of one WebSocket message; a longer one ends the connection."""

MESSAGES_SHOWN = 100
FILES = {"/": "index.html", "/app.js": "app.js", "/style.css": "style.css", "/icon.svg": "icon.svg"}
TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
SECURITY = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}

Request = Callable[[Villager, dict[str, Any]], Awaitable[str]]

log = structlog.get_logger()


class Tab:
    """One open page: who it may act as. ``person`` is None for anybody (or, with ``is_host``, for nobody)."""

    def __init__(self, line: web.WebSocketResponse, person: Villager | None, is_host: bool, language: str) -> None:
        self.line, self.person, self.is_host, self.language = line, person, is_host, language

    def sees(self, chat: Chat) -> bool:
        if not chat.id.startswith("@"):
            return True
        return not self.is_host if self.person is None else chat.id == f"@{self.person.id}"


class Server:
    """Serves tabs, and tells them what happens."""

    def __init__(self, village: Village, house: House, request: Request) -> None:
        """``request`` is what to do with what a person asks for on the page."""
        self._village, self._house, self._ask = village, house, request
        self._host, self._port = house.settings.playground_host, house.settings.playground_port
        self._tabs: set[Tab] = set()
        self._languages: dict[str, str] = {}
        self._busy: set[asyncio.Task[None]] = set()
        self._host_key = secrets.token_urlsafe(12)
        self.listening = False

    @property
    def is_open(self) -> bool:
        """Whether others on the network can come in."""
        return self._host not in ("127.0.0.1", "::1", "localhost")

    async def run(self) -> None:
        app = web.Application(middlewares=[self._guard])
        for path in FILES:
            app.router.add_get(path, self._file)
        app.router.add_get("/ws", self._tab)
        add_watching(app, self._house)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0)
        await runner.setup()
        try:
            await self._listen(runner)
            self.listening = True
            self._announce(runner.addresses)
            await asyncio.Event().wait()
        finally:
            self.listening = False
            for tab in list(self._tabs):
                with suppress(ConnectionError):
                    await tab.line.close(code=WSCloseCode.GOING_AWAY)
            if self._busy:
                await asyncio.wait(self._busy, timeout=2.0)
            await runner.cleanup()

    async def _listen(self, runner: web.AppRunner) -> None:
        try:
            await web.TCPSite(runner, self._host, self._port).start()
        except OSError as error:
            raise BadSetting(
                f"The playground cannot listen on {self._host}, port {self._port} ({error.strerror}): set "
                "BUONGIOCO_PLAYGROUND_PORT or BUONGIOCO_PLAYGROUND_HOST, or BUONGIOCO_PLAYGROUND=false.",
                "port taken" if error.errno == errno.EADDRINUSE else "cannot listen",
            ) from None

    @property
    def port(self) -> int:
        return self._port

    def _announce(self, addresses: list[Any]) -> None:
        self._port = addresses[0][1]
        shown = self._host if not self.is_open else _own_address()
        url = f"http://{shown}:{self._port}/"
        if self.is_open:
            # Not by the log, which is kept: the link is a secret.
            print(f"The playground is open to the network. Your host's link: {url}?key={self._host_key}", flush=True)  # noqa: T201
        log.info("playground_open", url=url)

    def language_of(self, villager: Villager) -> str:
        """What the browser speaks that last acted as this person."""
        return self._languages.get(villager.id, "")

    # Telling tabs

    async def tell(self, word: dict[str, Any], chat: Chat | None = None) -> None:
        """Tell every tab that may see the chat."""
        text = json.dumps(word)
        tabs = [tab for tab in self._tabs if chat is None or tab.sees(chat)]
        await asyncio.gather(*(self._put(tab, text) for tab in tabs))

    async def tell_message(self, chat: Chat, number: int) -> None:
        if number in chat.messages:
            await self.tell({"type": "message", "chat": chat.id, "message": chat.messages[number]}, chat)

    async def tell_person(self, person: Villager, word: dict[str, Any]) -> None:
        tabs = [tab for tab in self._tabs if tab.person in (None, person) and not tab.is_host]
        await asyncio.gather(*(self._put(tab, json.dumps({**word, "to": person.id})) for tab in tabs))

    async def tell_people(self) -> None:
        """People or chats have changed."""
        for tab in list(self._tabs):
            await self._put(tab, json.dumps({"type": "people", **self._people(tab)}))

    async def _put(self, tab: Tab, text: str) -> None:
        with suppress(ConnectionError, RuntimeError):
            await tab.line.send_str(text)

    def _people(self, tab: Tab) -> dict[str, Any]:
        village = self._village
        people = [
            {"id": one.id, "name": one.name, "handle": one.handle, "closed": one.closed}
            for one in village.people.values()
        ]
        if tab.is_host:
            people = [{**one, "token": village.people[str(one["id"])].token} for one in people]
        chats = [{"id": chat.id, "title": chat.title} for chat in village.chats.values() if tab.sees(chat)]
        return {"people": people, "chats": chats}

    def _hello(self, tab: Tab) -> dict[str, Any]:
        village = self._village
        messages = {
            chat.id: list(chat.messages.values())[-MESSAGES_SHOWN:] for chat in village.chats.values() if tab.sees(chat)
        }
        return {
            "type": "hello",
            "me": tab.person.id if tab.person else None,
            "host": tab.is_host,
            "switching": not self.is_open,
            **self._people(tab),
            "messages": messages,
        }

    # Requests

    @web.middleware
    async def _guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        """Refuse requests that another site had a browser make, by any name but ours."""
        if not self._is_our_name(request.headers.get("Host", "")):
            raise web.HTTPForbidden(text="The playground does not answer to this name.")
        origin = request.headers.get("Origin")
        if origin and urlsplit(origin).netloc != request.headers.get("Host"):
            raise web.HTTPForbidden(text="The playground answers its own page only.")
        response: web.StreamResponse = await handler(request)
        if not response.prepared:
            response.headers.update(SECURITY)
        return response

    def _is_our_name(self, host: str) -> bool:
        name = urlsplit(f"//{host}").hostname or ""
        if name == "localhost":
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return self.is_open and name in (socket.gethostname().lower(), f"{socket.gethostname().lower()}.local")
        return self.is_open or address.is_loopback

    async def _file(self, request: web.Request) -> web.Response:
        name = FILES[request.path]
        body = (files("adapters.playground") / "static" / name).read_bytes()
        return web.Response(body=body, content_type=TYPES[name.rpartition(".")[2]], charset="utf-8")

    async def _tab(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Origin") is None and self.is_open and not request.query.get("key"):
            raise web.HTTPForbidden(text="Open the playground by your own link.")
        person, is_host = self._whose(request.query.get("key", ""))
        line = web.WebSocketResponse(max_msg_size=LONGEST_WORD, heartbeat=20)
        await line.prepare(request)
        language = request.headers.get("Accept-Language", "").split(",")[0]
        tab = Tab(line, person, is_host, language)
        self._tabs.add(tab)
        try:
            await self._put(tab, json.dumps(self._hello(tab)))
            async for word in line:
                if word.type is WSMsgType.TEXT:
                    # Requests of one tab run side by side: a slow one holds nobody up.
                    task = asyncio.create_task(self._request(tab, word.data))
                    self._busy.add(task)
                    task.add_done_callback(self._busy.discard)
        finally:
            self._tabs.discard(tab)
        return line

    def _whose(self, key: str) -> tuple[Villager | None, bool]:
        """Whom a link acts as, and whether it is the host's."""
        if not self.is_open:
            return None, False
        if secrets.compare_digest(key.encode(), self._host_key.encode()):
            return None, True
        for person in self._village.people.values():
            if secrets.compare_digest(key.encode(), person.token.encode()):
                return person, False
        raise web.HTTPForbidden(text="This link opens nothing: ask the host for yours.")

    async def _request(self, tab: Tab, text: str) -> None:
        number = None
        try:
            wish = json.loads(text)
            wish = wish if isinstance(wish, dict) else {}
            number = wish.get("n")
            answer = {"type": "done", "n": number, "toast": await self._do(tab, wish)}
        except (ValueError, Refused, DeliveryFault) as fault:
            answer = {"type": "refused", "n": number, "text": str(fault)}
        except Exception:
            log.exception("playground_request_failed")
            answer = {"type": "refused", "n": number, "text": "something went wrong; please try again"}
        await self._put(tab, json.dumps(answer))

    async def _do(self, tab: Tab, wish: dict[str, Any]) -> str:
        village = self._village
        if wish.get("do") in ("add_person", "add_chat"):
            if self.is_open and not tab.is_host:
                raise Refused("only the host adds people and chats")
            if wish["do"] == "add_person":
                await village.add_person(str(wish.get("name", "")))
            else:
                await village.add_chat(str(wish.get("name", "")))
            await self.tell_people()
            return ""
        person = tab.person
        if person is None and not tab.is_host:
            person = village.people.get(str(wish.get("as")))
        if person is None:
            raise Refused("this link acts as nobody")
        self._languages[person.id] = tab.language
        return await self._ask(person, wish)


def _own_address() -> str:
    """This machine's address on its network, as far as it knows one."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.connect(("192.0.2.1", 9))
        return str(line.getsockname()[0])
    return "127.0.0.1"
