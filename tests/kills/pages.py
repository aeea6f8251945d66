"""The messages that people see and press, on the playground and on platforms that outlive the bot's kills."""

import asyncio
import itertools
import json
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

import aiohttp

from bot.panel_picture import Subject
from tests.kills.bot_process import Bot

CONNECT_SECONDS = 90.0  # seconds in which the bot must open its page; starts are slow on a slow machine
ANSWERS_KEPT = 200  # last answers to presses that are kept for error messages


class Page:
    """A browser tab without the browser: it sees messages, presses buttons, and reconnects."""

    platform = "playground"
    may_double: frozenset[str] = frozenset()
    """The kinds of messages that a kill can double here: "cards", "hands" or "boards".

    The platform does not recognise these when they are sent again.
    """

    may_lack_pictures = False  # whether a text can go alone because its upload was late
    pause = 0.02  # seconds that people wait after a press without effect
    keeps_groups = False  # the playground forgets older messages, and their pictures even earlier
    presses_invite = False  # whether people press *Invite* on challenges

    def complaints(self) -> list[str]:
        """Return the platform's complaints; the playground has none."""
        return []

    def count_at_risk(self) -> int:
        """Return how many messages a kill could double now: those sent but perhaps not saved."""
        return 1

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.messages: dict[str, dict[int, dict[str, Any]]] = {}
        self.people: list[dict[str, Any]] = []
        self.waiting: dict[str, asyncio.Future[str]] = {}
        self.done: set[str] = set()
        self.refused: set[str] = set()
        self.asked: dict[str, dict[str, Any]] = {}
        self.last_answers: deque[str] = deque(maxlen=ANSWERS_KEPT)
        self._line: aiohttp.ClientWebSocketResponse | None = None
        self._number = 0

    async def connect(self, session: aiohttp.ClientSession) -> None:
        self._session, deadline = session, time.monotonic() + CONNECT_SECONDS
        while self.bot.is_running:
            try:
                self._line = await session.ws_connect(f"{self.bot.url}/ws", headers={"Origin": self.bot.url})
                hello = json.loads((await self._line.receive()).data)
            except (aiohttp.ClientError, OSError, TypeError, ValueError):
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.05)
                continue
            self.people = hello["people"]
            self.messages = {chat: {one["id"]: one for one in found} for chat, found in hello["messages"].items()}
            return

    async def listen(self) -> None:
        """Receive until the bot's process ends. A broken connection is opened again, as the page does."""
        while self.bot.is_running:
            await self._listen_to_line()
            await self.connect(self._session)

    async def _listen_to_line(self) -> None:
        assert self._line
        async for word in self._line:
            if word.type is not aiohttp.WSMsgType.TEXT:
                break
            heard = json.loads(word.data)
            if heard["type"] == "message":
                self.messages.setdefault(heard["chat"], {})[heard["message"]["id"]] = heard["message"]
            elif heard["type"] == "deleted":
                self.messages.get(heard["chat"], {}).pop(heard["id"], None)
            elif heard["type"] == "people":
                self.people = heard["people"]
            elif heard.get("n") in self.waiting:
                future = self.waiting.pop(heard["n"])
                if not future.done():
                    future.set_result(heard["type"] if not heard.get("toast") else "toast")
        for future in self.waiting.values():
            if not future.done():
                future.set_result("lost")
        self.waiting.clear()

    async def ask(self, name: str = "", /, **wish: Any) -> str:
        """Send a request, and return how it was answered.

        The answer is "done", "toast" (answered without effect), "refused", or "lost" with the connection. A request
        sent again under the same ``name`` is the same request.
        """
        self._number += 1
        name = name or f"k{self._number:07}"
        self.asked[name] = wish
        future = self.waiting[name] = asyncio.get_running_loop().create_future()
        assert self._line
        try:
            await self._line.send_str(json.dumps({**wish, "n": name}))
        except (ConnectionError, RuntimeError, aiohttp.ClientError):
            self.waiting.pop(name, None)
            return "lost"
        answer: str = await future
        self.last_answers.append(answer)
        if answer == "done":
            self.done.add(name)
        elif answer != "lost":
            self.refused.add(name)
        return answer

    async def catch_up(self) -> None:
        """Wait until everything the bot has sent so far is here.

        Messages arrive in order, so the answer to an invalid request comes last.
        """
        await self.ask()

    def chat(self, name: str) -> dict[int, dict[str, Any]]:
        """Return the messages of a chat. A private chat is ``@`` and the person, a group is a number."""
        return self.messages.get(name, {})

    def panels(self, person: str, code: str) -> list[dict[str, Any]]:
        """Return the bot's messages about a table in a person's private chat."""
        found = self.chat(f"@{person}").values()
        return [one for one in found if one["by"] == "bot" and any(span[0] == code for span in one["spans"])]

    def has_picture(self, message: dict[str, Any], subject: Subject) -> bool:
        """Return whether a message has this picture; its name is the digest."""
        picture = message["picture"]
        return picture is not None and picture["name"] == subject.digest

    def text(self, message: dict[str, Any]) -> str:
        """Return a message's text."""
        return "".join(span[0] for span in message["spans"])

    def buttons(self, person: str) -> list[tuple[int, str]]:
        """Return message and payload of each button that makes a move."""
        return [
            (message["id"], button["payload"])
            for message in self.chat(f"@{person}").values()
            for row in message.get("rows", ())
            for button in row
            if button["payload"].startswith(("1m", "1t")) and button["kind"] == "press"
        ]


class PlatformPage(Page):
    """The messages that people see and press, on the playground and on platforms that outlive the bot's kills."""

    may_lack_pictures = True
    keeps_groups = True
    patience = 3.0
    """Seconds after which a person gives up waiting for a button: a killed bot can have lost the press."""

    pause = 0.2
    """A chat changes about once a second. Until then the same buttons are expired."""

    redelivers = True
    """If true, the platform delivers a press again that a killed bot had received."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.people = []
        self.done: set[str] = set()
        self.refused: set[str] = set()
        self.asked: dict[str, dict[str, Any]] = {}
        self.last_answers: deque[str] = deque(maxlen=ANSWERS_KEPT)
        self._presses: dict[str, Any] = {}
        self._names = itertools.count(1)
        self._seen: dict[int, tuple[tuple[object, ...], dict[str, Any]]] = {}

    async def catch_up(self) -> None:
        """The platform's messages are always current."""

    @property
    def messages(self) -> dict[str, dict[int, dict[str, Any]]]:  # type: ignore[override]
        """All messages in the playground's format, by chat; all groups are one chat."""
        seen: dict[str, dict[int, dict[str, Any]]] = {}
        for name, messages in self.chats():
            seen.setdefault(name, {}).update(
                {number: self._convert_cached(number, one) for number, one in messages.items()}
            )
        return seen

    def chat(self, name: str) -> dict[int, dict[str, Any]]:
        there = [messages for chat, messages in self.chats() if chat == name]
        return {number: self._convert_cached(number, one) for messages in there for number, one in messages.items()}

    def _convert_cached(self, number: int, message: dict[str, Any]) -> dict[str, Any]:
        """Return a message in the playground's format, converted again only after an edit.

        People read all messages many times a second.
        """
        parts = self.editable_parts(message)
        kept = self._seen.get(number)
        if kept is None or any(now is not then for now, then in zip(parts, kept[0], strict=True)):
            kept = self._seen[number] = (parts, self.convert(message))
        return kept[1]

    def chats(self) -> Iterator[tuple[str, dict[int, dict[str, Any]]]]:
        """Yield each chat's name, and its messages in the platform's format."""
        raise NotImplementedError

    def editable_parts(self, message: dict[str, Any]) -> tuple[object, ...]:
        """Return the parts of a message that an edit replaces."""
        raise NotImplementedError

    def convert(self, message: dict[str, Any]) -> dict[str, Any]:
        """Convert a message to the playground's format."""
        raise NotImplementedError

    def say(self, person: str, text: str) -> None:
        """Send a command to a new group."""
        raise NotImplementedError

    def press_button(self, person: str, message: int, payload: str) -> Any:
        """Press a button; return a key of the press, or None if the message is gone."""
        raise NotImplementedError

    def answer_text(self, press: Any) -> str | None:
        """Return the answer to a press: a toast, empty if it was done, None while there is no answer."""
        raise NotImplementedError

    def panels(self, person: str, code: str) -> list[dict[str, Any]]:
        found = self.chat(f"@{person}").values()
        return [one for one in found if one["by"] == "bot" and code in one["text"]]

    def text(self, message: dict[str, Any]) -> str:
        return str(message["text"])

    async def connect(self, session: aiohttp.ClientSession) -> None:
        await self.bot.wait_until_healthy(session)

    async def listen(self) -> None:
        """Wait until the bot's process ends."""
        assert self.bot.process
        await self.bot.process.wait()

    async def ask(self, name: str = "", /, **wish: Any) -> str:
        name = name or f"t{next(self._names):07}"
        self.asked[name] = wish
        if wish["do"] == "say":
            self.say(wish["as"], wish["text"])
            return "done"
        if name not in self._presses:
            press = self.press_button(wish["as"], wish["message"], wish["payload"])
            if press is None:
                return "lost"
            self._presses[name] = press
        elif not self.redelivers and self.answer_text(self._presses[name]) is None:
            return "lost"
        return await self._wait_for_answer(name)

    async def _wait_for_answer(self, name: str) -> str:
        deadline = time.monotonic() + self.patience
        while (word := self.answer_text(self._presses[name])) is None:
            if not self.bot.is_running or time.monotonic() > deadline:
                self.last_answers.append("lost")
                return "lost"
            await asyncio.sleep(0.005)
        self.last_answers.append(word or "done")
        (self.refused if word else self.done).add(name)
        return "toast" if word else "done"
