"""Open pages: what each is told, in its own time, and how much of everything a person may have."""

import asyncio
import json
from collections import Counter, deque
from typing import Any

from aiohttp import WSCloseCode, web

from adapters.web.playground.chat_store import Chat, User
from adapters.web.refusals import Refused
from bot.texts import gettext_noop as _

MOST_TABS, MOST_TABS_EACH = 400, 20
"""How many tabs there may be in all, and of one person where each has a link of their own."""

MOST_PENDING = 32
"""Requests that one person may have unanswered."""

MOST_UNREAD = 4 * 1024 * 1024
"""Bytes that may wait for a tab to read them, beside the word that is being sent; one that reads no more is let go."""


class Tab:
    """One open page: who it may act as. ``person`` is None for anybody (or, with ``is_host``, for nobody).

    What it is told waits in a queue of its own, so that one that does not read holds nobody up.
    """

    def __init__(
        self, line: web.WebSocketResponse, transport: asyncio.Transport | None, person: User | None, is_host: bool
    ) -> None:
        self.socket, self.person, self.is_host = line, person, is_host
        self.language = ""
        self._transport = transport
        self._unread: deque[str] = deque()
        self._bytes_unread = 0
        self._more = asyncio.Event()

    @property
    def owner(self) -> object:
        """Whose it is, for limits; where a tab may act as anybody, it is one's own."""
        return self.person.id if self.person else "host" if self.is_host else self

    def can_see(self, chat: Chat) -> bool:
        if not chat.id.startswith("@"):
            return True
        return not self.is_host if self.person is None else chat.id == f"@{self.person.id}"

    def send(self, text: str) -> None:
        """Have the tab told in its turn; one that has left too much unread is let go."""
        if self._unread and self._bytes_unread + len(text) > MOST_UNREAD:
            self.drop()
            return
        self._unread.append(text)
        self._bytes_unread += len(text)
        self._more.set()

    async def write_queue(self) -> None:
        """Tell it what waits, until cancelled or it goes away."""
        try:
            while True:
                await self._more.wait()
                self._more.clear()
                while self._unread:
                    text = self._unread.popleft()
                    self._bytes_unread -= len(text)
                    await self.socket.send_str(text)
        except (ConnectionError, RuntimeError):
            # It is closing; who reads from it will hear so.
            return

    def drop(self) -> None:
        """End the connection at once, whatever the other side reads."""
        self._unread.clear()
        self._bytes_unread = 0
        if self._transport:
            self._transport.abort()


class Tabs:
    """All that are open."""

    def __init__(self) -> None:
        self._tabs: set[Tab] = set()
        self._pending: Counter[object] = Counter()

    def admit(self, person: User | None, is_host: bool) -> None:
        """Refused if there are too many open already, in all or of this person's."""
        holders = [tab.owner for tab in self._tabs]
        own = "host" if is_host else person.id if person else None
        if len(holders) >= MOST_TABS or holders.count(own) >= MOST_TABS_EACH:
            raise Refused(_("Too many pages of the playground are open: close some."))

    def add(self, tab: Tab) -> None:
        self._tabs.add(tab)

    def remove(self, tab: Tab) -> None:
        self._tabs.discard(tab)

    def begin_request(self, tab: Tab) -> None:
        """A request begins; Refused if the person has too many unanswered. Each that began has its `end`."""
        if self._pending[tab.owner] >= MOST_PENDING:
            raise Refused(_("Too much at once: wait for the answers."))
        self._pending[tab.owner] += 1

    def end_request(self, tab: Tab) -> None:
        self._pending[tab.owner] -= 1
        if not self._pending[tab.owner]:
            del self._pending[tab.owner]

    def send(self, word: dict[str, Any], chat: Chat | None = None) -> None:
        """Tell every tab that may see the chat."""
        text = json.dumps(word)
        for tab in self._all():
            if chat is None or tab.can_see(chat):
                tab.send(text)

    def send_message(self, chat: Chat, number: int) -> None:
        if number in chat.messages:
            self.send({"type": "message", "chat": chat.id, "message": chat.messages[number]}, chat)

    def send_deletion(self, chat: Chat, number: int) -> None:
        self.send({"type": "deleted", "chat": chat.id, "id": number}, chat)

    def send_to_person(self, person: User, word: dict[str, Any]) -> None:
        text = json.dumps({**word, "to": person.id})
        for tab in self._all():
            if tab.person in (None, person) and not tab.is_host:
                tab.send(text)

    def send_to_each(self, word: Any) -> None:
        """Tell each tab what ``word`` makes of it."""
        for tab in self._all():
            tab.send(json.dumps(word(tab)))

    def _all(self) -> list[Tab]:
        return list(self._tabs)

    async def close(self, patience: float) -> None:
        """Say goodbye to all, for so many seconds at most."""
        closing = [asyncio.create_task(tab.socket.close(code=WSCloseCode.GOING_AWAY)) for tab in self._tabs]
        if closing:
            await asyncio.wait(closing, timeout=patience)
        for tab in self._all():
            tab.drop()
