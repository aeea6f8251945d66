"""A tournament's card in a group on Telegram."""

import pytest

from bot.store import Store
from tests.telegram.players import GROUP, Person, on_telegram, until
from tests.telegram.server import BOT, Chat, TelegramServer


@pytest.fixture(autouse=True)
def _frequent_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.features.tournaments.feature.POLL_SECONDS", 0.05)


def cards(chat: Chat) -> list[str]:
    return [
        message["text"] for message in chat.messages.values() if message["from"]["is_bot"] and "🏆" in message["text"]
    ]


async def test_entering_opens_the_private_chat_and_updates_the_card(store: Store, server: TelegramServer) -> None:
    anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno", has_started=False)
    async with on_telegram(store, server):
        group = server.group(GROUP)
        anna.say("/tournament testa 11", group)
        assert await bruno.press("Sign up", group) == ""
        [url] = [answer["url"] for answer in server.answers.values()]
        assert url == f"https://t.me/{BOT['username']}?start=tournament"
        bruno.start("tournament")
        await until(lambda: any("Not started yet" in message["text"] for message in bruno.private.messages.values()))
        await until(lambda: "2 players:" in cards(group)[-1])
        await anna.press("Options")
        await anna.press("Points to win")
        await anna.press("21")
        await until(lambda: "To 21 points" in cards(group)[-1])
        for label in ("Done", "◀ Back", "Start"):
            await anna.press(label)
        await until(lambda: any("deal 1" in message["text"] for message in bruno.private.messages.values()))
        await until(lambda: "Final" in cards(group)[-1])
        assert len(cards(group)) == 1
