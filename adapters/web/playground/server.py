"""The playground page's WebSockets, one for each tab.

On the host's own machine (127.0.0.1) a tab can act as any person. On a network each person needs their own secret link.
The host's link can add people and see their links, but not act as them.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import structlog
from aiohttp import WSMsgType, web
from aiohttp.web_routedef import AbstractRouteDef
from cachetools import LRUCache, TTLCache

from adapters.web.playground.chat_store import Chat, ChatStore, User
from adapters.web.playground.requests import Add, AnyRequest, Requests, decode, parse_request
from adapters.web.playground.tabs import Tab, Tabs
from adapters.web.refusals import Refused
from adapters.web.script_texts import chat_texts
from adapters.web.site import Site, browser_language
from bot.command_names import ArgumentKind, choices_of, listed_commands
from bot.concurrency.background import TaskSet
from bot.http.server import body_timeout, equals_secret
from bot.metrics import PAGES
from bot.platform import DeliveryError
from bot.site.host_link import delete_link, show_link
from bot.site.idempotency import press_key
from bot.store import STORE_ERRORS
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

LONGEST_REQUEST = 64 * 1024  # bytes of a WebSocket message; a longer one ends the connection
TICKETS, TICKET_SECONDS = 1000, 30.0  # maximum number of tickets at once, and their lifetime
GOODBYE_SECONDS = 1.0
KEYS_REMEMBERED = 100
BEAT = '{"beat":true}'  # the page's heartbeat, which the bot echoes (static/connection.js)
MESSAGES_SHOWN = 100
SORRY = _("Something went wrong, but nothing is lost: try again.")
NO_LINK = _("You need a personal link to come in: ask the host for yours.")
OLD_LINK = _("This link no longer works: ask the host for yours, or run `buongioco link` if you are the host.")

log = structlog.get_logger()


class Server:
    def __init__(self, chat_store: ChatStore, site: Site) -> None:
        self._chat_store, self._card_room, self._site = chat_store, site.card_room, site
        self.access = site.access
        self.tabs = Tabs()
        self.requests = Requests(chat_store, site.card_room, self.tabs)
        chat_store.on_message, chat_store.on_deleted = self.tabs.send_message, self.tabs.send_deletion
        chat_store.on_people = self._send_people
        self._busy = TaskSet()
        self._tickets: TTLCache[str, str] = TTLCache(TICKETS, TICKET_SECONDS)
        # Keys of requests that added a person or group: pages repeat requests after a lost connection.
        self._handled_keys: LRUCache[str, bool] = LRUCache(KEYS_REMEMBERED)
        self._host_key = secrets.token_urlsafe(12)
        self.routes: list[AbstractRouteDef] = [web.post("/ticket", self._issue_ticket), web.get("/ws", self._serve_tab)]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Accept tabs until the context ends."""
        async with self._site.open():
            url, link = self._site.url, ""
            try:
                if self.access.is_open:
                    log.info("playground_opened_to_others", address=f"{url}/", opens_by="each person's own link")
                    link = f"{url}/chat#key={self._host_key}"
                    show_link(self._card_room.settings.data, link)
                else:
                    log.info("playground_opened", url=f"{url}/")
                yield
            finally:
                delete_link(self._card_room.settings.data, link)
                await self.tabs.close(GOODBYE_SECONDS)
                await self._busy.wait(2.0)

    def invitation(self, code: str) -> str:
        """Return an address that seats a person: on a network a web page, because the chat needs personal links."""
        return f"{self._site.url}/t/{code}" if self.access.is_open else f"{self._site.url}/chat#join={code}"

    def _send_people(self) -> None:
        for tab in list(self.tabs.open):
            tab.send(json.dumps({"type": "people", **self._people(tab)}))

    def _people(self, tab: Tab) -> dict[str, Any]:
        people = [
            {"id": user.id, "name": user.name, "handle": user.handle, "closed": user.closed}
            | ({"token": user.token} if tab.is_host else {})
            for user in self._chat_store.people.values()
        ]
        chats = [{"id": chat.id, "title": chat.title} for chat in self._visible_chats(tab)]
        return {"people": people, "chats": chats}

    def _visible_chats(self, tab: Tab) -> list[Chat]:
        return [chat for chat in self._chat_store.chats.values() if tab.can_see(chat)]

    def _hello(self, tab: Tab) -> dict[str, Any]:
        return {
            "type": "hello",
            "me": tab.person.id if tab.person else None,
            "host": tab.is_host,
            "switching": not self.access.is_open,
            "texts": chat_texts(language_of(tab.language)),
            "commands": command_hints(language_of(tab.language)),
            **self._people(tab),
            "messages": {chat.id: list(chat.messages.values())[-MESSAGES_SHOWN:] for chat in self._visible_chats(tab)},
        }

    # Requests

    async def _issue_ticket(self, request: web.Request) -> web.Response:
        """Exchange a link's key for a ticket for one WebSocket.

        Proxies log addresses and headers, so the key must be in neither.
        """
        async with body_timeout():
            key = (await request.read()).decode(errors="replace")
        self._admit(request, *self._identify(key))
        ticket = secrets.token_urlsafe(12)
        self._tickets[ticket] = key
        return web.Response(text=ticket)

    async def _serve_tab(self, request: web.Request) -> web.StreamResponse:
        key: str | None = self._tickets.pop(request.query.get("ticket", ""), None)
        # Old links have the key in the address.
        person, is_host = self._identify(request.query.get("key", "") if key is None else key)
        self._admit(request, person, is_host)
        socket = web.WebSocketResponse(max_msg_size=LONGEST_REQUEST, heartbeat=20)
        tab = Tab(socket, request.transport, person, is_host)
        tab.language = browser_language(request)
        # Count the tab before it is ready, because more tabs can open in the meantime.
        self.tabs.open.add(tab)
        PAGES.labels("playground").inc()
        try:
            await socket.prepare(request)
            writing = asyncio.create_task(tab.write_queue())
            try:
                tab.send(json.dumps(self._hello(tab)))
                async for message in socket:
                    self._receive(tab, message.data if message.type is WSMsgType.TEXT else "")
            finally:
                writing.cancel()
        finally:
            self.tabs.open.discard(tab)
            PAGES.labels("playground").dec()
        return socket

    def _identify(self, key: str) -> tuple[User | None, bool]:
        """Return the person that a link belongs to, and whether it is the host's link."""
        if not self.access.is_open:
            return None, False
        if equals_secret(key, self._host_key):
            return None, True
        for person in self._chat_store.people.values():
            if equals_secret(key, person.token):
                return person, False
        raise Refused(OLD_LINK if key else NO_LINK)

    def _admit(self, request: web.Request, person: User | None, is_host: bool) -> None:
        """Refuse the tab if too many are open; the page shows the reason."""
        try:
            self.tabs.admit(person, is_host)
        except Refused as error:
            raise web.HTTPTooManyRequests(text=error.text(language_of(browser_language(request)))) from None

    def _receive(self, tab: Tab, text: str) -> None:
        """Start a request.

        A tab's requests run in parallel, so a slow one blocks no others. A heartbeat is answered at once.
        """
        if text == BEAT:
            tab.send(BEAT)
            return
        try:
            self.tabs.begin_request(tab)
        except Refused as refused:
            tab.send(_refusal(text, refused.text(language_of(tab.language))))
            return

        async def answer() -> None:
            try:
                tab.send(await self.handle(tab, text))
            finally:
                self.tabs.end_request(tab)

        self._busy.start(answer())

    async def handle(self, tab: Tab, text: str) -> str:
        """Perform a request and return the answer, even after an error."""
        language = language_of(tab.language)
        try:
            request = parse_request(decode(text))
            return json.dumps({"type": "done", "n": request.n, "toast": await self._perform(tab, request)})
        except Refused as refused:
            reason = refused.text(language)
        except DeliveryError as error:
            reason = str(error)
        except STORE_ERRORS as error:
            reason = self._card_room.report_store_error(error, language)
        except Exception:
            log.exception("playground_request_failed")
            reason = texts(language).gettext(SORRY)
        return _refusal(text, reason)

    async def _perform(self, tab: Tab, request: AnyRequest) -> str:
        chat_store = self._chat_store
        if isinstance(request, Add):
            if self.access.is_open and not tab.is_host:
                raise Refused(_("Only the host can add people and groups: ask them."))
            key = press_key(request.n, request.model_dump_json())
            if key not in self._handled_keys:
                await (chat_store.add_person if request.do == "add_person" else chat_store.add_chat)(request.name)
                self._handled_keys[key] = True
            return ""
        person = tab.person
        if person is None and not tab.is_host:
            person = chat_store.people.get(request.who or "")
        if person is None:
            raise Refused(_("You can’t play with the host’s link: use a person’s link."))
        return await self.requests.perform(person, request, tab.language)


def command_hints(language: str) -> list[dict[str, Any]]:
    """Return what the page offers while a person types a command."""
    return [
        {
            "word": spec.name_in(language),
            "about": spec.help_line(language),
            "takes": {
                value: texts(language).gettext(name)
                for argument in spec.arguments
                for value, name in choices_of(argument.kind).items()
            },
            "people": any(argument.kind is ArgumentKind.PERSON for argument in spec.arguments),
        }
        for spec in listed_commands()
    ]


def _refusal(text: str, reason: str) -> str:
    """Return the answer to a refused request, with the request's own name if that can be read."""
    name = None
    with suppress(Refused):
        name = decode(text).get("n")
    return json.dumps({"type": "refused", "n": name if isinstance(name, str) else None, "text": reason})
