"""Tables in chats without the bot, from the inline query to the result and the rematch."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from random import Random
from typing import Any

import aiohttp
import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from adapters.telegram import examine
from bot.finished.ratings import Scope
from bot.handlers import offer_terms as offers
from bot.settings import Settings
from bot.store import Store, keys
from bot.tables.game_choice import Choice
from bot.tables.limits import HOURS_TO_ACCEPT
from engine import GAMES, verify
from tests.bot.fake_platform import ACCEPT, NAMES, FakePlatform, Player
from tests.bot.worker.test_games import shortest_target
from tests.kills.bot_process import free_port
from tests.long import long, mostly_long
from tests.telegram.balancer import run_balancer
from tests.telegram.content import Refused, buttons_of
from tests.telegram.models import type_model
from tests.telegram.players import GROUP, ObservedTelegram, Person, on_telegram, until
from tests.telegram.server import BOT, TOKEN, Chat, Failure, TelegramServer
from tests.tricks import has_reached_trick

ELSEWHERE = -4639674142813626973  # a ``chat_instance`` from python-telegram-bot's issue 2055

LINK = f"https://t.me/{BOT['username']}?start="

RESULT = {
    "type": "article",
    "id": "a",
    "title": "t",
    "input_message_content": {"message_text": "x"},
    "reply_markup": {"inline_keyboard": [[{"text": "x", "callback_data": "x"}]]},
}


def chat_without_bot(number: int = ELSEWHERE) -> Chat:
    return Chat(number, "elsewhere", "Two friends")


async def query_offers(server: TelegramServer, person: Person, typed: str) -> str:
    """Type an inline query and wait for its answer; return the query's id."""
    query = server.type_inline(person.number, typed)
    await until(lambda: bool(server.inline_answers[query]))
    return query


async def send_offer(
    server: TelegramServer, person: Person, chat: Chat, game: str, *, typed: str = "", feedback: bool = False
) -> dict[str, Any]:
    """Type a query (by default the game's name), and send the offer of that game; return the message."""
    query = await query_offers(server, person, typed or game)
    return server.send_result(person.number, query, server.result_id(query, game), chat, feedback=feedback)


def list_offers(server: TelegramServer, query: str) -> list[str]:
    """Return the ids of the offered games, and "rating"."""
    return [result["id"].partition(".")[0] for result in server.inline_answers[query]["results"]]


def payload_of(message: dict[str, Any], label: str = "Join") -> str:
    for button in buttons_of(message):
        if label in button["text"]:
            return str(button["callback_data"])
    raise AssertionError(f"no button is labelled {label}")


async def table_of(adapter: ObservedTelegram, person: Person) -> Any:
    [table] = await adapter.worker.room.lists.tables_of(f"telegram:{person.number}")
    return table


async def play_until(people: Sequence[Person], is_over: Callable[[], bool], seed: int = 3) -> None:
    random = Random(seed)
    for _ in range(4000):
        if is_over():
            return
        if not any([await person.play(random) for person in people]):
            # The last change has not reached these people yet.
            await asyncio.sleep(0.005)
    raise AssertionError("the game did not end")


def only_text(chat: Chat) -> str:
    """Return the text of a chat's only message."""
    [message] = chat.messages.values()
    return str(message["text"])


async def open_table(server: TelegramServer, opener: Person, chat: Chat, game: str, *options: str) -> None:
    """Open a table with options. The sender of the offer presses its button."""
    await send_offer(server, opener, chat, game)
    await opener.press("Join", chat)
    for option in options:
        for label in ("Change", option, "Done"):
            await opener.press(label, chat)


async def open_private_chat(person: Person) -> None:
    """Have a person press Start, and wait for the bot's messages."""
    before = len(person.private.messages)
    person.start()
    await until(lambda: len(person.private.messages) >= before + 2)


def start_links(server: TelegramServer) -> list[str]:
    """Return the start links in answers to presses, in order."""
    return [answer["url"] for answer in server.answers.values() if answer.get("url", "").startswith(LINK)]


def has_hand(person: Person, code: str) -> bool:
    """Return whether a person has the hand of a table in the private chat."""
    return any(message["from"]["is_bot"] and code in message["text"] for message in person.private.messages.values())


async def seat_others(adapter: ObservedTelegram, people: Sequence[Person], chat: Chat) -> None:
    """Have the others take their seats, and accept requests for a seat."""
    for person, label in zip(people[1:], ACCEPT[len(people)], strict=True):
        await person.press(label, chat)
        # An answer that opens the private chat has no text, so the table shows whether a request waits.
        if (await table_of(adapter, person)).asking:
            await people[0 if label == "Sit North" else 1].press("Accept")


def has_no_offer(chat: Chat) -> bool:
    [message] = chat.messages.values()
    return "Join" not in str(message.get("reply_markup"))


@pytest.mark.long
@pytest.mark.parametrize("game", mostly_long(GAMES, "metamazzo"))
async def test_whole_game_can_be_played_in_a_chat_without_the_bot(
    store: Store, server: TelegramServer, game: str
) -> None:
    people = [Person(server, number, name) for number, name in enumerate(NAMES[: GAMES[game].seats], 1)]
    chat, anna, bruno = chat_without_bot(), people[0], people[-1]
    server.started_users.discard(bruno.number)
    async with on_telegram(store, server) as adapter:
        for person in people[:-1]:
            await open_private_chat(person)
        await open_table(server, anna, chat, game, *shortest_target(game))
        code = (await table_of(adapter, anna)).code
        await seat_others(adapter, people, chat)
        # Bruno never pressed Start, so the answer to his press opens the private chat.
        assert start_links(server) == [f"{LINK}{code}"]
        bruno.start(code)
        await play_until(people, lambda: " beat" in only_text(chat))
        await until(lambda: anna.button("Rematch", chat) is not None)
        [finished] = [game async for game in adapter.worker.archive.games()]
        verify(finished.record)
        # The chat has a leaderboard although its id is unknown.
        scope = Scope(chat=f"telegram:~{ELSEWHERE}", game=game)
        assert (await adapter.worker.ratings.standing(scope, "telegram:1")).games == 1
        # The bot wrote only hands in private chats, and this message.
        sends = [fields["chat_id"] for method, fields in server.calls if method == "sendMessage"]
        assert set(sends) == {person.number for person in people}
        edits = [fields for method, fields in server.calls if "inline_message_id" in fields]
        assert any("Previous trick: " in fields["text"] for fields in edits)
        assert all("chat_id" not in fields for fields in edits)


async def test_player_who_blocked_the_bot_gets_a_link_to_the_hand(store: Store, server: TelegramServer) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        await open_private_chat(bruno)
        bruno.private.refusal = Refused(403, "Forbidden: bot was blocked by the user")
        message = await send_offer(server, anna, chat, "metamazzo")
        await bruno.send_press(chat, message, payload_of(message))
        code = (await table_of(adapter, bruno)).code
        assert start_links(server) == [f"{LINK}{code}"]
        bruno.private.refusal = None
        bruno.start(code)
        await until(lambda: has_hand(bruno, code))


async def test_board_links_an_unstarted_challenger_to_the_bot(store: Store, server: TelegramServer) -> None:
    anna, bruno, chat = Person(server, 1, "Anna", has_started=False), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        await open_private_chat(bruno)
        message = await send_offer(server, anna, chat, "metamazzo")
        assert await bruno.send_press(chat, message, payload_of(message)) == ""
        code = (await table_of(adapter, anna)).code
        await until(lambda: "can’t write to you" in str(message))
        assert f"{LINK}{code}" in str(message.get("reply_markup"))
        anna.start(code)
        await until(lambda: has_hand(anna, code))
        await until(lambda: "can’t write to you" not in str(message))


async def test_sent_offer_adds_only_expiring_keys(store: Store, server: TelegramServer) -> None:
    anna, chat = Person(server, 1, "Anna"), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        await query_offers(server, anna, "")
        await adapter.worker.wait_until_idle()
        before, before_fields = set(await store.client.keys()), await store.client.hgetall(keys.person("telegram:1"))
        await send_offer(server, anna, chat, "testa", feedback=True)
        # The update is confirmed after it was handled.
        await until(lambda: not server.pending)
        new = set(await store.client.keys()) - before
        # Only the message's offer is stored, and it expires.
        assert sorted(key.partition(b":")[0] for key in new) == [b"offer", b"offered"]
        assert all([await store.client.ttl(key) > 0 for key in new])
        # With inline feedback the bot knows which game Anna sent, and offers it first.
        choice = {b"game": b"testa", b"game:testa": Choice.default("testa").text.encode()}
        assert await store.client.hgetall(keys.person("telegram:1")) == {**before_fields, **choice}
        assert await adapter.worker.room.lists.tables_of("telegram:1") == []


async def test_typed_words_choose_the_offers(store: Store, server: TelegramServer) -> None:
    anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno", "it")
    async with on_telegram(store, server):
        assert list_offers(server, await query_offers(server, anna, "")) == [*GAMES, "rating"]
        assert list_offers(server, await query_offers(server, anna, "Metà")) == ["metamazzo"]
        query = await query_offers(server, anna, "31 PIZZICHINO")
        assert list_offers(server, query) == ["pizzichino"]
        assert all("to 31 points" in result["description"] for result in server.inline_answers[query]["results"])
        assert list_offers(server, await query_offers(server, anna, "7 tressette")) == []
        assert list_offers(server, await query_offers(server, anna, "\ud83d chess")) == []
        query = await query_offers(server, bruno, "metamazzo")
        [result] = server.inline_answers[query]["results"]
        assert result["title"] == "Sfida: Metà Mazzo"
        assert "2 giocatori" in result["input_message_content"]["message_text"]
        answer = server.inline_answers[query]
        assert (answer["cache_time"], answer["is_personal"]) == (0, True)


async def test_board_uses_the_senders_language_from_the_start(store: Store, server: TelegramServer) -> None:
    anna, bruno, chat = Person(server, 1, "Anna", "it"), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        message = await send_offer(server, anna, chat, "tressette")
        await bruno.send_press(chat, message, payload_of(message, "Mi siedo"))
        await until(lambda: "Coppia 1" in only_text(chat))
        await adapter.worker.wait_until_idle()
        edits = [fields["text"] for method, fields in server.calls if "inline_message_id" in fields]
        assert edits
        assert all("4 giocatori" in text for text in edits)


async def test_last_chosen_options_are_offered_next(store: Store, server: TelegramServer) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        await open_table(server, anna, chat, "testa")
        for label in ("Change", "to 11", "none", "30 min", "Strict", "Done", "Cancel"):
            await anna.press(label, chat)
        query = await query_offers(server, anna, "")
        assert list_offers(server, query) == ["testa", *(game for game in GAMES if game != "testa"), "rating"]
        [first, *_] = server.inline_answers[query]["results"]
        assert "to 11 points" in first["description"]
        other = chat_without_bot(-5)
        message = server.send_result(1, query, server.result_id(query, "testa"), other)
        assert "to 11." in message["text"]
        assert "30 minutes a move, strict" in message["text"]
        await bruno.send_press(other, message, payload_of(message))
        table = await table_of(adapter, bruno)
        assert (table.rules["target"], table.rules["declare"], table.clock, table.strict) == (11, "none", 1800, True)
        # Typed points override the stored ones.
        [result] = server.inline_answers[await query_offers(server, anna, "21 testa")]["results"]
        assert "to 21 points" in result["description"]
        # Bruno is not offered Anna's options.
        assert list_offers(server, await query_offers(server, bruno, ""))[0] == "pizzichino"


async def test_inline_feedback_moves_the_game_sent_to_the_top(store: Store, server: TelegramServer) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server):
        await send_offer(server, anna, chat, "tressette", typed="63", feedback=True)
        # Results that are not games change nothing.
        for unknown_id in ("rating", "chess", ""):
            server.push(chosen_inline_result={"result_id": unknown_id, "from": server.users[1], "query": "\ud83d"})
        async with asyncio.timeout(60):
            # The bot can get both updates at once.
            while list_offers(server, await query_offers(server, anna, ""))[0] != "tressette":
                pass
        # Without feedback the order of offers stays.
        await send_offer(server, bruno, chat, "tressette")
        assert list_offers(server, await query_offers(server, bruno, ""))[0] == "pizzichino"


async def test_person_can_send_their_rating(store: Store, server: TelegramServer) -> None:
    anna, chat = Person(server, 1, "Anna"), chat_without_bot()
    async with on_telegram(store, server):
        message = server.send_result(1, await query_offers(server, anna, ""), "rating", chat)
        assert "Anna" in message["text"]
        assert "reply_markup" not in message


async def test_button_above_results_opens_a_missing_private_chat(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna")
    async with on_telegram(store, server):
        query = await query_offers(server, anna, "")
        button = server.inline_answers[query]["button"]
        assert (button["text"], button["start_parameter"]) == ("Open our chat: your cards come there", "inline")
        anna.start(button["start_parameter"])
        await until(lambda: any("I deal Tressette" in str(message) for message in anna.private.messages.values()))
        query = await query_offers(server, anna, "")
        assert "button" not in server.inline_answers[query]


@pytest.mark.long
async def test_two_people_can_play_below_a_channel_post(store: Store, server: TelegramServer) -> None:
    """Comments are in a thread of the channel's discussion group, below the forwarded post.

    Sources: core.telegram.org/api/discussion and core.telegram.org/bots/api#message, is_automatic_forward. A press on
    an inline message has its inline id, but neither chat nor thread (core.telegram.org/bots/api#callbackquery).
    """
    anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
    comments = Chat(-1009, "elsewhere", "Comments")
    async with on_telegram(store, server) as adapter:
        for person in (anna, bruno):
            await open_private_chat(person)
        await open_table(server, anna, comments, "metamazzo", *shortest_target("metamazzo"))
        # The channel's post and other comments do not belong to the table.
        comments.messages[7] = {"message_id": 7, "from": {"id": 777000, "is_bot": False}, "text": "A post"}
        await seat_others(adapter, (anna, bruno), comments)
        board = next(message for message in comments.messages.values() if message.get("via_bot"))
        await play_until((anna, bruno), lambda: " beat" in board["text"])
        assert [game async for game in adapter.worker.archive.games()]
        assert not [fields for _method, fields in server.calls if fields.get("chat_id") == comments.id]


async def test_aiogram_parses_the_servers_inline_updates(server: TelegramServer) -> None:
    server.checks_answers = False
    Person(server, 1, "Anna")
    query = server.type_inline(1, "testa")
    server.inline_answers[query] = {"results": [RESULT]}
    message = server.send_result(1, query, "a", chat_without_bot(), feedback=True)
    server.press(chat_without_bot(), message, 1, "1o")
    update = type_model("Update")
    models = [update.model_validate(pending) for pending in server.pending]
    kinds = ["inline_query", "chosen_inline_result", "callback_query"]
    assert [model.model_dump(exclude_none=True).keys() - {"update_id"} for model in models] == [
        {kind} for kind in kinds
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": ""},
        {"id": "x" * 65},
        {"title": ""},
        {"tittle": "x"},
        {"type": "photo"},
        {"input_message_content": {"message_text": ""}},
        {"input_message_content": {"text": "x"}},
        {"reply_markup": {"inline_keyboard": [[{"text": "x", "callback_data": "x" * 65}]]}},
    ],
    ids=repr,
)
async def test_server_refuses_invalid_inline_answers(server: TelegramServer, wrong: dict[str, Any]) -> None:
    Person(server, 1, "Anna")
    query = server.type_inline(1, "")
    url = f"{server.url}/bot{TOKEN}/answerInlineQuery"
    async with aiohttp.ClientSession() as session:
        for results, status in (
            ([{**RESULT, **wrong}], 400),
            ([RESULT, RESULT], 400),
            ([RESULT], 200),
            ([RESULT], 400),
        ):
            async with session.post(url, json={"inline_query_id": query, "results": results}) as answer:
                assert answer.status == status, await answer.text()


async def test_answer_to_an_old_inline_query_logs_no_error(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna")
    async with on_telegram(store, server):
        with capture_logs() as logs:
            server.inline_answers[server.type_inline(1, "t")] = {"old": True}
            await query_offers(server, anna, "testa")
        problems = [line for line in logs if line["log_level"] in ("warning", "error")]
        # Test stores write to disk late.
        assert [line for line in problems if line["event"] != "store_may_lose_data"] == []


async def test_fifty_simultaneous_presses_open_one_table(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a slow machine the first answer to some presses would be "One moment…".
    monkeypatch.setattr("adapters.telegram.press_answers.ANSWER_SECONDS", 3600.0)
    people = [Person(server, number, f"P{number}") for number in range(1, 51)]
    chat = chat_without_bot()
    async with on_telegram(store, server) as adapter:
        message = await send_offer(server, people[0], chat, "metamazzo")
        data = payload_of(message)
        queries = [server.press(chat, message, person.number, data) for person in reversed(people)]
        await until(lambda: all(server.answers[query] for query in queries))
        [table] = await adapter.worker.room.lists.tables_at(f"telegram:~{ELSEWHERE}")
        assert table.phase == "playing"
        assert table.seat_of("telegram:1") == 0
        seated = {chair.person for chair in table.chairs if chair}
        assert len(seated) == 2
        # All other people get a toast.
        toasts = [server.answers[query]["text"] for query in queries]
        assert sum(toast == "" for toast in toasts) == 2, toasts
        await until(lambda: "Metà Mazzo" in only_text(chat) and has_no_offer(chat))


@pytest.mark.long
async def test_presses_at_several_workers_open_one_table(store: Store, server: TelegramServer) -> None:
    people = [Person(server, number, f"P{number}") for number in range(1, 21)]
    chat, ports = chat_without_bot(), [free_port(), free_port()]
    async with run_balancer(ports) as front, AsyncExitStack() as stack:
        workers = [
            await stack.enter_async_context(
                on_telegram(
                    store,
                    server,
                    alone=False,
                    telegram_webhook_url=f"http://127.0.0.1:{front}/cards",
                    telegram_webhook_port=port,
                )
            )
            for port in ports
        ]
        await until(lambda: all(worker.healthy for worker in workers))
        message = await send_offer(server, people[0], chat, "testa", typed="11 testa")
        data = payload_of(message)
        queries = [server.press(chat, message, person.number, data) for person in people]
        await until(lambda: all(server.answers[query] for query in queries))
        [table] = await workers[0].worker.room.lists.tables_at(f"telegram:~{ELSEWHERE}")
        players = [person for person in people if table.seat_of(f"telegram:{person.number}") is not None]
        assert len(players) == 2
        await play_until(players, lambda: " beat" in only_text(chat))
        assert len(chat.messages) == 1


async def test_forged_offers_are_refused(store: Store, server: TelegramServer) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        message = await send_offer(server, anna, chat, "metamazzo")
        data = payload_of(message)
        game, choice, person, hour, nonce, signature = data.removeprefix("1o").split(".")
        secret = await store.secret()
        forged = [
            f"1otesta.{choice}.{person}.{hour}.{nonce}.{signature}",
            f"1o{game}.1.{person}.{hour}.{nonce}.{signature}",
            f"1o{game}.{choice}.3.{hour}.{nonce}.{signature}",
            f"1o{game}.{choice}.{person}.1{hour[1:]}.{nonce}.{signature}",
            f"1o{game}.{choice}.{person}.{hour}.{nonce}.{signature[:-1]}",
            f"1o{game}.{choice}.{person}.{hour}.{nonce}.",
            f"1o{signature}",
            "1o.",
            # An offer signed for another platform.
            offers.encode(offers.new_terms(Choice.default(game), "discord:1"), secret),
        ]
        for payload in forged:
            assert await bruno.send_press(chat, message, payload) == "This button has expired: use the latest message."
        assert await adapter.worker.room.lists.tables_at(f"telegram:~{ELSEWHERE}") == []
        # In a chat with the bot, people challenge by command.
        group = server.group(GROUP)
        group_message = {
            "message_id": 77,
            "date": 1,
            "chat": group.as_json,
            "from": BOT,
            "reply_markup": message["reply_markup"],
        }
        assert "has expired" in await bruno.send_press(group, group_message, data)
        assert await bruno.send_press(chat, message, data) == ""


async def test_offer_expires_after_a_day(store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        message = await send_offer(server, anna, chat, "metamazzo")
        hour = offers.new_terms(Choice.default("testa"), "telegram:1").hour
        monkeypatch.setattr(offers, "_current_hour", lambda: hour + HOURS_TO_ACCEPT + 1)
        assert (
            await bruno.send_press(chat, message, payload_of(message)) == "This challenge has expired: send a new one."
        )
        assert await adapter.worker.room.lists.tables_of("telegram:1") == []


async def test_copied_offer_opens_only_one_table(store: Store, server: TelegramServer) -> None:
    anna, bruno, carla = (Person(server, number, name) for number, name in enumerate(NAMES[:3], 1))
    chat, other = chat_without_bot(), chat_without_bot(-5)
    async with on_telegram(store, server) as adapter:
        message = await send_offer(server, anna, chat, "metamazzo")
        carlas_message = await send_offer(server, carla, other, "testa")
        data = payload_of(message)
        await bruno.send_press(chat, message, data)
        assert "accepted in another chat" in await carla.send_press(other, carlas_message, data)
        # After its game, the offer opens no second table.
        table = await table_of(adapter, anna)
        await adapter.worker.room.close(table.code, "test")
        await adapter.worker.wait_until_idle()
        assert await bruno.send_press(chat, message, data) == "This challenge has expired: send a new one."
        assert await adapter.worker.room.lists.tables_of("telegram:1") == []


async def test_finished_offer_never_opens_a_second_table(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    now = offers._current_hour() * 3600
    monkeypatch.setattr(offers, "_current_hour", lambda: now // 3600)
    async with on_telegram(store, server) as adapter:
        message = await send_offer(server, anna, chat, "metamazzo")
        data = payload_of(message)
        await bruno.send_press(chat, message, data)
        await adapter.worker.room.close((await table_of(adapter, anna)).code, "test")
        await adapter.worker.wait_until_idle()
        # An offer made at the start of an hour is valid until this second.
        last_second = (HOURS_TO_ACCEPT + 1) * 3600 - 1
        now += last_second
        async for key in store.client.scan_iter():
            if 0 <= await store.client.ttl(key) <= last_second:
                await store.client.delete(key)
        assert await bruno.send_press(chat, message, data) == "This challenge has expired: send a new one."
        assert await adapter.worker.room.lists.tables_of("telegram:1") == []


async def test_message_with_a_game_takes_no_other_offer(store: Store, server: TelegramServer) -> None:
    anna, bruno, carla = (Person(server, number, name) for number, name in enumerate(NAMES[:3], 1))
    chat = chat_without_bot()
    async with on_telegram(store, server) as adapter:
        message = await send_offer(server, anna, chat, "metamazzo")
        await bruno.send_press(chat, message, payload_of(message))
        [result] = server.inline_answers[await query_offers(server, carla, "testa")]["results"]
        assert (
            await carla.send_press(chat, message, payload_of(result))
            == "Another game is running here: finish it first."
        )
        assert await adapter.worker.room.lists.tables_of("telegram:3") == []


@pytest.mark.long
async def test_rematch_replaces_the_result(store: Store, server: TelegramServer) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        await open_table(server, anna, chat, "metamazzo", *shortest_target("metamazzo"))
        await bruno.press("Join", chat)
        await play_until([anna, bruno], lambda: anna.button("Rematch", chat) is not None)
        result = next(iter(chat.messages.values())).copy()
        rematch = payload_of(result, "Rematch")
        before = len(bruno.private.messages)
        await bruno.press("Replay", chat)
        await until(lambda: len(bruno.private.messages) > before)
        assert only_text(chat) == result["text"]
        before = len(bruno.private.messages)
        await bruno.press("Leaderboard", chat)
        await until(lambda: len(bruno.private.messages) > before)
        page = bruno.private.messages[max(bruno.private.messages)]
        assert "Metà Mazzo · this chat · all time" in page["text"]
        assert "reply_markup" not in page
        assert only_text(chat) == result["text"]
        await bruno.press("Rematch", chat)
        await until(lambda: anna.button("Join", chat) is not None)
        await anna.send_press(chat, result, rematch)
        await until(lambda: "deal 1" in only_text(chat))
        assert (await table_of(adapter, anna)).phase == "playing"
        # A stranger cannot ask for a rematch.
        carla = Person(server, 3, "Carla")
        assert "didn’t play" in await carla.send_press(chat, result, rematch)
        assert len(await adapter.worker.room.lists.tables_at(f"telegram:~{ELSEWHERE}")) == 1


@pytest.mark.long
@pytest.mark.parametrize("error", ["Bad Request: MESSAGE_ID_INVALID", long("Forbidden: user is deactivated")])
async def test_game_continues_when_its_board_cannot_be_edited(store: Store, server: TelegramServer, error: str) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        await open_table(server, anna, chat, "metamazzo", *shortest_target("metamazzo"))
        await bruno.press("Join", chat)
        server.inline_refusal = Refused(403 if error.startswith("Forbidden") else 400, error)
        table = await table_of(adapter, anna)
        # The table is finished and removed although its board does not show the result.
        await play_until([anna, bruno], lambda: adapter.worker.room.cached_table(table.code) is None)
        edits = [
            fields for method, fields in server.calls if method == "editMessageText" and "inline_message_id" in fields
        ]
        assert len(edits) < 20
        await adapter.worker.wait_until_idle()


@pytest.mark.long
async def test_restarted_bot_continues_in_the_same_message(store: Store, server: TelegramServer) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server):
        await open_table(server, anna, chat, "metamazzo", *shortest_target("metamazzo"))
        await bruno.press("Join", chat)
        await play_until([anna, bruno], lambda: has_reached_trick(3, [only_text(chat)]))
    async with on_telegram(store, server):
        await play_until([anna, bruno], lambda: " beat" in only_text(chat))
    assert len(chat.messages) == 1


async def test_two_messages_in_one_chat_are_two_boards(store: Store, server: TelegramServer) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        first = await send_offer(server, anna, chat, "metamazzo")
        second = await send_offer(server, anna, chat, "testa")
        await bruno.send_press(chat, second, payload_of(second))
        await bruno.send_press(chat, first, payload_of(first))
        await until(lambda: "Metà Mazzo" in first["text"] and "deal 1" in first["text"])
        await until(lambda: "Testa" in second["text"] and "deal 1" in second["text"])
        assert len(await adapter.worker.room.lists.tables_at(f"telegram:~{ELSEWHERE}")) == 2


async def test_player_on_another_platform_joins_the_table(store: Store, server: TelegramServer) -> None:
    anna, chat, fake = Person(server, 1, "Anna"), chat_without_bot(), FakePlatform()
    async with on_telegram(store, server) as adapter:
        worker = adapter.worker
        worker.add_adapter(fake)
        bruno = Player(worker, fake, "Bruno", 2)
        await open_table(server, anna, chat, "metamazzo", *shortest_target("metamazzo"))
        await bruno.say(f"/join {(await table_of(adapter, anna)).code}")
        random = Random(1)
        for _ in range(60):
            await anna.play(random)
            await worker.wait_until_idle()
            await bruno.play(random)
            await worker.wait_until_idle()
        assert "Trick" in only_text(chat)
        assert only_text(chat) == fake.last("paper:100").plain


async def test_malformed_inline_presses_are_refused(store: Store, server: TelegramServer) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        message = await send_offer(server, anna, chat, "metamazzo")
        data = payload_of(message)
        for odd_id in ({"inline_message_id": "a/b"}, {"inline_message_id": ""}, {"inline_message_id": "x" * 200}):
            assert "has expired" in await bruno.send_press(chat, {**message, **odd_id}, data)
        # Pages would replace the message, so presses that show pages are refused.
        for page in ("1phelp", "1psettings", "1psettings language it", "1prematch nowhere"):
            await bruno.send_press(chat, message, page)
        assert message["text"].startswith("\u2068Anna")
        assert await adapter.worker.room.lists.tables_of("telegram:1") == []


def find_share_queries(chat: Chat) -> list[dict[str, Any]]:
    """Return the share buttons of a chat's messages."""
    return [
        button["switch_inline_query_chosen_chat"]
        for message in chat.messages.values()
        for button in buttons_of(message)
        if "switch_inline_query_chosen_chat" in button
    ]


async def test_share_button_appears_when_inline_mode_is_on(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna")
    async with on_telegram(store, server):
        anna.say("/tables", anna.private)
        await until(lambda: bool(find_share_queries(anna.private)))
        anywhere = {f"allow_{kind}_chats": True for kind in ("user", "group", "channel")}
        assert find_share_queries(anna.private) == [{"query": "", **anywhere}]


async def test_doctor_reports_that_inline_mode_is_off(store: Store, server: TelegramServer) -> None:
    server.supports_inline = False
    anna = Person(server, 1, "Anna")
    async with on_telegram(store, server):
        anna.say("/tables", anna.private)
        anna.say("/help", anna.private)
        await until(lambda: sum(message["from"] == BOT for message in anna.private.messages.values()) == 2)
        assert anna.button("Rules", anna.private)
        assert find_share_queries(anna.private) == []
    settings = Settings(_env_file=None, telegram_token=SecretStr(TOKEN), telegram_api_url=server.url)
    findings = [finding async for finding in examine(settings)]
    assert any("inline mode is off" in line and "/setinline" in line for _, line in findings)
    assert all(is_well for is_well, _ in findings)
    server.supports_inline = True
    assert not any("inline" in line for _, line in [finding async for finding in examine(settings)])


@pytest.mark.long
async def test_rate_limited_board_is_complete_after_the_wait(store: Store, server: TelegramServer) -> None:
    people = [Person(server, number, name) for number, name in enumerate(NAMES[:2], 1)]
    chat = chat_without_bot()
    async with on_telegram(store, server):
        await open_table(server, people[0], chat, "metamazzo", *shortest_target("metamazzo"))
        await people[1].press("Join", chat)
        server.fail_next(
            "editMessageText", *[Failure(Refused(429, "Too Many Requests: retry after 1", retry_after=1))] * 2
        )
        await play_until(people, lambda: " beat" in only_text(chat))


async def test_offer_of_a_forgotten_person_is_over(store: Store, server: TelegramServer) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        message = await send_offer(server, anna, chat, "metamazzo")
        await adapter.worker.people.erase("telegram:1")
        assert (
            await bruno.send_press(chat, message, payload_of(message)) == "This challenge has expired: send a new one."
        )
        assert await adapter.worker.room.lists.tables_of("telegram:2") == []


async def test_asking_for_a_seat_is_not_reported_as_seated(store: Store, server: TelegramServer) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno", has_started=False), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        await open_table(server, anna, chat, "tavolo")
        await bruno.press("Sit North", chat)
        code = (await table_of(adapter, bruno)).code
        assert start_links(server)[-1] == f"{LINK}{code}"
        bruno.start(code)
        await until(lambda: any(message["from"]["is_bot"] for message in bruno.private.messages.values()))
        [text] = [message["text"] for message in bruno.private.messages.values() if message["from"]["is_bot"]]
        assert text == "You’ve asked for a seat: wait for the answer."
