"""What people see of the bot and press, on its playground and on platforms that live on while it is killed."""

import asyncio
import itertools
import json
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

import aiohttp

from bot.picture import Subject
from tests.kills.bot_process import Bot

CONNECT_SECONDS = 90.0
"""Seconds that a bot may take to open its page. On a slow machine its start takes long."""

ANSWERS_KEPT = 200
"""Answers to presses that are remembered, for whoever asks why none counts."""


class Page:
    """A browser's tab, without the browser: it sees messages, presses buttons, and asks again after a lost line."""

    platform = "playground"
    may_double: frozenset[str] = frozenset()
    """Which messages a kill may double here, "cards" and "hands": those of which the platform cannot tell, when they are
    sent again, that it has them.
    """

    may_lack_pictures = False
    """Whether a text may go alone here, because its upload was late."""

    pause = 0.02
    """Seconds that people wait after a press that did nothing."""

    keeps_groups = False
    """Whether all that stands in groups is kept: the playground forgets older messages, and older pictures before."""

    presses_invite = False
    """Whether people press *Invite* on challenges: its page comes to the private chat."""

    def complaints(self) -> list[str]:
        """Return what the platform holds against the bot; the playground holds nothing."""
        return []

    def count_at_risk(self) -> int:
        """How many messages a kill at this moment may double: those that were sent and perhaps not yet written down."""
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
        """Until the bot is no more. A line that breaks while it lives is opened anew, as the page does."""
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
        """A request; "done", "toast" (answered, and nothing was done), "refused", or "lost" with the line.

        ``name`` is the request's own: asked again under it, it is the same request.
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
        """Until all that the bot has told so far is here. A line brings its words in order, so an answer to nonsense comes
        after them.
        """
        await self.ask()

    def chat(self, name: str) -> dict[int, dict[str, Any]]:
        """The messages of one chat: somebody's private one is ``@`` and the person, a group is a number."""
        return self.messages.get(name, {})

    def panels(self, person: str, code: str) -> list[dict[str, Any]]:
        """The bot's messages in somebody's private chat that are about a table."""
        found = self.chat(f"@{person}").values()
        return [one for one in found if one["by"] == "bot" and any(span[0] == code for span in one["spans"])]

    def has_picture(self, message: dict[str, Any], subject: Subject) -> bool:
        """Whether this is the picture that a message has: its name says which."""
        picture = message["picture"]
        return picture is not None and picture["name"] == subject.digest

    def text(self, message: dict[str, Any]) -> str:
        """What a message reads like."""
        return "".join(span[0] for span in message["spans"])

    def buttons(self, person: str) -> list[tuple[int, str]]:
        """Everything that makes a move, on any of this person's panels."""
        return [
            (message["id"], button["payload"])
            for message in self.chat(f"@{person}").values()
            for row in message.get("rows", ())
            for button in row
            if button["payload"].startswith(("1m", "1t")) and button["kind"] == "press"
        ]


class PlatformPage(Page):
    """What people see on a platform of its own, which lives on while the bot is killed.

    A press waits for its answer for a while; asked again it is the same press. Each challenge is made in a chat of its
    own, for a group is slow.
    """

    may_lack_pictures = True
    keeps_groups = True
    patience = 3.0
    """Seconds after which a person gives up a button that turns: a bot that is killed may have taken a press along."""

    pause = 0.2
    """A chat is changed once a second or so: until then the same buttons only say that they are old."""

    redelivers = True
    """Whether the platform brings a press that a killed bot took along to the next one."""

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
        """What a platform has stands here as it comes."""

    @property
    def messages(self) -> dict[str, dict[int, dict[str, Any]]]:  # type: ignore[override]
        """As the playground's page has them: by chat, all groups in one."""
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
        """A message as the playground's page has it, put together once for as long as it is not edited: people look at
        all messages many times a second.
        """
        parts = self.editable_parts(message)
        kept = self._seen.get(number)
        if kept is None or any(now is not then for now, then in zip(parts, kept[0], strict=True)):
            kept = self._seen[number] = (parts, self.convert(message))
        return kept[1]

    def chats(self) -> Iterator[tuple[str, dict[int, dict[str, Any]]]]:
        """What each chat is called, and its messages as the platform has them."""
        raise NotImplementedError

    def editable_parts(self, message: dict[str, Any]) -> tuple[object, ...]:
        """What an edit gives a message anew."""
        raise NotImplementedError

    def convert(self, message: dict[str, Any]) -> dict[str, Any]:
        """A message as the playground's page has it."""
        raise NotImplementedError

    def say(self, person: str, text: str) -> None:
        """Somebody gives a command in a new group."""
        raise NotImplementedError

    def press_button(self, person: str, message: int, payload: str) -> Any:
        """Somebody presses a button; what the press is called, None if the message is gone."""
        raise NotImplementedError

    def answer_text(self, press: Any) -> str | None:
        """What a press was answered: a word, empty if it was done; None as long as it was not."""
        raise NotImplementedError

    def panels(self, person: str, code: str) -> list[dict[str, Any]]:
        found = self.chat(f"@{person}").values()
        return [one for one in found if one["by"] == "bot" and code in one["text"]]

    def text(self, message: dict[str, Any]) -> str:
        return str(message["text"])

    async def connect(self, session: aiohttp.ClientSession) -> None:
        await self.bot.wait_until_healthy(session)

    async def listen(self) -> None:
        """Until the bot is no more."""
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
