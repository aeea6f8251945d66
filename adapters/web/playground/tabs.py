"""Open tabs: their queues of unsent messages, and the limits of each person."""

import asyncio
import json
from collections import Counter, deque
from typing import Any

from aiohttp import WSCloseCode, web

from adapters.web.playground.chat_store import Chat, User
from adapters.web.refusals import Refused
from bot.texts import gettext_noop as _

MAX_TABS, MAX_TABS_EACH = 400, 20  # open tabs in all, and of one person with a personal link
MAX_PENDING = 32  # unanswered requests of one person
MAX_UNREAD = 4 * 1024 * 1024  # bytes in a tab's queue; a tab that falls further behind is disconnected


class Tab:
    """An open tab.

    It acts as ``person``. If that is missing, it can act as any person, or as no one with the host's link
    (``is_host``). Each tab has its own queue of messages, so a tab that does not read blocks no others.
    """

    def __init__(
        self, socket: web.WebSocketResponse, transport: asyncio.Transport | None, person: User | None, is_host: bool
    ) -> None:
        self.socket, self.person, self.is_host = socket, person, is_host
        self.language = ""
        self._transport = transport
        self._unread: deque[str] = deque()
        self._bytes_unread = 0
        self._has_unread = asyncio.Event()

    @property
    def owner(self) -> object:
        """The key of the tab's limits: a person, the host, or the tab itself if it can act as any person."""
        return self.person.id if self.person else "host" if self.is_host else self

    def can_see(self, chat: Chat) -> bool:
        if not chat.id.startswith("@"):
            return True
        return not self.is_host if self.person is None else chat.id == f"@{self.person.id}"

    def send(self, text: str) -> None:
        """Queue a message; disconnect a tab that has left too much unread."""
        if self._unread and self._bytes_unread + len(text) > MAX_UNREAD:
            self.drop()
            return
        self._unread.append(text)
        self._bytes_unread += len(text)
        self._has_unread.set()

    async def write_queue(self) -> None:
        """Send queued messages until cancelled or disconnected."""
        try:
            while True:
                await self._has_unread.wait()
                self._has_unread.clear()
                while self._unread:
                    text = self._unread.popleft()
                    self._bytes_unread -= len(text)
                    await self.socket.send_str(text)
        except (ConnectionError, RuntimeError):
            # The socket is closing. Its reader notices this and removes the tab.
            return

    def drop(self) -> None:
        self._unread.clear()
        self._bytes_unread = 0
        if self._transport:
            self._transport.abort()


class Tabs:
    def __init__(self) -> None:
        self.open: set[Tab] = set()
        self._pending: Counter[object] = Counter()

    def admit(self, person: User | None, is_host: bool) -> None:
        """Raise `Refused` if too many tabs are open, in all or of this person."""
        holders = [tab.owner for tab in self.open]
        owner = "host" if is_host else person.id if person else None
        if len(holders) >= MAX_TABS or holders.count(owner) >= MAX_TABS_EACH:
            raise Refused(_("Too many pages of the playground are open: close some."))

    def begin_request(self, tab: Tab) -> None:
        """Count a request until `end_request`; raise `Refused` if the person has too many unanswered."""
        if self._pending[tab.owner] >= MAX_PENDING:
            raise Refused(_("Too much at once: wait for the answers."))
        self._pending[tab.owner] += 1

    def end_request(self, tab: Tab) -> None:
        self._pending[tab.owner] -= 1
        if not self._pending[tab.owner]:
            del self._pending[tab.owner]

    def send(self, message: dict[str, Any], chat: Chat | None = None) -> None:
        text = json.dumps(message)
        for tab in list(self.open):
            if chat is None or tab.can_see(chat):
                tab.send(text)

    def send_message(self, chat: Chat, number: int) -> None:
        if number in chat.messages:
            self.send({"type": "message", "chat": chat.id, "message": chat.messages[number]}, chat)

    def send_deletion(self, chat: Chat, number: int) -> None:
        self.send({"type": "deleted", "chat": chat.id, "id": number}, chat)

    def send_to_person(self, person: User, message: dict[str, Any]) -> None:
        text = json.dumps({**message, "to": person.id})
        for tab in list(self.open):
            if tab.person in (None, person) and not tab.is_host:
                tab.send(text)

    async def close(self, patience: float) -> None:
        """Close all tabs, and abort those still open after ``patience`` seconds."""
        closing = [asyncio.create_task(tab.socket.close(code=WSCloseCode.GOING_AWAY)) for tab in self.open]
        if closing:
            await asyncio.wait(closing, timeout=patience)
        for tab in list(self.open):
            tab.drop()
