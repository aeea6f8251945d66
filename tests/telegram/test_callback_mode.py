"""Presses that name their message by an inline id.

Since November 2026 the callback mode of the Bot API can differ from "default". Then a press on an ordinary message has
an ``inline_message_id`` instead of the message (TDLib, ``botCallbackQueryModeInline``).
"""

from random import Random
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.store import Store
from tests.telegram.content import Refused
from tests.telegram.players import GROUP, ObservedTelegram, Person, on_telegram, seat_people, until
from tests.telegram.server import Chat, Failure, TelegramServer
from tests.telegram.test_inline import (
    chat_without_bot,
    only_text,
    open_table,
    payload_of,
    query_offers,
    send_offer,
    table_of,
)
from tests.telegram.test_telegram import panels

EXPIRED = "This button has expired: use the latest message."


async def find_board(group: Chat) -> dict[str, Any]:
    """Return a group's board. It can come after the hands."""

    def boards() -> list[dict[str, Any]]:
        return [
            message for message in group.messages.values() if message["from"]["is_bot"] and "deal 1" in message["text"]
        ]

    await until(lambda: boards() != [])
    return boards()[-1]


async def make_offer_payload(server: TelegramServer, person: Person) -> str:
    """Return the payload of an offer that a person could send."""
    query = await query_offers(server, person, "testa")
    [result] = server.inline_answers[query]["results"]
    return payload_of(result)


@pytest.mark.parametrize("mode", ["auto", "inline"])
async def test_callback_mode_is_set_at_start(store: Store, server: TelegramServer, mode: str) -> None:
    server.callback_query_mode = mode
    async with on_telegram(store, server) as adapter:
        await until(lambda: adapter.healthy)
        assert server.callback_query_mode == "default"


async def test_server_without_callback_modes_logs_no_warning(store: Store, server: TelegramServer) -> None:
    server.missing_methods.add("setMySettings")
    with capture_logs() as logs:
        async with on_telegram(store, server) as adapter:
            await until(lambda: adapter.healthy)
    assert not [line for line in logs if "callback_query_mode" in str(line) and line["log_level"] == "warning"]


async def test_refused_callback_mode_logs_one_warning(store: Store, server: TelegramServer) -> None:
    server.fail_next("setMySettings", Failure(Refused(400, "Bad Request: invalid callback query mode specified")))
    with capture_logs() as logs:
        async with on_telegram(store, server) as adapter:
            await until(lambda: adapter.healthy)
    assert sum("callback_query_mode" in str(line) for line in logs) == 1


async def switch_to_inline_mode(server: TelegramServer, adapter: ObservedTelegram) -> None:
    """Change the mode as a host can while the bot runs."""
    await until(lambda: adapter.healthy)
    server.callback_query_mode = "inline"


async def test_game_continues_with_presses_by_inline_ids(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        await switch_to_inline_mode(server, adapter)
        anna, bruno = await seat_people(server, "metamazzo")
        await until(lambda: all(panels(person) for person in (anna, bruno)))
        version = (await table_of(adapter, anna)).version
        for person in (anna, bruno):
            await person.play(Random(1))
        assert (await adapter.worker.room.table((await table_of(adapter, anna)).code)).version > version


async def test_pressed_board_cannot_be_overwritten_by_an_offer(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        await until(lambda: all(panels(person) for person in people))
        await switch_to_inline_mode(server, adapter)
        carla, group = Person(server, 3, "Carla"), server.group(GROUP)
        board = await find_board(group)
        code = (await table_of(adapter, people[0])).code
        await people[0].send_press(group, board, f"1t{code}:invite")
        before = dict(board)
        assert await carla.send_press(group, board, await make_offer_payload(server, carla)) == EXPIRED
        await adapter.worker.wait_until_idle()
        assert board == before
        assert await adapter.worker.room.lists.tables_of("telegram:3") == []


async def test_page_of_an_inline_press_never_replaces_the_message(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        await until(lambda: all(panels(person) for person in people))
        await switch_to_inline_mode(server, adapter)
        group = server.group(GROUP)
        board, code = await find_board(group), (await table_of(adapter, people[0])).code
        before = dict(board)
        for payload in (f"1t{code}:invite", f"1t{code}:browser", "1phelp", "1prematch x", f"1t{code}:menu"):
            await people[0].send_press(group, board, payload)
        await adapter.worker.wait_until_idle()
        assert board == before


@pytest.mark.parametrize("feedback", [False, True])
async def test_finished_inline_message_opens_no_other_offer(
    store: Store, server: TelegramServer, feedback: bool
) -> None:
    anna, bruno, carla = (Person(server, number, name) for number, name in enumerate(("Anna", "Bruno", "Carla"), 1))
    chat = chat_without_bot()
    async with on_telegram(store, server) as adapter:
        message = await send_offer(server, anna, chat, "metamazzo", feedback=feedback)
        await bruno.send_press(chat, message, payload_of(message))
        offer = await make_offer_payload(server, carla)
        assert await carla.send_press(chat, message, offer) == "Another game is running here: finish it first."
        await adapter.worker.room.close((await table_of(adapter, anna)).code, "test")
        await adapter.worker.wait_until_idle()
        assert await carla.send_press(chat, message, offer) == EXPIRED
        assert await adapter.worker.room.lists.tables_of("telegram:3") == []
        # Carla can still use her own offer.
        other = await send_offer(server, carla, chat_without_bot(-5), "testa")
        assert await bruno.send_press(chat_without_bot(-5), other, offer) == ""


async def test_message_belongs_to_the_offer_that_was_sent_in_it(store: Store, server: TelegramServer) -> None:
    anna, bruno, carla = (Person(server, number, name) for number, name in enumerate(("Anna", "Bruno", "Carla"), 1))
    chat, other = chat_without_bot(), chat_without_bot(-5)
    async with on_telegram(store, server) as adapter:
        message = await send_offer(server, anna, chat, "metamazzo", feedback=True)
        carlas_message = await send_offer(server, carla, other, "testa", feedback=True)
        await until(lambda: not server.pending)
        # Before the first press, neither offer can be used in the other message.
        assert await carla.send_press(chat, message, payload_of(carlas_message)) == (
            "This challenge was accepted in another chat: send a new one."
        )
        assert await bruno.send_press(other, carlas_message, payload_of(message)) != ""
        assert await adapter.worker.room.lists.tables_of("telegram:3") == []
        assert await bruno.send_press(chat, message, payload_of(message)) == ""
        assert (await table_of(adapter, bruno)).game_id == "metamazzo"


async def test_rematch_needs_a_message_of_the_bot(store: Store, server: TelegramServer) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), chat_without_bot()
    async with on_telegram(store, server):
        await open_table(server, anna, chat, "metamazzo")
        await bruno.press("Join", chat)
        await until(lambda: "deal 1" in only_text(chat))
        stray = {"inline_message_id": "CCCC-1_x"}
        assert await bruno.send_press(chat, stray, "1prematch ABCDEF-1") == EXPIRED
