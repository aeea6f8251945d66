"""Chats with the buttons that people press, on the playground and on platforms that outlive the bot's kills."""

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
ANSWERS_KEPT = 200  # number of last answers to presses that are kept for error messages


class Page:
    """A browser tab without the browser: it sees messages, presses buttons, and reconnects."""

    platform = "playground"
    can_be_duplicated: frozenset[str] = frozenset()
    """The kinds of messages that a kill can duplicate here: "cards", "hands" or "boards".

    The platform does not recognise these when they are sent again.
    """

    may_lack_pictures = False  # whether a text can be sent alone because its upload was late
    pause = 0.02  # seconds that people wait after a press without effect
    keeps_groups = False  # whether groups keep all messages; the playground forgets old ones, and pictures earlier
    presses_invite = False  # whether people press *Invite* on challenges

    def complaints(self) -> list[str]:
        """Return the platform's complaints; the playground has none."""
        return []

    def count_at_risk(self) -> int:
        """Return how many messages a kill could duplicate now: the bot has sent them, but perhaps not stored that."""
        return 1

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.messages: dict[str, dict[int, dict[str, Any]]] = {}
        self.people: list[dict[str, Any]] = []
        self.groups: set[str] = set()
        self.toasts: dict[str, str] = {}  # by the name of the request
        self.futures: dict[str, asyncio.Future[str]] = {}
        self.accepted: set[str] = set()
        self.refused: set[str] = set()
        self.requests: dict[str, dict[str, Any]] = {}
        self.last_answers: deque[str] = deque(maxlen=ANSWERS_KEPT)
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._number = 0

    async def connect(self, session: aiohttp.ClientSession) -> None:
        self._session, deadline = session, time.monotonic() + CONNECT_SECONDS
        while self.bot.is_running:
            try:
                self._socket = await session.ws_connect(f"{self.bot.url}/ws", headers={"Origin": self.bot.url})
                hello = json.loads((await self._socket.receive()).data)
            except (aiohttp.ClientError, OSError, TypeError, ValueError):
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.05)
                continue
            self._update_people(hello)
            self.messages = {
                chat: {message["id"]: message for message in messages} for chat, messages in hello["messages"].items()
            }
            return

    async def listen(self) -> None:
        """Receive until the bot's process ends. A broken connection is opened again, as the page does."""
        while self.bot.is_running:
            await self._receive_messages()
            await self.connect(self._session)

    async def _receive_messages(self) -> None:
        assert self._socket
        async for frame in self._socket:
            if frame.type is not aiohttp.WSMsgType.TEXT:
                break
            message = json.loads(frame.data)
            if message["type"] == "message":
                self.messages.setdefault(message["chat"], {})[message["message"]["id"]] = message["message"]
            elif message["type"] == "deleted":
                self.messages.get(message["chat"], {}).pop(message["id"], None)
            elif message["type"] == "people":
                self._update_people(message)
            elif message.get("n") in self.futures:
                future = self.futures.pop(message["n"])
                if message.get("toast"):
                    self.toasts[message["n"]] = message["toast"]
                if not future.done():
                    future.set_result(message["type"] if not message.get("toast") else "toast")
        for future in self.futures.values():
            if not future.done():
                future.set_result("lost")
        self.futures.clear()

    async def ask(self, name: str = "", /, **request: Any) -> str:
        """Send a request, and return how it was answered.

        The answer is "done", "toast" (answered without effect), "refused", or "lost" with the connection. A request
        sent again under the same ``name`` is the same request.
        """
        self._number += 1
        name = name or f"k{self._number:07}"
        self.requests[name] = request
        future = self.futures[name] = asyncio.get_running_loop().create_future()
        assert self._socket
        try:
            await self._socket.send_str(json.dumps({**request, "n": name}))
        except (ConnectionError, RuntimeError, aiohttp.ClientError):
            self.futures.pop(name, None)
            return "lost"
        answer: str = await future
        self.last_answers.append(answer)
        if answer == "done":
            self.accepted.add(name)
        elif answer != "lost":
            self.refused.add(name)
        return answer

    async def ask_for_toast(self, **request: Any) -> str:
        """Send a request, and return its toast, empty if there is none or the answer was lost."""
        name = f"t{self._number:07}"
        await self.ask(name, **request)
        return self.toasts.pop(name, "")

    def _update_people(self, message: dict[str, Any]) -> None:
        self.people = message["people"]
        self.groups = {chat["id"] for chat in message["chats"] if not chat["id"].startswith("@")}

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
        messages = self.chat(f"@{person}").values()
        return [
            message
            for message in messages
            if message["by"] == "bot" and any(span[0] == code for span in message["spans"])
        ]

    def has_picture(self, message: dict[str, Any], subject: Subject) -> bool:
        """Return whether a message has this picture; its name is the digest."""
        picture = message["picture"]
        return picture is not None and picture["name"] == subject.digest

    def text(self, message: dict[str, Any]) -> str:
        return "".join(span[0] for span in message["spans"])

    def buttons(self, person: str) -> list[tuple[int, str]]:
        """Return message and payload of the buttons for moves and table actions in a person's private chat."""
        return [
            (message["id"], button["payload"])
            for message in self.chat(f"@{person}").values()
            for row in message.get("rows", ())
            for button in row
            if button["payload"].startswith(("1m", "1t")) and button["kind"] == "press"
        ]


class PlatformPage(Page):
    """Chats with the buttons that people press, on a platform that outlives the bot's kills."""

    may_lack_pictures = True
    keeps_groups = True
    patience = 3.0
    """Seconds after which a person gives up waiting for a button: a killed bot might have lost the press."""

    pause = 0.2
    """Seconds that people wait after a press without effect: a chat changes only about once a second."""

    redelivers = True
    """If true, the platform delivers a press again that a killed bot had received."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.people = []
        self.accepted: set[str] = set()
        self.refused: set[str] = set()
        self.requests: dict[str, dict[str, Any]] = {}
        self.last_answers: deque[str] = deque(maxlen=ANSWERS_KEPT)
        self._presses: dict[str, Any] = {}
        self._names = itertools.count(1)
        self._converted: dict[int, tuple[tuple[object, ...], dict[str, Any]]] = {}

    async def catch_up(self) -> None:
        """Return at once, because the platform's messages are always current."""

    @property
    def messages(self) -> dict[str, dict[int, dict[str, Any]]]:  # type: ignore[override]
        """All messages in the playground's format, by chat; all groups are one chat."""
        converted: dict[str, dict[int, dict[str, Any]]] = {}
        for name, messages in self.chats():
            converted.setdefault(name, {}).update(
                {number: self._convert_cached(number, message) for number, message in messages.items()}
            )
        return converted

    def chat(self, name: str) -> dict[int, dict[str, Any]]:
        chats = [messages for chat, messages in self.chats() if chat == name]
        return {
            number: self._convert_cached(number, message) for messages in chats for number, message in messages.items()
        }

    def _convert_cached(self, number: int, message: dict[str, Any]) -> dict[str, Any]:
        """Return a message in the playground's format, converted again only after an edit.

        People read all messages many times a second.
        """
        parts = self.editable_parts(message)
        cached = self._converted.get(number)
        if cached is None or any(part is not old_part for part, old_part in zip(parts, cached[0], strict=True)):
            cached = self._converted[number] = (parts, self.convert(message))
        return cached[1]

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
        messages = self.chat(f"@{person}").values()
        return [message for message in messages if message["by"] == "bot" and code in message["text"]]

    def text(self, message: dict[str, Any]) -> str:
        return str(message["text"])

    async def connect(self, session: aiohttp.ClientSession) -> None:
        await self.bot.wait_until_healthy(session)

    async def listen(self) -> None:
        """Wait until the bot's process ends."""
        assert self.bot.process
        await self.bot.process.wait()

    async def ask(self, name: str = "", /, **request: Any) -> str:
        name = name or f"t{next(self._names):07}"
        self.requests[name] = request
        if request["do"] == "say":
            self.say(request["as"], request["text"])
            return "done"
        if name not in self._presses:
            press = self.press_button(request["as"], request["message"], request["payload"])
            if press is None:
                return "lost"
            self._presses[name] = press
        elif not self.redelivers and self.answer_text(self._presses[name]) is None:
            return "lost"
        return await self._wait_for_answer(name)

    async def _wait_for_answer(self, name: str) -> str:
        deadline = time.monotonic() + self.patience
        while (text := self.answer_text(self._presses[name])) is None:
            if not self.bot.is_running or time.monotonic() > deadline:
                self.last_answers.append("lost")
                return "lost"
            await asyncio.sleep(0.005)
        self.last_answers.append(text or "done")
        (self.refused if text else self.accepted).add(name)
        return "toast" if text else "done"
