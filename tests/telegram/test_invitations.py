"""Invitations to a table: passed on to chats that the bot is not in, their link seats whoever opens it."""

from typing import Any

from bot.store import Store
from tests.telegram.players import GROUP, Person, on_telegram, until
from tests.telegram.server import BOT, Chat, TelegramServer

LINK = f"https://t.me/{BOT['username']}?start="


def said(chat: Chat) -> str:
    return "\n".join(message["text"] for message in chat.messages.values() if message["from"]["is_bot"])


def link_in(chat: Chat) -> str:
    """What stands behind /start in the link of the only button in a chat."""
    found: list[dict[str, Any]] = [
        button
        for message in chat.messages.values()
        for row in message.get("reply_markup", {}).get("inline_keyboard", ())
        for button in row
    ]
    [button] = found
    return str(button["url"]).removeprefix(LINK)


async def test_who_opens_an_invitation_that_was_passed_on_sits_and_plays(store: Store, server: TelegramServer) -> None:
    anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno", started=False)
    async with on_telegram(store, server) as adapter:
        anna.say("/challenge metamazzo")
        await until(lambda: anna.button("Accept", server.group(GROUP)) is not None)
        [table] = await adapter.worker.tables_of("telegram:1")
        anna.say("/invite", anna.private)
        await until(lambda: "invites you to play Metà Mazzo" in said(anna.private))
        assert f"/join {table.code}" in said(anna.private)
        word = link_in(anna.private)
        assert word == f"join-{table.code}"
        bruno.start(word)
        await until(lambda: f"You sit at table {table.code}" in said(bruno.private))
        # The hand, by which cards are played.
        await until(lambda: any(one.get("reply_markup") for one in bruno.private.messages.values()))
        table = await adapter.worker.room.table(table.code)
        assert table.phase == "playing"
        assert table.seat_of("telegram:2") is not None


async def test_a_link_opened_again_seats_nobody_twice_and_brings_the_hand(store: Store, server: TelegramServer) -> None:
    anna, bruno, carla = (Person(server, number, name) for number, name in enumerate(("Anna", "Bruno", "Carla"), 1))
    async with on_telegram(store, server) as adapter:
        anna.say("/challenge metamazzo")
        await until(lambda: anna.button("Accept", server.group(GROUP)) is not None)
        [table] = await adapter.worker.tables_of("telegram:1")
        anna.start(f"join-{table.code}")
        await until(lambda: "You sit at this table already." in said(anna.private))
        bruno.start(f"join-{table.code.lower()}")
        await until(lambda: f"You sit at table {table.code}" in said(bruno.private))
        await adapter.worker.settled()
        hands = [number for number, one in bruno.private.messages.items() if one.get("reply_markup")]
        bruno.start(f"join-{table.code}")
        await until(
            lambda: any(
                one.get("reply_markup") and number not in hands for number, one in bruno.private.messages.items()
            )
        )
        carla.start(f"join-{table.code}")
        await until(lambda: "The game has begun" in said(carla.private))
        assert (await adapter.worker.room.table(table.code)).seat_of("telegram:3") is None


async def test_a_made_up_link_is_told_so_and_counts_as_a_guess(store: Store, server: TelegramServer) -> None:
    anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
    async with on_telegram(store, server) as adapter:
        anna.say("/challenge metamazzo")
        await until(lambda: anna.button("Accept", server.group(GROUP)) is not None)
        [table] = await adapter.worker.tables_of("telegram:1")
        for number in range(5):
            bruno.start(f"join-QQQQ{number}2")
            await until(lambda: f"There is no table QQQQ{number}2" in said(bruno.private))  # noqa: B023
        bruno.start(f"join-{table.code}")
        await until(lambda: "Too many wrong codes" in said(bruno.private))
        assert (await adapter.worker.room.table(table.code)).seat_of("telegram:2") is None


async def test_who_has_no_open_challenge_or_several_is_told_so(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna")
    async with on_telegram(store, server) as adapter:
        anna.say("/invite", anna.private)
        await until(lambda: "You have no open challenge" in said(anna.private))
        for game in ("metamazzo", "tavolo"):
            anna.say(f"/challenge {game}")
            await until(lambda: "tavolo" in game or anna.button("Accept", server.group(GROUP)) is not None)  # noqa: B023
        await until(lambda: anna.button("Sit East", server.group(GROUP)) is not None)
        codes = [table.code for table in await adapter.worker.tables_of("telegram:1")]
        anna.say("/invite", anna.private)
        await until(lambda: all(f"/invite {code}" in said(anna.private) for code in codes))
        anna.say(f"/invite {codes[0]}", anna.private)
        await until(lambda: "invites you" in said(anna.private))
        assert link_in(anna.private) == f"join-{codes[0]}"
