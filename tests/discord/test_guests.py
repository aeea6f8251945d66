"""Games without the bot as a member: in group chats, and on servers with people who installed it for themselves."""

import re
from random import Random

import pytest

from bot.delivery import surface_waits
from bot.finished.ratings import Scope
from bot.panel import Panel, Span
from bot.platform import SentMessage
from bot.store import Store
from tests.discord.players import Person, on_discord, text_of, until
from tests.discord.server import GROUP, Channel, DiscordServer, Failure
from tests.discord.validation import Refused
from tests.long import long


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 0.01)


def channel_without_bot(server: DiscordServer, kind: str) -> Channel:
    if kind == "group chat":
        return server.add_channel(300, kind=GROUP, users=(1, 2))
    return server.add_channel(300, 9 << 22)


@pytest.mark.long
@pytest.mark.parametrize("where", ["group chat", long("a server without the bot")])
async def test_game_is_played_where_the_bot_is_not_a_member(store: Store, server: DiscordServer, where: str) -> None:
    async with on_discord(store, server) as adapter:
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        channel = channel_without_bot(server, where)
        assert await anna.slash("challenge", channel, game="testa", target=11) == ""
        await bruno.press("Join", channel)
        await until(lambda: any("deal 1" in text_of(message) for message in channel.messages.values()))
        random = Random(2)
        for _ in range(300):
            for person in (anna, bruno):
                await person.play(random)
                await adapter.worker.wait_until_idle()
            if await adapter.worker.archive.count():
                break
        assert await adapter.worker.archive.count() == 1
        assert any(" beat" in text_of(message) for message in channel.messages.values())
        scope = Scope(chat="discord:guest300")
        assert (await adapter.worker.ratings.standing(scope, "discord:1")).games == 1
        # The bot never tried to write there as a member.
        assert not [body for name, body in server.calls if name in ("send", "edit") and body.get("flags") is None]
        assert not adapter.budget._refusal_times


async def test_unpressed_challenge_can_be_edited(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        channel = channel_without_bot(server, "group chat")
        await Person(server, 1, "Anna").slash("challenge", channel, game="metamazzo")
        await adapter.worker.wait_until_idle()
        [message] = channel.messages
        await adapter.edit("discord:guest300", SentMessage(str(message)), Panel((Span("It is over."),)))
        assert "It is over." in text_of(channel.messages[message])


async def test_board_waits_for_a_command_after_its_token_expired(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        channel = channel_without_bot(server, "group chat")
        await anna.slash("challenge", channel, game="metamazzo")
        await bruno.press("Join", channel)
        await until(lambda: any("deal 1" in text_of(message) for message in channel.messages.values()))
        await adapter.worker.wait_until_idle()
        # The token expires after a quarter of an hour.
        async for key in store.client.scan_iter("discord:pass:*"):
            await store.client.delete(key)
        random = Random(1)
        for _ in range(6):
            for person in (anna, bruno):
                await person.play(random)
                await adapter.worker.wait_until_idle()
        before = len(channel.messages)
        assert not any(re.search("Trick [2-9]", text_of(message)) for message in channel.messages.values())
        await anna.slash("rules", channel)
        await until(lambda: any(re.search("Trick [2-9]", text_of(message)) for message in channel.messages.values()))
        assert len(channel.messages) == before + 2


async def test_ephemeral_hand_works_where_the_bot_is_not_a_member(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        bruno.private.is_closed = True
        channel = channel_without_bot(server, "group chat")
        await anna.slash("challenge", channel, game="metamazzo")
        await bruno.press("Join", channel)
        await bruno.press("My hand", channel)
        await until(lambda: any("Tricks" in text_of(message) for message in channel.ephemerals[2].values()))


async def test_press_being_answered_by_another_worker_is_retried(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        channel = channel_without_bot(server, "group chat")
        await anna.slash("challenge", channel, game="metamazzo")
        server.fail_next("follow_up", Failure(Refused(404, 10015, "Unknown Webhook")))
        await bruno.press("Join", channel)
        await until(lambda: any("deal 1" in text_of(message) for message in channel.messages.values()))
        assert not adapter.budget._refusal_times


async def test_refused_answers_count_against_the_budget(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        anna = Person(server, 1, "Anna")
        server.fail_next("answer", Failure(Refused(403, 50001)))
        anna.start_command("rules")
        await until(lambda: len(adapter.budget._refusal_times) == 1)
