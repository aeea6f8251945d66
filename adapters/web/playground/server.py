"""What the playground's page speaks to: a WebSocket for each tab.

On one's own machine (127.0.0.1) a tab may act as anybody. Opened to a network each person has a secret link, and only
that link acts as them; who has the host's link may add people and see their links, and act as nobody.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import structlog
from aiohttp import WSMsgType, web
from aiohttp.web_routedef import AbstractRouteDef
from cachetools import LRUCache, TTLCache

from adapters.web.playground.chat_store import ChatStore, User
from adapters.web.playground.page_texts import page_texts
from adapters.web.playground.requests import AddChat, AddPerson, AnyRequest, Requests, decode, parse_request
from adapters.web.playground.tabs import Tab, Tabs
from adapters.web.refusals import Refused
from adapters.web.site import Site, browser_language
from bot.background import TaskSet
from bot.card_room import CardRoom
from bot.commands import ArgumentKind, choices_of, listed_commands
from bot.host_link import delete_link, show_link
from bot.idempotency import press_key
from bot.platform import DeliveryError
from bot.store import STORE_ERRORS
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts
from bot.web_server import body_timeout, equals_secret

LONGEST_REQUEST = 64 * 1024
"""Bytes of one WebSocket message; a longer one ends the connection."""

TICKETS, TICKET_SECONDS = 1000, 30.0
"""How many tickets there are at most, and how long one is good."""

GOODBYE_SECONDS = 1.0
ADDED_REMEMBERED = 100
BEAT = '{"beat":true}'
"""What the page's script says to find out whether the bot is there (static/connection.js)."""

MESSAGES_SHOWN = 100
SORRY = _("Something went wrong with me. Nothing is lost: try again.")
NO_LINK = _("The playground opens by a personal link. Ask the host for yours.")
OLD_LINK = _(
    "This link opens nothing any more. Ask the host for yours. If you are the host: yours changes with each start, and "
    "`buongioco link` prints it."
)

log = structlog.get_logger()


class Server:
    """Serves tabs, and tells them what happens."""

    def __init__(self, chat_store: ChatStore, card_room: CardRoom, site: Site) -> None:
        self._chat_store, self._card_room, self._site = chat_store, card_room, site
        self.access = site.access
        self.tabs = Tabs()
        self.requests = Requests(chat_store, card_room, self.tabs)
        chat_store.on_message, chat_store.on_deleted = self.tabs.send_message, self.tabs.send_deletion
        chat_store.on_people = self._send_people
        self._busy = TaskSet()
        self._tickets: TTLCache[str, str] = TTLCache(TICKETS, TICKET_SECONDS)
        self._folder, self._link = card_room.settings.data, ""
        self._added: LRUCache[str, bool] = LRUCache(ADDED_REMEMBERED)
        """Requests that have added a person or a group: a page sends them again after a lost connection."""
        self._host_key = secrets.token_urlsafe(12)

    @property
    def routes(self) -> list[AbstractRouteDef]:
        return [web.post("/ticket", self._issue_ticket), web.get("/ws", self._serve_tab)]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Have tabs come in meanwhile."""
        async with self._site.open():
            try:
                self._announce()
                yield
            finally:
                delete_link(self._folder, self._link)
                await self.tabs.close(GOODBYE_SECONDS)
                await self._busy.wait(2.0)

    def invitation(self, code: str) -> str:
        """An address that seats whoever opens it at a table: its page, where people come into the chat by their own
        links only.
        """
        return f"{self._site.url}/t/{code}" if self.access.is_open else f"{self._site.url}/chat#join={code}"

    def _announce(self) -> None:
        url = self._site.url
        if not self.access.is_open:
            log.info("playground_open", url=f"{url}/")
        else:
            log.info("playground_open_to_others", address=f"{url}/", opens_by="each person's own link")
            self._link = f"{url}/chat#key={self._host_key}"
            show_link(self._folder, self._link)

    def _send_people(self) -> None:
        self.tabs.send_to_each(lambda tab: {"type": "people", **self._people(tab)})

    def _people(self, tab: Tab) -> dict[str, Any]:
        chat_store = self._chat_store
        people = [
            {"id": one.id, "name": one.name, "handle": one.handle, "closed": one.closed}
            for one in chat_store.people.values()
        ]
        if tab.is_host:
            people = [{**one, "token": chat_store.people[str(one["id"])].token} for one in people]
        chats = [{"id": chat.id, "title": chat.title} for chat in chat_store.chats.values() if tab.can_see(chat)]
        return {"people": people, "chats": chats}

    def _hello(self, tab: Tab) -> dict[str, Any]:
        chat_store = self._chat_store
        messages = {
            chat.id: list(chat.messages.values())[-MESSAGES_SHOWN:]
            for chat in chat_store.chats.values()
            if tab.can_see(chat)
        }
        return {
            "type": "hello",
            "me": tab.person.id if tab.person else None,
            "host": tab.is_host,
            "switching": not self.access.is_open,
            "texts": page_texts(language_of(tab.language)),
            "commands": command_hints(language_of(tab.language)),
            **self._people(tab),
            "messages": messages,
        }

    # Requests

    async def _issue_ticket(self, request: web.Request) -> web.Response:
        """For the key of a link, in the body, a ticket that opens one WebSocket in its place: addresses are logged by
        every proxy on the way, and some log headers.
        """
        async with body_timeout():
            key = (await request.read()).decode(errors="replace")
        self._admit(request, *self._identify(key))
        ticket = secrets.token_urlsafe(12)
        self._tickets[ticket] = key
        return web.Response(text=ticket)

    def _link_key(self, request: web.Request) -> str:
        """The key of the link by which a page was opened; links once had it in their address."""
        key: str | None = self._tickets.pop(request.query.get("ticket", ""), None)
        return request.query.get("key", "") if key is None else key

    async def _serve_tab(self, request: web.Request) -> web.StreamResponse:
        person, is_host = self._identify(self._link_key(request))
        self._admit(request, person, is_host)
        line = web.WebSocketResponse(max_msg_size=LONGEST_REQUEST, heartbeat=20)
        tab = Tab(line, request.transport, person, is_host)
        tab.language = browser_language(request)
        # Counted before it is ready: others may come meanwhile.
        self.tabs.add(tab)
        try:
            await line.prepare(request)
            writing = asyncio.create_task(tab.write_queue())
            try:
                tab.send(json.dumps(self._hello(tab)))
                async for word in line:
                    self._receive(tab, word.data if word.type is WSMsgType.TEXT else "")
            finally:
                writing.cancel()
        finally:
            self.tabs.remove(tab)
        return line

    def _identify(self, key: str) -> tuple[User | None, bool]:
        """Whom a link acts as, and whether it is the host's."""
        if not self.access.is_open:
            return None, False
        if equals_secret(key, self._host_key):
            return None, True
        for person in self._chat_store.people.values():
            if equals_secret(key, person.token):
                return person, False
        raise Refused(OLD_LINK if key else NO_LINK)

    def _admit(self, request: web.Request, person: User | None, is_host: bool) -> None:
        """Refuse one page too many, in words that the page shows."""
        try:
            self.tabs.admit(person, is_host)
        except Refused as refused:
            raise web.HTTPTooManyRequests(text=refused.text(language_of(browser_language(request)))) from None

    def _receive(self, tab: Tab, text: str) -> None:
        """Begin what a page asks for. Requests of one tab run side by side: a slow one holds nobody up.

        A beat asks whether the bot is there, and is answered at once.
        """
        if text == BEAT:
            tab.send(BEAT)
            return
        try:
            self.tabs.begin_request(tab)
        except Refused as refused:
            tab.send(_refusal(_request_name(text), refused.text(language_of(tab.language))))
            return
        self._busy.start(self._answer(tab, text))

    async def _answer(self, tab: Tab, text: str) -> None:
        try:
            tab.send(await self.handle(tab, text))
        finally:
            self.tabs.end_request(tab)

    async def handle(self, tab: Tab, text: str) -> str:
        """Do what a message asks for; returns the answer to it, whatever it was."""
        try:
            request = parse_request(decode(text))
            return json.dumps({"type": "done", "n": request.n, "toast": await self._perform(tab, request)})
        except Refused as refused:
            return _refusal(_request_name(text), refused.text(language_of(tab.language)))
        except DeliveryError as error:
            return _refusal(_request_name(text), str(error))
        except STORE_ERRORS as error:
            return _refusal(_request_name(text), self._card_room.report_store_error(error, language_of(tab.language)))
        except Exception:
            log.exception("playground_request_failed")
            sorry = texts(language_of(tab.language)).gettext(SORRY)
            return _refusal(_request_name(text), sorry)

    async def _perform(self, tab: Tab, request: AnyRequest) -> str:
        chat_store = self._chat_store
        if isinstance(request, AddPerson | AddChat):
            if self.access.is_open and not tab.is_host:
                raise Refused(_("Only the host adds people and groups."))
            key = press_key(request.n, request.model_dump_json())
            if key not in self._added:
                await (chat_store.add_person if isinstance(request, AddPerson) else chat_store.add_chat)(request.name)
                self._added[key] = True
            return ""
        person = tab.person
        if person is None and not tab.is_host:
            person = chat_store.people.get(request.who or "")
        if person is None:
            raise Refused(_("The host's link acts as nobody."))
        return await self.requests.perform(person, request, tab.language)


def command_hints(language: str) -> list[dict[str, Any]]:
    """The commands as the page completes them: the word, what it does, and what may be chosen behind it."""
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


def _request_name(text: str) -> str | None:
    """What a message calls itself, as far as it can be read; the answer carries it."""
    try:
        name = decode(text).get("n")
    except Refused:
        return None
    return name if isinstance(name, str) else None


def _refusal(name: str | None, why: str) -> str:
    return json.dumps({"type": "refused", "n": name, "text": why})
