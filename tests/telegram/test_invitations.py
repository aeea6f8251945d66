"""Invitations to a table, with a link that seats the person who opens it."""

from typing import Any

from bot.store import Store
from tests.telegram.content import buttons_of
from tests.telegram.players import GROUP, Person, bot_text, on_telegram, until
from tests.telegram.server import BOT, Chat, TelegramServer

LINK = f"https://t.me/{BOT['username']}?start="


def find_link(chat: Chat, label: str = "Sit down") -> str:
    """Return the address of the only button with this label in a chat."""
    buttons: list[dict[str, Any]] = [
        button for message in chat.messages.values() for button in buttons_of(message) if button["text"] == label
    ]
    [button] = buttons
    return str(button["url"])


async def test_forwarded_invitation_seats_its_opener(store: Store, server: TelegramServer) -> None:
    anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno", has_started=False)
    async with on_telegram(store, server) as adapter:
        anna.say("/challenge metamazzo")
        await until(lambda: anna.button("Join", server.group(GROUP)) is not None)
        [table] = await adapter.worker.room.lists.tables_of("telegram:1")
        anna.say("/invite", anna.private)
        await until(lambda: "invites you to play Metà Mazzo" in bot_text(anna.private))
        assert f"/join {table.code}" in bot_text(anna.private)
        assert find_link(anna.private) == f"{LINK}join-{table.code}"
        bruno.start(f"join-{table.code}")
        await until(lambda: f"You’re at table {table.code}" in bot_text(bruno.private))
        # The hand, with buttons that play cards.
        await until(lambda: any(message.get("reply_markup") for message in bruno.private.messages.values()))
        table = await adapter.worker.room.table(table.code)
        assert table.phase == "playing"
        assert table.seat_of("telegram:2") is not None


async def test_reopened_link_brings_the_hand_again(store: Store, server: TelegramServer) -> None:
    anna, bruno, carla = (Person(server, number, name) for number, name in enumerate(("Anna", "Bruno", "Carla"), 1))
    async with on_telegram(store, server) as adapter:
        anna.say("/challenge metamazzo")
        await until(lambda: anna.button("Join", server.group(GROUP)) is not None)
        [table] = await adapter.worker.room.lists.tables_of("telegram:1")
        anna.start(f"join-{table.code}")
        await until(
            lambda: "You already have a seat here: wait for the others, or add a robot." in bot_text(anna.private)
        )
        bruno.start(f"join-{table.code.lower()}")
        await until(lambda: f"You’re at table {table.code}" in bot_text(bruno.private))
        await adapter.worker.wait_until_idle()
        hands = [number for number, message in bruno.private.messages.items() if message.get("reply_markup")]
        bruno.start(f"join-{table.code}")
        await until(
            lambda: any(
                message.get("reply_markup") and number not in hands
                for number, message in bruno.private.messages.items()
            )
        )
        carla.start(f"join-{table.code}")
        await until(lambda: "the game has already started" in bot_text(carla.private))
        assert (await adapter.worker.room.table(table.code)).seat_of("telegram:3") is None


async def test_made_up_link_counts_as_a_guess(store: Store, server: TelegramServer) -> None:
    anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
    async with on_telegram(store, server) as adapter:
        anna.say("/challenge metamazzo")
        await until(lambda: anna.button("Join", server.group(GROUP)) is not None)
        [table] = await adapter.worker.room.lists.tables_of("telegram:1")
        for number in range(5):
            bruno.start(f"join-QQQQ{number}2")
            await until(lambda: f"There’s no table QQQQ{number}2" in bot_text(bruno.private))  # noqa: B023
        bruno.start(f"join-{table.code}")
        await until(lambda: "Too many wrong codes" in bot_text(bruno.private))
        assert (await adapter.worker.room.table(table.code)).seat_of("telegram:2") is None


async def test_invite_needs_one_open_challenge(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna")
    async with on_telegram(store, server) as adapter:
        anna.say("/invite", anna.private)
        await until(lambda: "You have no open challenge" in bot_text(anna.private))
        for game in ("metamazzo", "tavolo"):
            anna.say(f"/challenge {game}")
            await until(lambda: "tavolo" in game or anna.button("Join", server.group(GROUP)) is not None)  # noqa: B023
        await until(lambda: anna.button("Sit East", server.group(GROUP)) is not None)
        codes = [table.code for table in await adapter.worker.room.lists.tables_of("telegram:1")]
        anna.say("/invite", anna.private)
        await until(lambda: all(f"/invite {code}" in bot_text(anna.private) for code in codes))
        anna.say(f"/invite {codes[0]}", anna.private)
        await until(lambda: "invites you" in bot_text(anna.private))
        assert find_link(anna.private) == f"{LINK}join-{codes[0]}"


async def test_invite_button_works_for_everyone_in_the_chat(store: Store, server: TelegramServer) -> None:
    anna, bruno, group = Person(server, 1, "Anna"), Person(server, 2, "Bruno", "it"), server.group(GROUP)
    carla = Person(server, 3, "Carla", has_started=False)
    async with on_telegram(store, server) as adapter:
        anna.say("/challenge tressette")
        assert await anna.press("Invite", group) == "Sent to your private chat."
        [table] = await adapter.worker.room.lists.tables_of("telegram:1")
        assert "Anna invites you to play" in bot_text(anna.private).replace("\u2068", "").replace("\u2069", "")
        # Other people can share the invitation in their own language.
        await bruno.press("Invite", group)
        assert find_link(bruno.private, "Siediti") == f"{LINK}join-{table.code}"
        # A person without a private chat gets a link to it.
        await carla.press("Invite", group)
        assert any(answer["url"].startswith(LINK) for answer in server.answers.values())
        card = next(message for message in group.messages.values() if message["from"]["is_bot"])
        await anna.press("Cancel", group)
        assert "non c’è più" in await bruno.send_press(group, card, f"1t{table.code}:invite")


async def test_link_brings_bot_and_table_into_another_group(store: Store, server: TelegramServer) -> None:
    anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
    other = server.group(-1002, "Bar Centrale")
    async with on_telegram(store, server) as adapter:
        anna.say("/challenge metamazzo")
        await anna.press("Invite", server.group(GROUP))
        [table] = await adapter.worker.room.lists.tables_of("telegram:1")
        link = find_link(anna.private, "Into another group")
        start_word = f"join-{table.code}"
        assert link == f"https://t.me/{BOT['username']}?startgroup={start_word}"
        # Telegram sends this command for the person who chose the group
        # (core.telegram.org/api/links#groupchannel-bot-links).
        anna.say(f"/start@{BOT['username']} {start_word}", other)
        await bruno.press("Join", other)
        await until(lambda: "deal 1" in bot_text(other) and "deal 1" in bot_text(server.group(GROUP)))
        # A game in progress can be shown in another group too.
        third = server.group(-1003, "Bar Porto")
        bruno.say(f"/start@{BOT['username']} {start_word}", third)
        await until(lambda: "deal 1" in bot_text(third))
