"""Pages as rich messages: sent, edited, refused, and cut off by a kill."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from adapters.telegram.rich import messages
from adapters.telegram.rich.messages import RichMessages
from bot.store import Store
from engine.robots.verdicts import Verdict
from tests.bot.finished.games import finished_game
from tests.telegram.content import Refused, buttons_of, text_of
from tests.telegram.players import GROUP, ObservedTelegram, Person, on_telegram, until
from tests.telegram.rich import all_blocks, rich_lines, table_texts
from tests.telegram.server import CONTENT_FIELDS, Chat, Failure, TelegramServer

REFUSAL = Failure(Refused(400, "Bad Request: RICH_MESSAGE_CONTENT_REQUIRED"))

# Each page's command, the heads of its first table, and a text on it.
PAGES = {
    "en": {
        "leaderboard": (["#", "Player", "Rating", "Games", "Won"], "Leaderboard"),
        "stats": (["Game", "Rating", "Games", "Won", "Rank"], "Last games"),
        "analyse": (["Player", "Good", "Decisions", "Given away"], "Analysis"),
        "rules testa": (["Card", "Points"], "Ten cards each"),
    },
    "it": {
        "leaderboard": (["#", "Nome", "Punteggio", "Partite", "Vinte"], "Classifica"),
        "stats": (["Gioco", "Punteggio", "Partite", "Vinte", "Posto"], "Ultime partite"),
        "analyse": (["Nome", "Buone", "Decisioni", "Buttati via"], "Analisi"),
        "rules testa": (["Carta", "Punti"], "Dieci carte a testa"),
    },
}
EACH_LANGUAGE = pytest.mark.parametrize("language", PAGES)


@asynccontextmanager
async def played(store: Store, server: TelegramServer, **settings_fields: Any) -> AsyncIterator[ObservedTelegram]:
    """Run a bot with rich messages, on whose store Anna and Bruno have played four games."""
    async with on_telegram(store, server, **{"telegram_rich_messages": True, **settings_fields}) as adapter:
        for number in range(4):
            game = replace(finished_game(number, ended=int(time.time())), people=["telegram:1", "telegram:2"])
            await adapter.worker.archive.keep(replace(game, chats=[f"telegram:{GROUP}"]))
        await adapter.worker.ratings.catch_up()

        async def verdicts(_record: object, deal: int) -> list[Verdict]:
            return [Verdict(deal, 3, 1, "play 4D", "play 3D", 1.5, exact=False)]

        adapter.worker.robot_pool.verdicts = verdicts  # type: ignore[method-assign, assignment]
        yield adapter


def last_answer(chat: Chat) -> dict[str, Any]:
    return [message for message in chat.messages.values() if message["from"]["is_bot"]][-1]


def count_answers(chat: Chat) -> int:
    return sum(message["from"]["is_bot"] for message in chat.messages.values())


async def ask(adapter: ObservedTelegram, person: Person, command: str) -> dict[str, Any]:
    """Write a command in the private chat, and return the last answer once there is one message more."""
    before = count_answers(person.private)
    person.say(f"/{command}", person.private)
    await until(lambda: count_answers(person.private) > before)
    await adapter.worker.wait_until_idle()
    for label in ("Refresh", "Aggiorna"):
        if command == "analyse" and person.button(label, person.private):
            await person.press(label)
            await adapter.worker.wait_until_idle()
    assert count_answers(person.private) == before + 1
    return last_answer(person.private)


def first_table(message: dict[str, Any]) -> list[list[str]]:
    blocks = list(all_blocks(message["rich_message"]["blocks"]))
    return table_texts(next(block for block in blocks if block["type"] == "table"))


@EACH_LANGUAGE
async def test_page_is_a_rich_message(store: Store, server: TelegramServer, language: str) -> None:
    anna = Person(server, 1, "Anna", language)
    async with played(store, server, pictures=True) as adapter:
        for command, (heads, text) in PAGES[language].items():
            message = await ask(adapter, anna, command)
            table = first_table(message)
            assert table[0] == heads
            assert len(table) > 1
            assert text in "\n".join(rich_lines(message))
            assert ("text" in message, "photo" in message) == (False, False)


@EACH_LANGUAGE
@pytest.mark.parametrize("is_missing", [False, True], ids=["refused", "missing"])
async def test_refused_rich_message_is_sent_as_text(
    store: Store, server: TelegramServer, language: str, is_missing: bool
) -> None:
    anna = Person(server, 1, "Anna", language)
    if is_missing:
        server.missing_methods.add("sendRichMessage")
    else:
        server.fail_next("sendRichMessage", REFUSAL)
    async with played(store, server) as adapter:
        with capture_logs() as logs:
            refused_pages = [await ask(adapter, anna, command) for command in PAGES[language]]
        adapter.messages._rich = RichMessages(adapter.messages._post, is_on=False)
        plain = [await ask(adapter, anna, command) for command in PAGES[language]]
        for message, expected, (_heads, text) in zip(refused_pages, plain, PAGES[language].values(), strict=True):
            assert text in text_of(message)
            assert [message.get(name) for name in CONTENT_FIELDS] == [expected.get(name) for name in CONTENT_FIELDS]
        # The refusal is remembered and logged once.
        missing_features = [log["what"] for log in logs if log["event"] == "telegram_feature_missing"]
        assert missing_features == ["show a page as a rich message"]
        attempts = [method for method, fields in server.calls if "rich_message" in fields]
        assert attempts == ([] if is_missing else ["sendRichMessage"])


async def test_refusal_is_forgotten_after_an_hour(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "REFUSED_SECONDS", 0.0)
    anna = Person(server, 1, "Anna")
    server.fail_next("sendRichMessage", REFUSAL)
    async with played(store, server) as adapter:
        assert "text" in await ask(adapter, anna, "stats")
        assert "rich_message" in await ask(adapter, anna, "stats")


async def test_rich_messages_are_off_by_default(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna")
    async with played(store, server, telegram_rich_messages=False) as adapter:
        for command in PAGES["en"]:
            assert "text" in await ask(adapter, anna, command)
    assert not any("rich_message" in fields for _method, fields in server.calls)


async def test_chat_that_refuses_rich_messages_gets_texts(store: Store, server: TelegramServer) -> None:
    anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
    description = "Bad Request: not enough rights to send the rich message to the chat"
    server.fail_next("sendRichMessage", Failure(Refused(400, description)))
    async with played(store, server) as adapter:
        assert "text" in await ask(adapter, anna, "stats")
        assert "text" in await ask(adapter, anna, "stats")
        assert "rich_message" in await ask(adapter, bruno, "stats")


async def test_page_of_a_leaderboard_stays_a_rich_message(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna")
    async with played(store, server) as adapter:
        message = await ask(adapter, anna, "leaderboard")
        before = rich_lines(message)
        await anna.press("Testa a Testa")
        await until(lambda: "Testa a Testa" in rich_lines(message)[1])
        assert "• Testa a Testa" in [button["text"] for button in buttons_of(message)]
        # A page without tables is a text, in the same message. The way back leads to a table again.
        await anna.press("Spades")
        await until(lambda: "Nobody is ranked yet" in text_of(message))
        assert "rich_message" not in message
        await anna.press("all games")
        await until(lambda: "rich_message" in message and rich_lines(message) == before)
        assert count_answers(anna.private) == 1


@pytest.mark.parametrize("reason", ["RICH_MESSAGE_CONTENT_REQUIRED", "message can't be edited"])
async def test_refused_edit_changes_the_same_message_into_a_text(
    store: Store, server: TelegramServer, reason: str
) -> None:
    anna = Person(server, 1, "Anna")
    async with played(store, server) as adapter:
        message = await ask(adapter, anna, "leaderboard")
        server.fail_next("editMessageText", Failure(Refused(400, f"Bad Request: {reason}")))
        await anna.press("Testa a Testa")
        await until(lambda: "Testa a Testa" in text_of(message))
        assert "rich_message" not in message
        assert count_answers(anna.private) == 1


async def test_lost_answer_is_not_followed_by_a_text(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna")
    server.fail_next("sendRichMessage", Failure(hang_up=True, done_first=True))
    async with played(store, server) as adapter:
        anna.say("/stats", anna.private)
        await adapter.worker.wait_until_idle()
        await until(lambda: count_answers(anna.private) >= 1)
        await adapter.worker.wait_until_idle()
    answers = [message for message in anna.private.messages.values() if message["from"]["is_bot"]]
    assert all("rich_message" in message for message in answers)
    assert not [method for method, _fields in server.calls if method == "sendMessage"]


async def test_photo_stays_a_photo(store: Store, server: TelegramServer) -> None:
    """A photo cannot become a rich message. Its pages are photos as long as they have pictures."""
    anna = Person(server, 1, "Anna")
    server.fail_next("sendRichMessage", REFUSAL)
    async with played(store, server, pictures=True) as adapter:
        message = await ask(adapter, anna, "leaderboard")
        assert "photo" in message
        adapter.messages._rich = RichMessages(adapter.messages._post, is_on=True)
        await anna.press("Testa a Testa")
        await until(lambda: "Testa a Testa" in message["caption"])
        assert count_answers(anna.private) == 1
