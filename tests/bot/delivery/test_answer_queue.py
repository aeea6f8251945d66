"""Answers that change one message. The message ends up with the latest answer, even if earlier ones failed."""

import asyncio
from functools import partial

import pytest

from bot.delivery import answer_queue
from bot.delivery.answer_queue import AnswerQueue
from bot.delivery.outages import Outages
from bot.delivery.send_limiter import SendLimiter
from bot.platform import DeliveryError, MessageRefused, NotDelivered
from bot.rate_limiter import RateLimit

PLACE = "paper:1"


class Message:
    """A message that answers change, with a list of the pages it showed. Changes can fail or wait at the gate."""

    def __init__(self) -> None:
        self.limiter = SendLimiter(lambda _place: RateLimit())
        self.answers = AnswerQueue(self.limiter, Outages(lambda _platform: True, lambda _platform: None))
        self.shown_pages: list[str] = []
        self.errors: list[DeliveryError] = []
        self.tried = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    def show(self, page: str) -> None:
        self.answers.send(PLACE, partial(self._show, page), message="7")

    async def _show(self, page: str) -> None:
        self.tried.set()
        await self.gate.wait()
        if self.errors:
            raise self.errors.pop()
        self.shown_pages.append(page)

    async def wait_until_idle(self) -> None:
        async with asyncio.timeout(10):
            while self.answers.tasks:
                await asyncio.wait(self.answers.tasks)
        assert not self.answers._jobs
        assert not self.answers._waiting


async def test_message_can_change_after_an_expired_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_queue, "GIVE_UP_SECONDS", 0.01)
    message = Message()
    message.limiter.block(PLACE, 3600)
    message.show("lost")
    await message.wait_until_idle()
    assert message.shown_pages == []
    monkeypatch.setattr(answer_queue, "GIVE_UP_SECONDS", 10.0)
    message.limiter._blocked.clear()
    message.show("page")
    await message.wait_until_idle()
    assert message.shown_pages == ["page"]


async def test_newer_change_replaces_a_retried_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_queue, "FIRST_RETRY_SECONDS", 0.001)
    message = Message()
    message.errors = [NotDelivered("away")]
    message.gate.clear()
    message.show("old page")
    await message.tried.wait()
    message.show("new page")
    message.gate.set()
    await message.wait_until_idle()
    assert message.shown_pages == ["new page"]


async def test_change_waits_for_the_current_one() -> None:
    message = Message()
    message.gate.clear()
    message.show("old page")
    await message.tried.wait()
    message.show("middle page")
    message.show("new page")
    # Two calls in flight could arrive in any order.
    assert len(message.answers.tasks) == 1
    message.gate.set()
    await message.wait_until_idle()
    assert message.shown_pages == ["old page", "new page"]


async def test_change_is_made_after_a_refused_one() -> None:
    message = Message()
    message.errors = [MessageRefused("odd")]
    message.gate.clear()
    message.show("old page")
    await message.tried.wait()
    message.show("new page")
    message.gate.set()
    await message.wait_until_idle()
    assert message.shown_pages == ["new page"]
