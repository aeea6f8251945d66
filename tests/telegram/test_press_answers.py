"""Every press is answered at once, although other messages wait."""

import asyncio

from bot.delivery.answer_queue import MAX_WAITING
from bot.platform import Press, Reply, private_place
from bot.rate_limiter import RateLimit
from bot.store import Store
from tests.telegram.content import Refused
from tests.telegram.players import GROUP, ObservedTelegram, Person, bot_text, on_telegram, until
from tests.telegram.server import Failure, TelegramServer

ON_ITS_WAY = "It’s on its way to our private chat."
ONE_PER_HOUR = RateLimit(burst=1, interval=3600.0)


async def send_settings(server: TelegramServer, adapter: ObservedTelegram) -> Person:
    """Send /settings in the group for a person with an open private chat, and return the person."""
    anna = Person(server, 1, "Anna")
    anna.start()
    await until(lambda: bool(bot_text(anna.private)))
    anna.say("/settings")
    await until(lambda: anna.button("My settings", server.group(GROUP)) is not None)
    await adapter.worker.wait_until_idle()
    return anna


async def test_press_is_answered_while_its_page_waits(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        anna, answers = await send_settings(server, adapter), adapter.worker.delivery.answers
        adapter.rate_limit = lambda place: ONE_PER_HOUR  # type: ignore[method-assign]
        assert answers._limiter.take_turn(private_place("telegram:1")) == 0
        assert await anna.press("My settings", server.group(GROUP)) == ON_ITS_WAY
        assert "Your settings" not in bot_text(anna.private)


async def test_press_is_answered_while_uploads_fill_all_connections(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, rate_limits=False) as adapter:
        anna, gate = await send_settings(server, adapter), asyncio.Event()
        server.fail_next("sendMessage", *[Failure(gate=gate)] * 80)
        for number in range(80):
            anna.say("/help", server.group(-5000 - number))
        await until(lambda: len(server._failures["sendMessage"]) <= 80 - 64)
        message, button = anna.button("My settings", server.group(GROUP)) or ({}, {})
        query = server.press(server.group(GROUP), message, 1, button["callback_data"])
        await until(lambda: "answered" in server.answers[query])
        gate.set()


async def test_page_lost_after_the_answer_is_reported(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        anna, gate = await send_settings(server, adapter), asyncio.Event()
        server.fail_next("sendMessage", Failure(Refused(400, "Bad Request: odd"), gate=gate))
        assert await anna.press("My settings", server.group(GROUP)) == ON_ITS_WAY
        gate.set()
        await until(lambda: "Anna: I couldn’t send that" in bot_text(server.group(GROUP)))


async def test_unknown_private_chat_is_opened_instead_of_waiting(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        anna = Person(server, 1, "Anna")
        anna.say("/settings")
        await until(lambda: anna.button("My settings", server.group(GROUP)) is not None)
        adapter.worker.delivery.answers._limiter.block(private_place("telegram:1"), 3600.0)
        await anna.press("My settings", server.group(GROUP))
        [answer] = server.answers.values()
        assert answer["url"].endswith("?start=page")


async def test_slow_press_is_answered_and_its_toast_follows(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        anna, gate = await send_settings(server, adapter), asyncio.Event()

        async def press_slowly(press: Press) -> Reply:
            await gate.wait()
            return Reply("That card is not yours.")

        adapter.card_room.handle_press = press_slowly  # type: ignore[method-assign]
        assert await anna.press("My settings", server.group(GROUP)) == "One moment…"
        gate.set()
        await until(lambda: "That card is not yours." in bot_text(anna.private))


async def test_lost_answer_is_sent_again(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        anna = await send_settings(server, adapter)
        server.fail_next("answerCallbackQuery", Failure(body=b"<html>", status=502), Failure(Refused(500, "Oops")))
        assert await anna.press("My settings", server.group(GROUP)) == "Sent to your private chat."


async def test_dropped_page_is_reported_in_the_private_chat(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, rate_limits=False) as adapter:
        anna = await send_settings(server, adapter)
        await anna.press("My settings", server.group(GROUP))
        await until(lambda: "Your settings" in bot_text(anna.private))
        answers = adapter.worker.delivery.answers
        await until(lambda: not answers._waiting)
        answers._waiting[private_place("telegram:1")] = MAX_WAITING
        message, button = anna.button("English", anna.private) or ({}, {})
        toast = await anna.send_press(anna.private, message, button["callback_data"])
        assert toast == "Too many messages are waiting: press again in a moment."
