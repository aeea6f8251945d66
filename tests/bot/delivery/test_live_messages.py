"""Live messages: one message in a chat, kept up to date through errors, moves and new editions."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from typing import Any, cast
from unittest.mock import AsyncMock

import pytest

from bot.delivery import live_messages
from bot.delivery.answer_queue import AnswerQueue
from bot.delivery.live_messages import BACK, REPOST, Content, LiveMessages
from bot.delivery.outages import Outages
from bot.delivery.send_limiter import SendLimiter
from bot.panel import Panel, Span
from bot.platform import (
    Adapter,
    ChatGone,
    DeliveryError,
    MessageRefused,
    NotEditable,
    PlatformFailure,
    SentMessage,
    Unreachable,
)
from bot.rate_limiter import RateLimit
from bot.store import Store
from tests.bot.fake_platform import GROUP, FakePlatform

MOVED = "paper:999"
DAY = 86400


class Wall:
    """A live message of a fake chat, with a content that tests change."""

    def __init__(self, store: Store, fake: FakePlatform) -> None:
        self.fake, self.store = fake, store
        self.answers = AnswerQueue(
            SendLimiter(lambda _place: RateLimit()), Outages(lambda _platform: True, lambda _platform: None)
        )
        self.messages = LiveMessages(
            "wall",
            store.client,
            {fake.platform: fake},
            self.answers,
            self.read,
            "wall:{}".format,
            "wish:{}".format,
            DAY,
        )
        self.content = Content(GROUP, panel("first"))

    async def read(self, _name: str) -> Content:
        return self.content

    async def show(self, text: str = "", place: str = GROUP, edition: str = "", announce: bool = False) -> bool:
        """Update the message, wait for the queue, and update it again.

        Return whether the message is up to date, or cannot be sent.
        """
        self.content = Content(place, panel(text), edition, self.announce if announce else None)
        await self.messages.update("1", self.content)
        await self.answers.tasks.wait()
        return await self.messages.update("1", self.content)

    async def announce(self, adapter: Adapter) -> None:
        await adapter.send(self.content.place, panel("news"), "news")

    @property
    def texts(self) -> list[str]:
        return list(self.fake.texts(GROUP))


def panel(text: str) -> Panel:
    return Panel((Span(text),))


@pytest.fixture
def wall(store: Store) -> Wall:
    return Wall(store, FakePlatform())


async def test_changes_edit_the_message(wall: Wall) -> None:
    assert await wall.show("first")
    assert await wall.show("second")
    assert await wall.show("second")
    assert [call[0] for call in wall.fake.calls] == ["send", "edit"]
    assert wall.texts == ["second"]


async def test_new_edition_replaces_the_message(wall: Wall) -> None:
    await wall.show("open", edition="open")
    assert await wall.show("playing", edition="playing")
    assert [call[0] for call in wall.fake.calls] == ["send", "send", "delete"]
    assert wall.texts == ["playing"]


async def test_uneditable_message_is_replaced(wall: Wall) -> None:
    await wall.show("first")
    wall.fake.errors[GROUP].append(NotEditable())
    assert await wall.show("second")
    assert wall.texts == ["second"]


async def test_refused_successor_leaves_the_old_message(wall: Wall, monkeypatch: pytest.MonkeyPatch) -> None:
    await wall.show("open", edition="open")
    wall.fake.errors[GROUP].append(MessageRefused("not now"))
    assert not await wall.show("playing", edition="playing")
    assert wall.texts == ["open"]
    pass_time(monkeypatch, live_messages.REFUSED_SECONDS + 1)
    assert await wall.show("playing", edition="playing")
    assert wall.texts == ["playing"]


class Killed(Exception):
    """The bot was killed."""


class Killable:
    """Passes calls on, and kills the bot before or after one that writes. ``life`` yields until then."""

    def __init__(self, target: object, life: Iterator[int]) -> None:
        self._target, self._life = target, life

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._target, name)
        return self._around(method) if name in ("set", "send", "edit", "delete") else method

    def _around(self, method: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        async def call(*arguments: object, **options: object) -> object:
            self._step()
            result = await method(*arguments, **options)
            self._step()
            return result

        return call

    def _step(self) -> None:
        if next(self._life, None) is None:
            raise Killed


class OneByOne:
    """An `AnswerQueue` whose calls the test makes."""

    def __init__(self) -> None:
        self.due: list[Callable[[], Awaitable[object]]] = []

    def send(self, _place: str, send: Callable[[], Awaitable[object]], *, message: str) -> None:
        self.due.append(send)


async def replace_message(store: Store, fake: FakePlatform, edition: str, life: Iterator[int]) -> None:
    """Show an edition with a bot that has just started, until it is shown or the bot is killed."""
    content, queue = Content(GROUP, panel(edition), edition), OneByOne()

    async def read(_name: str) -> Content:
        return content

    client, adapter = Killable(store.client, life), cast(Adapter, Killable(fake, life))
    adapters, name = {fake.platform: adapter}, str(id(fake))
    answers = cast(AnswerQueue, queue)
    messages = LiveMessages("wall", client, adapters, answers, read, "wall:{}".format, "wish:{}".format, DAY)
    await messages.update(name, content)
    while queue.due:
        await queue.due.pop(0)()


async def test_kill_at_any_point_leaves_one_message_in_the_end(store: Store) -> None:
    for steps in count():
        fake = FakePlatform()
        await replace_message(store, fake, "open", count())
        try:
            await replace_message(store, fake, "playing", iter(range(steps)))
        except Killed:
            # The chat has the old message, the new one or both, but never none.
            assert list(fake.texts(GROUP)) in (["open"], ["open", "playing"], ["playing"])
            await replace_message(store, fake, "playing", count())
            assert list(fake.texts(GROUP)) == ["playing"]
        else:
            break
    # Two writes before and after the send, and one after the deletion: ten points to be killed at.
    assert steps == 10


@pytest.mark.parametrize("error", [MessageRefused("too old"), Unreachable()])
async def test_message_that_cannot_be_deleted_stays(
    wall: Wall, monkeypatch: pytest.MonkeyPatch, error: DeliveryError
) -> None:
    await wall.show("open", edition="open")
    monkeypatch.setattr(wall.fake, "delete", AsyncMock(side_effect=error))
    assert await wall.show("playing", edition="playing")
    assert wall.texts == ["open", "playing"]


@pytest.mark.parametrize("wish", [REPOST, BACK])
async def test_chat_left_before_a_deletion_ends_the_update(wall: Wall, wish: str) -> None:
    await wall.show("open", edition="open")
    wish_for = wall.messages.repost if wish == REPOST else wall.messages.back_in_chat
    send, kicked = wall.fake.send, pytest.MonkeyPatch()

    async def send_and_leave(*arguments: Any) -> SentMessage:
        sent = await send(*arguments)
        kicked.undo()
        await wish_for("1")
        wall.fake.errors[GROUP] += [ChatGone()] * 10
        return sent

    kicked.setattr(wall.fake, "send", send_and_leave)
    assert await wall.show("playing", edition="playing")
    assert [call[0] for call in wall.fake.calls].count("delete") == 1


async def test_announcement_is_sent_once_after_the_message(wall: Wall) -> None:
    await wall.show("playing")
    for _ in range(2):
        assert await wall.show("over", announce=True)
    assert wall.texts == ["over", "news"]


async def test_message_follows_its_chat(wall: Wall) -> None:
    await wall.show("first")
    wall.fake.errors[GROUP].append(ChatGone())
    assert await wall.show("second")
    assert await wall.show("second", MOVED)
    assert list(wall.fake.texts(MOVED)) == ["second"]
    assert wall.texts == ["first"]


async def test_message_that_waited_during_a_move_is_sent_once(wall: Wall, monkeypatch: pytest.MonkeyPatch) -> None:
    send, moved = wall.fake.send, asyncio.Event()

    async def send_slowly(*arguments: Any) -> SentMessage:
        await moved.wait()
        return await send(*arguments)

    monkeypatch.setattr(wall.fake, "send", send_slowly)
    assert not await wall.messages.update("1", wall.content)
    pass_time(monkeypatch, live_messages.RETRY_SECONDS + 1)
    asyncio.get_running_loop().call_later(0.1, moved.set)
    assert await wall.show("first", MOVED)
    assert [call[:2] for call in wall.fake.calls] == [("send", MOVED)]


async def test_chat_gets_nothing_until_the_bot_is_back(wall: Wall) -> None:
    wall.fake.errors[GROUP].append(ChatGone())
    assert await wall.show("first")
    assert await wall.show("second")
    assert wall.texts == []
    await wall.messages.back_in_chat("1")
    assert await wall.show("third")
    assert wall.texts == ["third"]


async def test_refused_message_is_not_retried_at_once(wall: Wall, monkeypatch: pytest.MonkeyPatch) -> None:
    wall.fake.errors[GROUP].append(MessageRefused("not now"))
    assert not await wall.show("first")
    assert not await wall.show("first")
    pass_time(monkeypatch, live_messages.REFUSED_SECONDS + 1)
    assert await wall.show("first")
    assert len(wall.fake.calls) == 2


def pass_time(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    clock = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: clock() + seconds)


@pytest.mark.parametrize("is_killed", [False, True])
async def test_sent_message_without_an_answer_is_edited(wall: Wall, is_killed: bool) -> None:
    wall.fake.errors_after_delivery[GROUP].append(PlatformFailure("no answer"))
    assert not await wall.show("first")
    if is_killed:
        wall = Wall(wall.store, wall.fake)
    assert await wall.show("second")
    assert wall.texts == ["second"]


async def test_reposted_message_is_the_lowest(wall: Wall) -> None:
    await wall.show("first")
    await wall.fake.send(GROUP, panel("chat"), "chat")
    for _ in range(2):
        await wall.messages.repost("1")
    assert await wall.show("first")
    assert wall.texts == ["chat", "first"]


async def test_card_stored_by_an_earlier_version_is_edited(wall: Wall) -> None:
    await wall.show("first")
    [number] = wall.fake.messages[GROUP]
    card = {"place": GROUP, "message": str(number), "digest": panel("first").digest, "sent": 1, "tried": ""}
    card |= {"outdated": "", "is_dropped": False, "is_announced": False}
    await wall.store.client.set("wall:1", json.dumps(card))
    assert await wall.show("second", announce=True)
    assert wall.texts == ["second", "news"]
