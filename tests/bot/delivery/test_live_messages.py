"""Live messages: one message in a chat, kept up to date through errors, moves and new editions."""

import asyncio
import json
import time
from typing import Any

import pytest

from bot.delivery import live_messages
from bot.delivery.answer_queue import AnswerQueue
from bot.delivery.live_messages import Content, LiveMessages
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
    assert [call[0] for call in wall.fake.calls] == ["send", "delete", "send"]
    assert wall.texts == ["playing"]


async def test_uneditable_message_is_replaced(wall: Wall) -> None:
    await wall.show("first")
    wall.fake.errors[GROUP].append(NotEditable())
    assert await wall.show("second")
    assert wall.texts == ["second"]


@pytest.mark.parametrize("error", [MessageRefused("too old"), Unreachable()])
async def test_message_that_cannot_be_deleted_stays(wall: Wall, error: DeliveryError) -> None:
    await wall.show("open", edition="open")
    wall.fake.errors[GROUP].append(error)
    assert await wall.show("playing", edition="playing")
    assert wall.texts == ["open", "playing"]


async def test_announcement_comes_once_after_the_message(wall: Wall) -> None:
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


async def test_chat_without_the_bot_is_left_alone_until_it_is_back(wall: Wall) -> None:
    wall.fake.errors[GROUP].append(ChatGone())
    assert await wall.show("first")
    assert await wall.show("second")
    assert wall.texts == []
    await wall.messages.back_in_chat("1")
    assert await wall.show("third")
    assert wall.texts == ["third"]


async def test_refused_message_waits(wall: Wall, monkeypatch: pytest.MonkeyPatch) -> None:
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
