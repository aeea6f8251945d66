"""Personal pages go to the private chat, and every message there gets an answer."""

import pytest

from bot.delivery.answer_queue import MAX_WAITING
from bot.platform import private_place
from bot.store import Store
from tests.telegram.content import Refused
from tests.telegram.players import GROUP, Person, bot_text, on_telegram, until
from tests.telegram.server import BOT, Failure, TelegramServer


async def test_button_of_a_page_in_a_group_opens_the_private_chat(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna", has_started=False)
    async with on_telegram(store, server):
        group = server.group(GROUP)
        anna.say("/settings", group)
        assert await anna.press("My settings", group) == ""
        [url] = [answer["url"] for answer in server.answers.values()]
        assert url == f"https://t.me/{BOT['username']}?start=page"
        anna.start("page")
        await until(lambda: "I deal Tressette" in bot_text(anna.private))
        assert await anna.press("My settings", group) == "Sent to your private chat."
        assert "Your settings" in bot_text(anna.private)


async def test_press_is_answered_when_its_page_gets_lost(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server):
        anna = Person(server, 1, "Anna")
        anna.say("/settings")
        await until(lambda: anna.button("My settings", server.group(GROUP)) is not None)
        server.fail_next("sendMessage", Failure(hang_up=True))
        toast = await anna.press("My settings", server.group(GROUP))
        assert toast == "It might not have reached our private chat: if nothing comes, press again."


async def test_press_is_answered_when_too_many_pages_wait(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna")
    async with on_telegram(store, server, rate_limits=False) as adapter:
        adapter.worker.delivery.answers._waiting[private_place("telegram:1")] = MAX_WAITING
        group = server.group(GROUP)
        anna.say("/settings", group)
        toast = await anna.press("My settings", group)
        assert toast == "Too many messages are waiting: press again in a moment."
        assert not bot_text(anna.private)


async def test_plain_text_gets_greeting_only_in_the_private_chat(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna", language="it")
    async with on_telegram(store, server):
        anna.say("ciao", server.group(GROUP))
        anna.say("ciao", anna.private)
        await until(lambda: "Qui si gioca" in bot_text(anna.private))
        assert not bot_text(server.group(GROUP))


@pytest.mark.parametrize("command", ["/nickname", "/forget", "/mydata"])
async def test_personal_pages_never_appear_in_a_group(store: Store, server: TelegramServer, command: str) -> None:
    anna, group = Person(server, 1, "Anna"), server.group(GROUP)
    async with on_telegram(store, server) as adapter:
        anna.private.refusal = Refused(403, "Forbidden: bot was blocked by the user")
        before = bot_text(group)
        anna.say(command, group)
        await until(lambda: "Open our private chat first" in bot_text(group))
        await adapter.worker.wait_until_idle()
        new_text = bot_text(group).removeprefix(before)
        assert new_text == "Open our private chat first: this is for your eyes only."


async def test_invitation_without_private_chat_goes_to_the_group(store: Store, server: TelegramServer) -> None:
    anna, group = Person(server, 1, "Anna", has_started=False), server.group(GROUP)
    async with on_telegram(store, server):
        anna.say("/challenge testa", group)
        await until(lambda: anna.button("Join", group) is not None)
        anna.say("/invite", group)
        await until(lambda: "invites you to play" in bot_text(group))
        assert "private chat" not in bot_text(group)
