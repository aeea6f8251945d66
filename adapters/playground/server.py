"""The playground's web server: one page, a WebSocket for each tab, and what hosts watch: /healthz and /metrics.

On one's own machine (127.0.0.1) a tab may act as anybody. Opened to a network each person has a secret link, and only
that link acts as them; who has the host's link may add people and see their links, and act as nobody.
"""

import asyncio
import json
import re
import secrets
import socket
from contextlib import suppress
from importlib.resources import files
from typing import Any

import structlog
from aiohttp import WSMsgType, web
from cachetools import TTLCache

from adapters.playground.access import Access
from adapters.playground.chat_store import ChatStore, Refused, User
from adapters.playground.page_texts import page_texts
from adapters.playground.requests import AddChat, AddPerson, AnyRequest, Requests, decoded, parse_request
from adapters.playground.tabs import Tab, Tabs
from bot import monitoring
from bot.background import TaskSet
from bot.commands import Kind, choices, listed
from bot.host_link import drop_link, show_link
from bot.platform import CardRoom, DeliveryError
from bot.serving import is_same_secret, listen
from bot.texts import language_of, texts
from bot.texts import marked as _

LONGEST_WORD = 64 * 1024
"""Bytes of one WebSocket message; a longer one ends the connection."""

TICKETS, TICKET_SECONDS = 1000, 30.0
"""How many tickets there are at most, and how long one is good."""

LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}")
GOODBYE_SECONDS = 1.0
REMEDY = "set BUONGIOCO_PLAYGROUND_PORT or BUONGIOCO_PLAYGROUND_HOST, or BUONGIOCO_PLAYGROUND=false"
MESSAGES_SHOWN = 100
SORRY = _("Something went wrong with me. Nothing is lost: try again.")
NO_LINK = _("The playground opens by a personal link. Ask the host for yours.")
OLD_LINK = _(
    "This link opens nothing any more. Ask the host for yours. If you are the host: yours changes with each start, and "
    "`buongioco link` prints it."
)
FILES = {"/": "index.html", "/app.js": "app.js", "/style.css": "style.css", "/icon.svg": "icon.svg"}
TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
SECURITY = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' blob:; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}

log = structlog.get_logger()


class Server:
    """Serves tabs, and tells them what happens."""

    def __init__(self, chat_store: ChatStore, card_room: CardRoom) -> None:
        self._chat_store, self._card_room = chat_store, card_room
        self._host, self._port = card_room.settings.playground_host, card_room.settings.playground_port
        self.access = Access(card_room.settings)
        self.tabs = Tabs()
        self.requests = Requests(chat_store, card_room, self.tabs)
        chat_store.on_message, chat_store.on_deleted = self.tabs.tell_message, self.tabs.tell_deleted
        chat_store.on_people = self._tell_people
        self._busy = TaskSet()
        self._tickets: TTLCache[str, str] = TTLCache(TICKETS, TICKET_SECONDS)
        self._folder, self._link = card_room.settings.data, ""
        self._host_key = secrets.token_urlsafe(12)
        self.listening = False

    async def run(self) -> None:
        app = web.Application(middlewares=[self._guard], client_max_size=1024)
        for path in FILES:
            app.router.add_get(path, self._file)
        app.router.add_post("/ticket", self._ticket)
        app.router.add_get("/ws", self._tab)
        monitoring.add_monitoring(app, self._card_room)
        runner = await listen(app, self._host, self._port, "The playground", REMEDY)
        try:
            self._port = runner.addresses[0][1]
            self.listening = True
            self._announce()
            await asyncio.Event().wait()
        finally:
            self.listening = False
            drop_link(self._folder, self._link)
            await self.tabs.close(GOODBYE_SECONDS)
            await self._busy.wait(2.0)
            await runner.cleanup()

    @property
    def port(self) -> int:
        return self._port

    def invitation(self, code: str) -> str:
        """An address that seats whoever opens it at a table; empty where people come in by their own links only."""
        return "" if self.access.is_open else f"{self._url}#join={code}"

    @property
    def _url(self) -> str:
        shown = _own_address() if self.access.is_networked else self._host
        return f"{self.access.public or f'http://{shown}:{self._port}'}/"

    def _announce(self) -> None:
        url = self._url
        if not self.access.is_open:
            log.info("playground_open", url=url)
        else:
            log.info("playground_open_to_others", address=url, opens_by="each person's own link")
            self._link = f"{url}#key={self._host_key}"
            show_link(self._folder, self._link)

    def _tell_people(self) -> None:
        self.tabs.tell_each(lambda tab: {"type": "people", **self._people(tab)})

    def _people(self, tab: Tab) -> dict[str, Any]:
        chat_store = self._chat_store
        people = [
            {"id": one.id, "name": one.name, "handle": one.handle, "closed": one.closed}
            for one in chat_store.people.values()
        ]
        if tab.is_host:
            people = [{**one, "token": chat_store.people[str(one["id"])].token} for one in people]
        chats = [{"id": chat.id, "title": chat.title} for chat in chat_store.chats.values() if tab.sees(chat)]
        return {"people": people, "chats": chats}

    def _hello(self, tab: Tab) -> dict[str, Any]:
        chat_store = self._chat_store
        messages = {
            chat.id: list(chat.messages.values())[-MESSAGES_SHOWN:]
            for chat in chat_store.chats.values()
            if tab.sees(chat)
        }
        return {
            "type": "hello",
            "me": tab.person.id if tab.person else None,
            "host": tab.is_host,
            "switching": not self.access.is_open,
            "texts": page_texts(language_of(tab.language)),
            "commands": hints(language_of(tab.language)),
            **self._people(tab),
            "messages": messages,
        }

    # Requests

    @web.middleware
    async def _guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        """Refuse requests that another site had a browser make, that came by another name, or past a closed door."""
        try:
            self.access.check(request.headers, request.version, request.path in monitoring.PATHS)
            response: web.StreamResponse = await handler(request)
        except Refused as refused:
            raise web.HTTPForbidden(text=refused.text(language_of(_spoken(request)))) from None
        if not response.prepared:
            response.headers.update(SECURITY)
        return response

    async def _file(self, request: web.Request) -> web.Response:
        name = FILES[request.path]
        body = (files("adapters.playground") / "static" / name).read_bytes()
        return web.Response(body=body, content_type=TYPES[name.rpartition(".")[2]], charset="utf-8")

    async def _ticket(self, request: web.Request) -> web.Response:
        """For the key of a link, in the body, a ticket that opens one WebSocket in its place: addresses are logged by
        every proxy on the way, and some log headers.
        """
        key = (await request.read()).decode(errors="replace")
        self._admit(request, *self._whose(key))
        ticket = secrets.token_urlsafe(12)
        self._tickets[ticket] = key
        return web.Response(text=ticket)

    def _key(self, request: web.Request) -> str:
        """The key of the link by which a page was opened; links once had it in their address."""
        key: str | None = self._tickets.pop(request.query.get("ticket", ""), None)
        return request.query.get("key", "") if key is None else key

    async def _tab(self, request: web.Request) -> web.StreamResponse:
        person, is_host = self._whose(self._key(request))
        self._admit(request, person, is_host)
        line = web.WebSocketResponse(max_msg_size=LONGEST_WORD, heartbeat=20)
        tab = Tab(line, request.transport, person, is_host)
        tab.language = _spoken(request)
        # Counted before it is ready: others may come meanwhile.
        self.tabs.add(tab)
        try:
            await line.prepare(request)
            writing = asyncio.create_task(tab.write())
            try:
                tab.put(json.dumps(self._hello(tab)))
                async for word in line:
                    self._hear(tab, word.data if word.type is WSMsgType.TEXT else "")
            finally:
                writing.cancel()
        finally:
            self.tabs.remove(tab)
        return line

    def _whose(self, key: str) -> tuple[User | None, bool]:
        """Whom a link acts as, and whether it is the host's."""
        if not self.access.is_open:
            return None, False
        if is_same_secret(key, self._host_key):
            return None, True
        for person in self._chat_store.people.values():
            if is_same_secret(key, person.token):
                return person, False
        raise Refused(OLD_LINK if key else NO_LINK)

    def _admit(self, request: web.Request, person: User | None, is_host: bool) -> None:
        """Refuse one page too many, in words that the page shows."""
        try:
            self.tabs.admit(person, is_host)
        except Refused as refused:
            raise web.HTTPTooManyRequests(text=refused.text(language_of(_spoken(request)))) from None

    def _hear(self, tab: Tab, text: str) -> None:
        """Begin what a page asks for. Requests of one tab run side by side: a slow one holds nobody up."""
        try:
            self.tabs.begin(tab)
        except Refused as refused:
            tab.put(_refusal(_name(text), refused.text(language_of(tab.language))))
            return
        self._busy.start(self._answer(tab, text))

    async def _answer(self, tab: Tab, text: str) -> None:
        try:
            tab.put(await self.hear(tab, text))
        finally:
            self.tabs.end(tab)

    async def hear(self, tab: Tab, text: str) -> str:
        """Do what a message asks for; returns the answer to it, whatever it was."""
        try:
            request = parse_request(decoded(text))
            return json.dumps({"type": "done", "n": request.n, "toast": await self._do(tab, request)})
        except Refused as refused:
            return _refusal(_name(text), refused.text(language_of(tab.language)))
        except DeliveryError as error:
            return _refusal(_name(text), str(error))
        except Exception:
            log.exception("playground_request_failed")
            sorry = texts(language_of(tab.language)).gettext(SORRY)
            return _refusal(_name(text), sorry)

    async def _do(self, tab: Tab, request: AnyRequest) -> str:
        chat_store = self._chat_store
        if isinstance(request, AddPerson | AddChat):
            if self.access.is_open and not tab.is_host:
                raise Refused(_("Only the host adds people and groups."))
            await (chat_store.add_person if isinstance(request, AddPerson) else chat_store.add_chat)(request.name)
            return ""
        person = tab.person
        if person is None and not tab.is_host:
            person = chat_store.people.get(request.who or "")
        if person is None:
            raise Refused(_("The host's link acts as nobody."))
        return await self.requests.perform(person, request, tab.language)


def hints(language: str) -> list[dict[str, Any]]:
    """The commands as the page completes them: the word, what it does, and what may be chosen behind it."""
    return [
        {
            "word": spec.name_in(language),
            "about": spec.help_line(language),
            "takes": {
                value: texts(language).gettext(name)
                for argument in spec.arguments
                for value, name in choices(argument.kind).items()
            },
            "people": any(argument.kind is Kind.PERSON for argument in spec.arguments),
        }
        for spec in listed()
    ]


def _spoken(request: web.Request) -> str:
    """What the browser says that its reader speaks; empty if it says nothing of use."""
    found = LANGUAGE.match(request.headers.get("Accept-Language", ""))
    return found[0] if found else ""


def _name(text: str) -> str | None:
    """What a message calls itself, as far as it can be read; the answer carries it."""
    try:
        name = decoded(text).get("n")
    except Refused:
        return None
    return name if isinstance(name, str) else None


def _refusal(name: str | None, why: str) -> str:
    return json.dumps({"type": "refused", "n": name, "text": why})


def _own_address() -> str:
    """This machine's address on its network, as far as it knows one."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.connect(("192.0.2.1", 9))
        return str(line.getsockname()[0])
    return "127.0.0.1"
