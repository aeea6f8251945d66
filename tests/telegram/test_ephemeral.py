"""Ephemeral hands in the group, for players without a private chat."""

from random import Random
from typing import Any

import pytest

from bot.delivery import surface_waits
from bot.store import Store
from bot.worker import Worker
from engine import verify
from tests.telegram import server as server_module
from tests.telegram.content import Refused, payloads_of
from tests.telegram.players import GROUP, Person, on_telegram, until
from tests.telegram.server import BOT, Chat, TelegramServer


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 0.01)


async def start_without_private_chat(server: TelegramServer, game: str, *options: str) -> tuple[Person, Person]:
    """Start a game in which the second player never opened the private chat."""
    anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno", has_started=False)
    group = server.group(GROUP)
    anna.say(f"/challenge {game}")
    for option in options:
        for label in ("Change", option, "Done"):
            await anna.press(label, group)
    await bruno.press("Join", group)
    return anna, bruno


async def start_with_hand_in_group(server: TelegramServer, worker: Worker) -> tuple[Person, Person]:
    """Start a game, and show the second player's hand in the group."""
    anna, bruno = await start_without_private_chat(server, "metamazzo")
    await bruno.press("My hand, here", server.group(GROUP))
    await until(lambda: bool(hands(bruno)))
    await worker.wait_until_idle()
    return anna, bruno


def hands(person: Person) -> list[dict[str, Any]]:
    return list(person.server.group(GROUP).ephemerals[person.number].values())


async def play_from_group_hand(person: Person, random: Random) -> None:
    if not hands(person):
        return
    message = hands(person)[-1]
    payloads = [payload for payload in payloads_of(message) if "play" in payload]
    if payloads:
        await person.send_press(person.server.group(GROUP), message, random.choice(payloads))


@pytest.mark.long
async def test_whole_game_can_be_played_with_a_hand_in_the_group(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        anna, bruno = await start_without_private_chat(server, "testa", "to 11")
        group = server.group(GROUP)
        await bruno.press("My hand, here", group)
        await until(lambda: bool(hands(bruno)))
        assert not hands(anna)
        random = Random(4)
        for _ in range(400):
            await anna.play(random)
            await adapter.worker.wait_until_idle()
            await play_from_group_hand(bruno, random)
            await adapter.worker.wait_until_idle()
            if await adapter.worker.archive.count():
                break
        [game] = [game async for game in adapter.worker.archive.games()]
        verify(game.record)
        assert len(hands(bruno)) == 1
        assert "You " in hands(bruno)[0]["text"]
        public = [message["text"] for message in group.messages.values() if message["from"] == BOT]
        assert not [text for text in public if "On the table:" in text]


async def test_old_server_is_detected_without_showing_a_hand(store: Store, server: TelegramServer) -> None:
    server.missing_methods = {"editEphemeralMessageText", "deleteEphemeralMessage"}
    async with on_telegram(store, server) as adapter:
        _anna, bruno = await start_without_private_chat(server, "metamazzo")
        group = server.group(GROUP)
        await bruno.press("My hand, here", group)
        await until(lambda: adapter.messages.has_ephemeral is False)
        await adapter.worker.wait_until_idle()
        texts = [fields["text"] for method, fields in server.calls if method == "sendMessage" and fields["chat_id"] < 0]
        assert texts.count("🂠") == 1
        assert all(message["text"] != "🂠" for message in group.messages.values())
        assert not hands(bruno)
        # The bot does not try again, and the press is answered.
        board = next(message for message in reversed(group.messages.values()) if message["from"] == BOT)
        [code] = [table.code for table in await adapter.worker.room.lists.tables_of("telegram:1")]
        assert "private chat" in await bruno.send_press(group, board, f"1t{code}:aside")
        bruno.start(code)
        await until(lambda: bool([message for message in bruno.private.messages.values() if message["from"] == BOT]))
        assert sum(fields.get("text") == "🂠" for _method, fields in server.calls) == 1


async def test_resign_button_asks_in_the_same_hand(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        _anna, bruno = await start_with_hand_in_group(server, adapter.worker)
        # Bruno plays first.
        [hand] = hands(bruno)
        buttons = [button for row in hand["reply_markup"]["inline_keyboard"] for button in row]
        [resign] = [button["callback_data"] for button in buttons if button["text"] == "Resign"]
        await bruno.send_press(server.group(GROUP), hand, resign)
        await adapter.worker.wait_until_idle()
        [hand] = hands(bruno)
        assert "Do you really want to resign?" in hand["text"]
        assert not [message for message in bruno.private.messages.values() if message["from"] == BOT]


async def test_expired_press_shows_no_hand(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_telegram(store, server) as adapter:
        _anna, bruno = await start_without_private_chat(server, "metamazzo")
        group = server.group(GROUP)
        monkeypatch.setattr(server_module, "PRESS_SECONDS", -1.0)
        await bruno.press("My hand, here", group)
        await adapter.worker.wait_until_idle()
        assert not hands(bruno)
        monkeypatch.undo()
        await bruno.press("My hand, here", group)
        await until(lambda: bool(hands(bruno)))


async def test_vanished_hand_comes_again_on_request(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        _anna, bruno = await start_without_private_chat(server, "metamazzo")
        group = server.group(GROUP)
        await bruno.press("My hand, here", group)
        await until(lambda: bool(hands(bruno)))
        group.ephemerals[bruno.number].clear()
        await bruno.press("My hand, here", group)
        await until(lambda: bool(hands(bruno)))
        await adapter.worker.wait_until_idle()
        assert len(hands(bruno)) == 1


async def test_opening_the_private_chat_moves_the_hand_there(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        _anna, bruno = await start_without_private_chat(server, "metamazzo")
        group = server.group(GROUP)
        await bruno.press("My hand, here", group)
        await until(lambda: bool(hands(bruno)))
        [table] = await adapter.worker.room.lists.tables_of("telegram:1")
        bruno.start(table.code)
        await until(lambda: not hands(bruno))
        await adapter.worker.wait_until_idle()
        assert sum(message["from"] == BOT for message in bruno.private.messages.values()) == 1
        assert bruno.button("My hand, here", group) is None


async def test_hand_in_the_group_survives_a_restart(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server):
        anna, bruno = await start_without_private_chat(server, "metamazzo")
        await bruno.press("My hand, here", server.group(GROUP))
        await until(lambda: bool(hands(bruno)))
    async with on_telegram(store, server) as adapter:
        random = Random(1)
        before = hands(bruno)[-1]["text"]
        for _ in range(4):
            await anna.play(random)
            await play_from_group_hand(bruno, random)
            await adapter.worker.wait_until_idle()
        assert len(hands(bruno)) == 1
        assert hands(bruno)[-1]["text"] != before


def upgrade_group(server: TelegramServer) -> Chat:
    """Turn the group into a supergroup without informing the bot; return the supergroup."""
    supergroup = server.group(-100777, "Bar Sport, super")
    error = "Bad Request: group chat was upgraded to a supergroup chat"
    server.group(GROUP).refusal = Refused(400, error, migrate_to_chat_id=supergroup.id)
    return supergroup


async def test_new_supergroup_offers_the_hand_again(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        worker = adapter.worker
        anna, bruno = await start_with_hand_in_group(server, worker)
        random = Random(3)
        # Bruno plays first.
        await play_from_group_hand(bruno, random)
        await worker.wait_until_idle()
        supergroup = upgrade_group(server)
        assert await anna.play(random)
        await until(lambda: anna.button("My hand, here", supergroup) is not None)
        [table] = await worker.room.lists.tables_of("telegram:1")
        await until(lambda: not worker.delivery.is_busy(table.code))
        assert table.hosts == (f"telegram:{supergroup.id}",)
        # The store keeps neither the players of the old group nor the press that allowed the hand.
        assert await store.client.hgetall("{games}:moved_chats") == {
            f"telegram:{GROUP}".encode(): f"telegram:{supergroup.id}".encode()
        }
        await bruno.press("My hand, here", supergroup)
        await until(lambda: bool(supergroup.ephemerals[bruno.number]))
        await worker.wait_until_idle()


async def test_hand_left_in_the_old_group_blocks_nothing(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        worker = adapter.worker
        anna, bruno = await start_with_hand_in_group(server, worker)
        [table] = await worker.room.lists.tables_of("telegram:1")
        upgrade_group(server)
        bruno.start(table.code)
        await until(lambda: any(message["from"] == BOT for message in bruno.private.messages.values()))
        anna.say("/resign", anna.private)
        await anna.press("Yes, I resign")
        await until(lambda: not worker.delivery.is_busy(table.code))
        assert await worker.archive.count() == 1
        assert not [key async for key in store.client.scan_iter(match=f"*:table:{table.code}")]


async def test_stranger_gets_no_hand(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server):
        await start_without_private_chat(server, "metamazzo")
        stranger = Person(server, 9, "Zoe")
        assert "You have no seat at table" in await stranger.press("My hand, here", server.group(GROUP))
        assert not hands(stranger)
