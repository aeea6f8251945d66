"""An undeliverable hand is sent again as soon as its player uses the private chat."""

from collections.abc import Callable
from typing import Any

import pytest

from bot.store import Store
from tests.long import mostly_long
from tests.telegram.content import Refused
from tests.telegram.players import GROUP, Person, on_telegram, seat_people, until
from tests.telegram.server import BOT, TelegramServer
from tests.telegram.test_inline import chat_without_bot, has_hand, payload_of, query_offers, send_offer, table_of
from tests.telegram.test_telegram import has_text, newest_id, panels

PHOTO = [{"file_id": "f", "file_unique_id": "u", "width": 9, "height": 9}]

Opening = Callable[[TelegramServer, Person], Any]
"""An update that shows that a person's private chat is open."""


def send_text(text: str, **fields: Any) -> Opening:
    return lambda _server, person: person.say(text, person.private, **fields)


def send_content(**content: Any) -> Opening:
    """Send a message without a text."""

    def push(server: TelegramServer, person: Person) -> None:
        fields = {"date": 1, "chat": person.private.as_json, "from": server.users[person.number]}
        server.push(message={"message_id": 900, **fields, **content})

    return push


def unblock(server: TelegramServer, person: Person) -> None:
    old, new = ({"status": status, "user": BOT} for status in ("kicked", "member"))
    fields = {"chat": person.private.as_json, "from": server.users[person.number], "date": 1}
    server.push(my_chat_member={**fields, "old_chat_member": old, "new_chat_member": new})


OPENINGS: dict[str, Opening] = {
    "start": send_text("/start"),
    "start inline": send_text("/start inline"),
    "start page": send_text("/start page"),
    "start unknown": send_text("/start no_such_word"),
    "start other table": send_text("/start ABCDEF"),
    "start daily": send_text("/start daily"),
    "help": send_text("/help"),
    "unknown command": send_text("/shrug"),
    "refused command": send_text("/join"),
    "text": send_text("ciao"),
    "other bot's command": send_text("/start@other_bot"),
    "sent by another bot": send_text("ciao", via_bot={"id": 9, "is_bot": True, "first_name": "Gif"}),
    "photo": send_content(photo=PHOTO),
    "sticker": send_content(sticker={}),
    "write access": send_content(write_access_allowed={}),
    "unblock": unblock,
}


@pytest.mark.parametrize("opening", mostly_long(OPENINGS, "photo"))
async def test_waiting_hand_comes_once_the_chat_is_open(store: Store, server: TelegramServer, opening: str) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno", has_started=False), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        message = await send_offer(server, anna, chat, "metamazzo")
        await bruno.send_press(chat, message, payload_of(message))
        table = await table_of(adapter, bruno)
        await adapter.worker.wait_until_idle()
        server.started_users.add(bruno.number)
        OPENINGS[opening](server, bruno)
        await until(lambda: has_hand(bruno, table.code))
        await adapter.worker.wait_until_idle()
        assert (
            sum(table.code in message["text"] for message in bruno.private.messages.values() if message["from"] == BOT)
            == 1
        )


async def test_button_above_inline_results_leads_to_the_hand(store: Store, server: TelegramServer) -> None:
    anna, bruno, chat = Person(server, 1, "Anna"), Person(server, 2, "Bruno", has_started=False), chat_without_bot()
    async with on_telegram(store, server) as adapter:
        message = await send_offer(server, anna, chat, "metamazzo")
        await bruno.send_press(chat, message, payload_of(message))
        code = (await table_of(adapter, bruno)).code
        button = server.inline_answers[await query_offers(server, bruno, "")]["button"]
        bruno.start(button["start_parameter"])
        await until(lambda: has_hand(bruno, code))


async def test_start_for_one_table_brings_hands_of_others(store: Store, server: TelegramServer) -> None:
    people = [Person(server, 1, "Anna"), Person(server, 2, "Bruno", has_started=False)]
    chat = chat_without_bot()
    async with on_telegram(store, server) as adapter:
        for game in ("metamazzo", "testa"):
            message = await send_offer(server, people[0], chat, game)
            await people[1].send_press(chat, message, payload_of(message))
        codes = [table.code for table in await adapter.worker.room.lists.tables_of("telegram:2")]
        await adapter.worker.wait_until_idle()
        people[1].start(codes[0])
        await until(lambda: all(has_hand(people[1], code) for code in codes))


async def test_page_pressed_in_the_private_chat_brings_a_waiting_hand(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        anna, bruno = await seat_people(server, "metamazzo")
        await until(lambda: all(panels(person) for person in (anna, bruno)))
        anna.say("/help", anna.private)
        await until(lambda: anna.button("Rules", anna.private) is not None)
        anna.private.refusal = Refused(403, "Forbidden: bot was blocked by the user")
        group = server.group(GROUP)
        anna.say("/hand", group)
        await until(lambda: has_text(group, "I can’t write to you: press below"))
        await adapter.worker.wait_until_idle()
        anna.private.refusal = None
        before = newest_id(anna)
        await anna.press("Rules")
        await until(lambda: newest_id(anna) > before)


async def test_ordinary_message_moves_no_hand(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        await until(lambda: all(panels(person) for person in people))
        await adapter.worker.wait_until_idle()
        before = [list(person.private.messages) for person in people]
        for person in people:
            OPENINGS["photo"](server, person)
        await until(lambda: not server.pending)
        await adapter.worker.wait_until_idle()
        assert [list(person.private.messages) for person in people] == before
