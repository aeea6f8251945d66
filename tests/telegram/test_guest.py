"""Guest mode: tables begun by a call of the bot's name in a chat without it."""

from pathlib import Path
from typing import Any

import aiohttp
import pytest
from structlog.testing import capture_logs

from adapters.telegram import guest
from bot.finished.ratings import Scope
from bot.handlers import press_limits
from bot.rate_limiter import RateLimit
from bot.store import Store
from engine import verify
from tests.bot.fake_platform import NAMES
from tests.kills.bot_process import Bot, free_port
from tests.telegram.content import Refused, buttons_of
from tests.telegram.players import GROUP, Person, on_telegram, until
from tests.telegram.server import BOT, GUEST_CHAT, TOKEN, Chat, Failure, TelegramServer
from tests.telegram.test_callback_mode import make_offer_payload
from tests.telegram.test_inline import (
    ELSEWHERE,
    LINK,
    chat_without_bot,
    find_share_queries,
    only_text,
    open_private_chat,
    payload_of,
    play_until,
    table_of,
)
from tests.telegram.test_webhook import webhook_settings

HINT = "To play here, write “challenge” after my name, and a game if you like."
NAME = f"@{BOT['username']}"


async def call(server: TelegramServer, person: Person, chat: Chat, words: str) -> dict[str, Any]:
    """Write the bot's name and words in a chat; return the answer's message."""
    before = len(chat.messages)
    server.call_guest(person.number, chat, f"{NAME} {words}")
    await until(lambda: len(chat.messages) > before)
    return list(chat.messages.values())[-1]


@pytest.mark.long
async def test_whole_game_begins_with_a_guest_call(store: Store, server: TelegramServer) -> None:
    anna, bruno = (Person(server, number, name) for number, name in enumerate(NAMES[:2], 1))
    chat = chat_without_bot()
    async with on_telegram(store, server) as adapter:
        for person in (anna, bruno):
            await open_private_chat(person)
        await call(server, anna, chat, "challenge metamazzo")
        await bruno.press("Join", chat)
        await play_until([anna, bruno], lambda: " beat" in only_text(chat))
        await until(lambda: anna.button("Rematch", chat) is not None)
        [finished] = [game async for game in adapter.worker.archive.games()]
        verify(finished.record)
        scope = Scope(chat=f"telegram:~{ELSEWHERE}", game="metamazzo")
        assert (await adapter.worker.ratings.standing(scope, "telegram:1")).games == 1
        # Nothing was sent to the chat whose id the call named.
        assert GUEST_CHAT == GROUP
        assert not [fields for _method, fields in server.calls if fields.get("chat_id") == GUEST_CHAT]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("challenge", "Pizzichino, 2 players, to 51"),
        ("sfida metamazzo", "Metà Mazzo, 2 players, to 51"),
        ("/Challenge, spades 500!", "Spades, 2 players, to 500"),
        ("challenge @anna metamazzo to 31", "Metà Mazzo, 2 players, to 31"),
    ],
)
async def test_call_posts_the_challenge_it_names(store: Store, server: TelegramServer, words: str, line: str) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        message = await call(server, anna, chat, words)
        assert line in message["text"]
        await bruno.send_press(chat, message, payload_of(message))
        assert (await table_of(adapter, bruno)).hosts == (f"telegram:~{ELSEWHERE}/{message['inline_message_id']}",)


@pytest.mark.parametrize("words", ["", "hello", "challenge chess", "challenge 2 2 2", "🂠"])
async def test_other_call_gets_a_hint(store: Store, server: TelegramServer, words: str) -> None:
    anna, chat = Person(server, 1, "Anna"), chat_without_bot()
    async with on_telegram(store, server):
        message = await call(server, anna, chat, words)
        assert message["text"] == HINT
        assert [button.get("url") for button in buttons_of(message)] == [None, f"{LINK}guest"]
        assert len(find_share_queries(chat)) == 1
        anna.start("guest")
        await until(lambda: anna.button("Play a robot", anna.private) is not None)


async def test_hint_is_in_the_callers_language(store: Store, server: TelegramServer) -> None:
    server.supports_inline = False
    anna, chat = Person(server, 1, "Anna", "it"), chat_without_bot()
    async with on_telegram(store, server):
        message = await call(server, anna, chat, "ciao")
        assert "scrivi «sfida» dopo il mio nome" in message["text"]
        assert [button["text"] for button in buttons_of(message)] == ["Apri la nostra chat"]


async def test_only_people_who_name_the_bot_get_an_answer(store: Store, server: TelegramServer) -> None:
    Person(server, 1, "Anna")
    chat = chat_without_bot()
    server.users[9] = {"id": 9, "is_bot": True, "first_name": "Other bot", "username": "other_bot"}
    async with on_telegram(store, server):
        server.call_guest(1, chat, "challenge")
        server.call_guest(1, chat, f"{NAME}2 challenge")
        server.call_guest(9, chat, f"{NAME} challenge")
        server.call_guest(1, chat, f"{NAME} challenge", sender_chat={"id": -5, "type": "channel", "title": "News"})
        query = server.call_guest(1, chat, f"Anna and {NAME.upper()}: challenge")
        await until(lambda: not server.pending)
        assert server.guests.answered == [query]


async def test_banned_person_gets_no_answer(store: Store, server: TelegramServer) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        await adapter.worker.store.levers.ban("telegram:1", "test")
        server.call_guest(anna.number, chat, f"{NAME} challenge")
        await call(server, bruno, chat, "challenge")
        await until(lambda: not server.pending)
        assert len(chat.messages) == 1


async def test_calls_share_the_limit_of_inline_queries(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(press_limits, "PRESSES_OF_PERSON", RateLimit(burst=4, interval=3600.0))
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server, rate_limits=True):
        for _ in range(6):
            server.call_guest(anna.number, chat, f"{NAME} challenge")
        await until(lambda: not server.pending)
        # Each answered call counts twice, because its offer is noted.
        assert 2 <= len(chat.messages) <= 4
        before = len(chat.messages)
        await call(server, bruno, chat, "challenge")
        assert len(chat.messages) == before + 1


async def test_message_belongs_to_the_posted_offer(store: Store, server: TelegramServer) -> None:
    anna, carla, chat = Person(server, 1, "Anna"), Person(server, 3, "Carla"), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        message = await call(server, anna, chat, "challenge metamazzo")
        await until(lambda: not server.pending)
        assert await carla.send_press(chat, message, await make_offer_payload(server, carla))
        assert await adapter.worker.room.lists.tables_of("telegram:3") == []
        await carla.send_press(chat, message, payload_of(message))
        assert (await table_of(adapter, carla)).game_id == "metamazzo"


async def test_repeated_call_is_answered_once(store: Store, server: TelegramServer) -> None:
    anna, chat = Person(server, 1, "Anna"), chat_without_bot()
    async with on_telegram(store, server, **webhook_settings(free_port())) as adapter:
        await until(lambda: adapter.healthy)
        server.redeliver = True
        await call(server, anna, chat, "challenge")
        await until(lambda: len(server.refused_by_webhook) > 3)
        server.redeliver = False
        await until(lambda: not server.pending)
        assert len(chat.messages) == 1
        assert sum(method == "answerGuestQuery" for method, _fields in server.calls) > 1


@pytest.mark.parametrize("done_first", [False, True])
async def test_lost_answer_is_sent_again(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch, done_first: bool
) -> None:
    monkeypatch.setattr(guest, "RETRY_PAUSES", (0.01, 0.01))
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    server.fail_next("answerGuestQuery", Failure(hang_up=True, done_first=done_first))
    async with on_telegram(store, server) as adapter:
        message = await call(server, anna, chat, "challenge")
        await until(lambda: not server.pending)
        assert len(chat.messages) == 1
        # The bot does not know the message's id if the answer was lost. The first press tells it.
        await bruno.send_press(chat, message, payload_of(message))
        assert (await table_of(adapter, bruno)).phase == "playing"


@pytest.mark.parametrize("refusal", [Refused(400, "Bad Request: GUEST_QUERY_INVALID"), Refused(404, "Not Found")])
async def test_refused_answer_is_only_logged(store: Store, server: TelegramServer, refusal: Refused) -> None:
    anna, chat = Person(server, 1, "Anna"), chat_without_bot()
    server.fail_next("answerGuestQuery", Failure(refusal))
    with capture_logs() as logs:
        async with on_telegram(store, server):
            server.call_guest(anna.number, chat, f"{NAME} challenge")
            await until(lambda: not server.pending)
    assert not chat.messages
    events = [line["event"] for line in logs if line["event"].startswith("telegram")]
    assert events in (["telegram_guest_call_unanswered"], ["telegram_answer_not_sent"])
    assert not [line for line in logs if line["log_level"] in ("warning", "error")]


@pytest.mark.long
@pytest.mark.parametrize("done_first", [False, True], ids=["before the answer", "between answer and store"])
async def test_call_survives_a_kill(server: TelegramServer, tmp_path: Path, done_first: bool) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    bot = Bot(tmp_path, BUONGIOCO_TELEGRAM_TOKEN=TOKEN, BUONGIOCO_TELEGRAM_API_URL=server.url)
    async with aiohttp.ClientSession() as session:
        try:
            await bot.start()
            await bot.wait_until_healthy(session)
            server.fail_next("answerGuestQuery", Failure(silent=True, done_first=done_first))
            server.call_guest(anna.number, chat, f"{NAME} challenge metamazzo")
            await until(lambda: any(method == "answerGuestQuery" for method, _fields in server.calls))
            await until(lambda: bool(chat.messages) == done_first)
            await bot.kill()
            server.clear_failures()
            await bot.start()
            await bot.wait_until_healthy(session)
            await until(lambda: not server.pending)
            [message] = chat.messages.values()
            await bruno.send_press(chat, message, payload_of(message))
            await until(lambda: "deal 1" in only_text(chat))
        finally:
            await bot.kill()
            bot.kill_store()
