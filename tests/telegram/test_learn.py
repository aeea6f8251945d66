"""Courses on Telegram: each tap edits one message with a picture."""

from typing import Any

import pytest

from bot.store import Store
from tests.telegram.content import text_of
from tests.telegram.players import on_telegram, seat_people, until
from tests.telegram.server import Chat, TelegramServer
from tests.telegram.test_pictures import painted_texts

pytestmark = pytest.mark.usefixtures("painted_texts")
__all__ = ["painted_texts"]


def course_messages(chat: Chat) -> list[dict[str, Any]]:
    signs = ("🎓", "Tressette · ")
    return [message for message in chat.messages.values() if any(sign in text_of(message) for sign in signs)]


async def test_taps_go_through_a_course_with_pictures(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, pictures=True) as adapter:
        [anna, _bruno] = await seat_people(server, "testa")
        anna.say("/learn", anna.private)
        await until(lambda: len(course_messages(anna.private)) == 1)
        await anna.press("Tressette", anna.private)
        await until(lambda: any("Tressette · 1 of 9" in text_of(message) for message in course_messages(anna.private)))
        await adapter.worker.wait_until_idle()
        assert any("photo" in message for message in course_messages(anna.private))
        await anna.press("A🏆", anna.private)
        await until(lambda: any("❌" in text_of(message) for message in course_messages(anna.private)))
        await anna.press("3🏆", anna.private)
        await until(lambda: any("Tressette · 2 of 9" in text_of(message) for message in course_messages(anna.private)))
        assert len(course_messages(anna.private)) == 1
        await adapter.worker.wait_until_idle()
