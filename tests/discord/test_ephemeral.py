"""Ephemeral hands in the channel, for closed private chats and for players who prefer them."""

import time
from random import Random
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.delivery import surface_waits
from bot.store import Store
from engine import verify
from tests.discord.players import ObservedDiscord, Person, buttons_of, on_discord, text_of, until
from tests.discord.server import CHANNEL, DiscordServer, Failure
from tests.discord.validation import Refused


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 0.01)


def hands(person: Person) -> list[dict[str, Any]]:
    """Return a person's ephemeral hands in the channel."""
    return [
        message
        for message in person.server.channels[CHANNEL].ephemerals[person.number].values()
        if any(words in text_of(message) for words in ("Tricks", "Your turn", "to move"))
    ]


async def start_game(server: DiscordServer, game: str = "metamazzo", **options: Any) -> tuple[Person, Person]:
    """Start a game. The second player does not accept private messages."""
    anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
    bruno.private.is_closed = True
    await anna.slash("challenge", game=game, **options)
    await bruno.press("Join", server.channels[CHANNEL])
    return anna, bruno


async def wait_for_annas_turn(adapter: ObservedDiscord, anna: Person, bruno: Person) -> None:
    """Play until it is Anna's turn. Her hand is in the private chat, Bruno's hand is ephemeral."""
    await adapter.worker.wait_until_idle()
    while not buttons_of(anna.visible_messages(anna.private)[-1]):
        await bruno.play(Random(1), bruno.server.channels[CHANNEL])
        await adapter.worker.wait_until_idle()


async def test_whole_game_can_be_played_with_an_ephemeral_hand(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        anna, bruno = await start_game(server, "testa", target=11)
        channel = server.channels[CHANNEL]
        await until(lambda: any("can’t write" in text_of(message) for message in channel.messages.values()))
        await bruno.press("My hand", channel)
        await until(lambda: bool(hands(bruno)))
        assert not hands(anna)
        random = Random(4)
        for _ in range(400):
            for person, chat in ((anna, anna.private), (bruno, channel)):
                await person.play(random, chat)
                await adapter.worker.wait_until_idle()
            if await adapter.worker.archive.count():
                break
        [game] = [game async for game in adapter.worker.archive.games()]
        verify(game.record)
        assert not any("On the table:" in text_of(message) for message in channel.messages.values())
        assert any("You " in text_of(message) for message in channel.ephemerals[2].values())


async def test_each_press_keeps_the_hand_for_15_minutes(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_discord(store, server) as adapter:
        anna, bruno = await start_game(server)
        channel = server.channels[CHANNEL]
        await bruno.press("My hand", channel)
        await until(lambda: bool(hands(bruno)))
        random, now = Random(1), time.time()
        for step in range(1, 4):
            while await anna.play(random):
                await adapter.worker.wait_until_idle()
            await bruno.play(random, channel)
            await adapter.worker.wait_until_idle()
            # Bruno presses every ten minutes.
            later = now + 600 * step
            monkeypatch.setattr(time, "time", lambda later=later: later)
            for interaction in server.interactions.values():
                interaction.since -= 600
        assert len(hands(bruno)) == 1
        assert "Tricks" in text_of(hands(bruno)[0])
        await wait_for_annas_turn(adapter, anna, bruno)
        # After a longer pause the hand is no longer edited, and the button brings a new one.
        monkeypatch.setattr(time, "time", lambda: now + 600 * 4 + 900)
        calls = len(server.calls)
        await anna.play(random)
        await adapter.worker.wait_until_idle()
        assert "edit_with_token" not in [name for name, _body in server.calls[calls:]]
        await bruno.press("My hand", channel)
        await until(lambda: len(hands(bruno)) == 2)


async def test_expired_ephemeral_hand_moves_to_the_private_chat(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_discord(store, server) as adapter:
        anna, bruno = await start_game(server)
        await bruno.press("My hand", server.channels[CHANNEL])
        await until(lambda: bool(hands(bruno)))
        bruno.private.is_closed = False
        await wait_for_annas_turn(adapter, anna, bruno)
        later = time.time() + 900
        monkeypatch.setattr(time, "time", lambda: later)
        await anna.play(Random(1))
        await until(lambda: bool(bruno.private.messages))
        await adapter.worker.wait_until_idle()
        assert not any(
            "My hand" in button["label"]
            for message in list(server.channels[CHANNEL].messages.values())[-1:]
            for button in buttons_of(message)
        )


async def test_hand_command_shows_an_ephemeral_hand(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        anna, bruno = await start_game(server)
        bruno.private.is_closed = False
        await adapter.worker.wait_until_idle()
        assert anna.private.messages
        await anna.slash("hand")
        await until(lambda: not anna.private.messages)
        assert len(hands(anna)) == 1
        assert not server.channels[CHANNEL].ephemerals[2]
        # In the private chat the hand is the answer to the command, and stays.
        await anna.slash("hand", anna.private)
        await until(lambda: bool(anna.private.messages))
        assert "no game running" in await Person(server, 3, "Carla").slash("hand")


async def test_hand_command_shows_all_hands(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        anna, bruno = await start_game(server)
        await anna.slash("challenge", game="testa")
        await bruno.press("Join", server.channels[CHANNEL])
        await until(lambda: len(anna.private.messages) == 2)
        await anna.slash("hand")
        await until(lambda: len(hands(anna)) == 2)


async def test_join_press_shows_the_preferred_ephemeral_hand(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        channel = server.channels[CHANNEL]
        for person in (anna, bruno):
            await person.slash("settings")
            await person.press("My settings", channel)
            await person.press("only for me", channel)
            assert person.button("• Cards in the group", channel)
        # The page was shown in the channel, not in the private chat.
        assert "Sent to your private chat." not in str(server.calls)
        assert "My settings" in str(server.calls)
        await anna.slash("challenge", game="metamazzo")
        await bruno.press("Join", channel)
        await until(lambda: bool(hands(bruno)))
        await adapter.worker.wait_until_idle()
        assert not hands(anna)
        await anna.press("My hand", channel)
        await until(lambda: bool(hands(anna)))
        assert not anna.private.messages
        assert not bruno.private.messages
        assert "open_private" not in [name for name, _body in server.calls]


async def test_ephemeral_hands_survive_a_restart(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        anna, bruno = await start_game(server)
        await bruno.press("My hand", server.channels[CHANNEL])
        await until(lambda: bool(hands(bruno)))
        before = text_of(hands(bruno)[0])
    async with on_discord(store, server) as adapter:
        random = Random(1)
        for _ in range(4):
            await anna.play(random)
            await bruno.play(random, server.channels[CHANNEL])
            await adapter.worker.wait_until_idle()
        assert len(hands(bruno)) == 1
        assert text_of(hands(bruno)[0]) != before


async def test_resign_asks_in_the_same_chat(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        anna, _bruno = await start_game(server)
        await anna.slash("resign")
        channel = server.channels[CHANNEL]
        assert "Do you really want to resign" in text_of(anna.visible_messages(channel)[-1])
        assert await anna.press("Yes, I resign", channel) == ""
        await until(lambda: any("resigned" in text_of(message) for message in channel.messages.values()))


@pytest.mark.parametrize("code", [50027, 10015])
async def test_token_revoked_early_is_given_up(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    # Right after the press the bot would retry, because another worker could still be answering.
    monkeypatch.setattr("adapters.discord.places.ANSWER_SECONDS", 0)
    async with on_discord(store, server) as adapter:
        anna, bruno = await start_game(server)
        channel = server.channels[CHANNEL]
        await bruno.press("My hand", channel)
        await until(lambda: bool(hands(bruno)))
        server.fail_next("edit_with_token", *[Failure(Refused(401 if code == 50027 else 404, code))] * 5)
        await wait_for_annas_turn(adapter, anna, bruno)
        with capture_logs() as logs:
            await anna.play(Random(1))
            await adapter.worker.wait_until_idle()
        assert "surface_given_up" in [line["event"] for line in logs]
        await bruno.press("My hand", channel)
        await until(lambda: len(hands(bruno)) == 2)


async def test_strangers_see_no_hand(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        await start_game(server)
        carla, channel = Person(server, 3, "Carla"), server.channels[CHANNEL]
        assert "have no seat" in await carla.press("My hand", channel)
        assert not hands(carla)


async def test_ping_comes_with_a_new_board_and_not_in_fast_play(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        channel, worker = server.channels[CHANNEL], adapter.worker
        await bruno.slash("settings", bruno.private)
        await bruno.press("Call me in the group")
        assert bruno.button("✓ Call me", bruno.private)
        await anna.slash("challenge", game="metamazzo")
        await bruno.press("Join", channel)
        await worker.wait_until_idle()
        random = Random(1)
        [table] = await worker.room.lists.tables_of("discord:1")
        # The deal's board is a new message anyway, and can ping the first player.
        server.pings.clear()

        async def play_four_rounds() -> None:
            for _ in range(4):
                for person in (anna, bruno):
                    await person.play(random)
                    await worker.wait_until_idle()

        await play_four_rounds()
        assert server.pings == []
        # Every player now counts as away from their hand.
        worker.delivery._tools.reposts.ring_after = -1.0
        await play_four_rounds()
        assert server.pings
        assert set(server.pings) == {(CHANNEL, 2)}
        newest = list(channel.messages.values())[-1]
        assert len([message for message in channel.messages.values() if "deal 1" in text_of(message)]) == 1
        table = await worker.room.load_cached(table.code)
        assert table.game
        assert ("it is your turn" in text_of(newest)) == (table.game.turn == 1)


async def test_command_in_the_private_chat_brings_a_waiting_hand(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        _anna, bruno = await start_game(server)
        await adapter.worker.wait_until_idle()
        bruno.private.is_closed = False
        await bruno.slash("rules", bruno.private)
        await until(lambda: any("Tricks" in text_of(message) for message in bruno.private.messages.values()))


async def test_command_in_the_private_chat_moves_no_hand(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        _anna, bruno = await start_game(server)
        await bruno.press("My hand", server.channels[CHANNEL])
        await until(lambda: bool(hands(bruno)))
        bruno.private.is_closed = False
        await bruno.slash("rules", bruno.private)
        await adapter.worker.wait_until_idle()
        assert len(hands(bruno)) == 1
        assert not any("Tricks" in text_of(message) for message in bruno.private.messages.values())
