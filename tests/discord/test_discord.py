"""Commands, presses and failures on Discord."""

import asyncio
import json
import time
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from adapters.discord import adapter as adapter_module
from adapters.discord import examine, interaction_answers, places
from adapters.discord.errors import LIBRARY_ERRORS
from adapters.discord.limits import RefusalBudget
from bot.delivery import surface_waits
from bot.panel import Panel, Span
from bot.platform import NotDelivered, PlatformFailure, Reply, SlowDown, private_place
from bot.running import supervisor
from bot.settings import BadSetting, Settings
from bot.store import Store, keys
from tests.discord.players import ObservedDiscord, Person, buttons_of, on_discord, seat_people, text_of, until
from tests.discord.server import (
    BAR,
    CHANNEL,
    LOADING,
    SEND,
    THREAD,
    TOKEN,
    VIEW,
    Channel,
    DiscordServer,
    Failure,
    Interaction,
)
from tests.discord.validation import Refused
from tests.long import long, mostly_long
from tests.tricks import has_reached_trick, tricks_played


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(supervisor, "FIRST_RETRY_SECONDS", 0.02)


def bar(server: DiscordServer) -> Channel:
    return server.channels[CHANNEL]


async def test_server_is_greeted_once_when_the_bot_joins(store: Store, server: DiscordServer) -> None:
    other = server.add_channel(77, 700)
    for _restart in range(2):
        async with on_discord(store, server) as adapter:
            await adapter.client.wait_until_ready()
            server.add_bot(700)
            await until(lambda: any("Hi! I deal" in text for text in texts_in(other)))
            server.remove_bot(700)
            server.add_bot(700)
            await asyncio.sleep(0.2)
            server.remove_bot(700)
    assert sum("Hi! I deal" in text for text in texts_in(other)) == 1


def texts_in(channel: Channel) -> list[str]:
    return [text_of(message) for message in channel.messages.values()]


async def play_to_trick(server: DiscordServer, people: list[Person], trick: int, seed: int = 1) -> None:
    random, channel = Random(seed), bar(server)
    deadline = time.monotonic() + 60.0
    while not has_reached_trick(trick, texts_in(channel)):
        assert time.monotonic() < deadline, f"trick {trick} was not reached within a minute"
        for person in people:
            await person.play(random)
        await asyncio.sleep(0.01)


async def wait_for_mover(people: list[Person]) -> Person:
    """Return the player to move, as soon as their panel has buttons."""

    def movers() -> list[Person]:
        panels = {person: person.visible_messages(person.private) for person in people}
        return [person for person, messages in panels.items() if messages and buttons_of(messages[-1])]

    await until(lambda: bool(movers()))
    return movers()[0]


# Commands


@pytest.mark.parametrize("link_text", ["<https://cards.example.org/t/{code}>", "({code})", "/join {code}"])
async def test_pasted_invitation_seats_the_person(store: Store, server: DiscordServer, link_text: str) -> None:
    async with on_discord(store, server) as adapter:
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        await anna.slash("challenge", game="testa")
        [table] = await adapter.worker.room.lists.tables_of("discord:1")
        assert await bruno.complete("join", "table", link_text.format(code=table.code)) == [table.code]
        answer = await bruno.slash("join", table=link_text.format(code=table.code.lower()))
        assert answer == f"You’re at table {table.code}."


async def test_challenge_card_answers_the_command(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        anna = Person(server, 1, "Anna")
        assert await anna.slash("challenge", game="testa", target=11) == ""
        [card] = bar(server).messages.values()
        assert "Testa a Testa" in text_of(card)
        assert "to 11." in text_of(card)
        assert [name for name, _body in server.calls if name in ("send", "answer")] == ["answer"]
        assert "choose one of 11, 21, 31" in await anna.slash("challenge", game="testa", target=12)


async def test_only_the_challenged_person_is_pinged(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        anna, bruno, carla = (Person(server, n, name) for n, name in ((1, "Anna"), (2, "@everyone <@3>"), (3, "Carla")))
        channel = bar(server)
        await anna.slash("challenge", opponent=2, game="metamazzo")
        assert server.pings == [(CHANNEL, 2)]
        assert "for @everyone <@3>" in await carla.press("Join", channel)
        await bruno.press("Join", channel)
        await play_to_trick(server, [anna, bruno], 1)
        assert server.pings == [(CHANNEL, 2)]


async def test_user_menu_challenges_that_person(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        assert await anna.challenge(bruno) == ""
        assert "challenges <@2>" in texts_in(bar(server))[0].replace("\u2068", "").replace("\u2069", "")
        assert "yourself" in await anna.challenge(anna)
        server.users[9] = {**server.users[2], "id": "9", "bot": True, "global_name": "Robbie"}
        assert "Robbie is a bot" in await anna.slash("challenge", opponent=9)


async def test_autocompletion_offers_valid_choices(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        carla = Person(server, 3, "Carla", "it")
        assert await carla.complete("challenge", "target", "", game="spades") == [200, 300, 500]
        assert await carla.complete("challenge", "target", "2", game="testa") == [21]
        await carla.slash("challenge", game="testa")
        [open_table] = await adapter.worker.room.lists.tables_of("discord:3")
        [playing] = await adapter.worker.room.lists.tables_of("discord:1")
        assert await people[0].complete("join", "table", "") == [open_table.code]
        assert await people[0].complete("resign", "table", playing.code[:2].lower()) == [playing.code]
        assert await carla.complete("hand", "table", "") == []
        assert await people[0].slash("join", table=open_table.code) != ""


@pytest.mark.parametrize("template", ["{}", "\u2068{}\u2069", " {}\u200b", "\ufeff{} "])
async def test_pasted_code_seats_the_person(store: Store, server: DiscordServer, template: str) -> None:
    async with on_discord(store, server) as adapter:
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        await anna.slash("challenge", game="metamazzo")
        [table] = await adapter.worker.room.lists.tables_of("discord:1")
        assert await bruno.complete("join", "table", template.format(table.code)) == [table.code]
        assert await bruno.slash("join", table=template.format(table.code)) == f"You’re at table {table.code}."


async def test_commands_are_set_once_in_both_languages(store: Store, server: DiscordServer) -> None:
    for _ in range(2):
        async with on_discord(store, server):
            assert server.command_uploads == 1, "the bot must upload its commands only if they have changed"
    challenge = next(command for command in server.commands if command["name"] == "challenge")
    assert challenge["name_localizations"] == {"it": "sfida"}
    assert challenge["description_localizations"]["it"].startswith("Gioca con chi vuoi")
    assert challenge["integration_types"] == [0, 1]
    assert challenge["contexts"] == [0, 1, 2]
    await store.client.hset("discord:commands", "1000", "something else")
    async with on_discord(store, server):
        assert server.command_uploads == 2


async def test_slow_command_is_deferred(store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.discord.adapter.DEFER_SECONDS", 0.05)
    async with on_discord(store, server) as adapter:
        anna = Person(server, 1, "Anna")
        handle_command, gate = adapter.card_room.handle_command, asyncio.Event()

        async def answer_late(command: Any) -> Any:
            await gate.wait()
            return await handle_command(command)

        monkeypatch.setattr(adapter.card_room, "handle_command", answer_late)
        commands: dict[str, dict[str, Any]] = {"leaderboard": {}, "nickname": {}, "challenge": {"game": "testa"}}
        for word, options in commands.items():
            deferral = anna.start_command(word, **options)
            await until(lambda deferral=deferral: deferral.answer == 5)  # type: ignore[misc]
        gate.set()
        channel = bar(server)
        await until(lambda: any("Leaderboard" in text for text in texts_in(channel)))
        await until(lambda: any("players, to" in text for text in texts_in(channel)))
        await until(lambda: any("/nickname" in text_of(message) for message in channel.ephemerals[1].values()))
        gate.clear()
        interaction = anna.start_command("challenge", game="testa", target=12)
        await until(lambda: interaction.answer == 5)
        gate.set()
        # The public deferred answer is deleted, and the error is ephemeral.
        await until(
            lambda: any("choose one of 11, 21, 31" in text_of(message) for message in channel.ephemerals[1].values())
        )
        assert all(not message["flags"] & LOADING for message in channel.messages.values())


def hold_deferral(
    server: DiscordServer, adapter: ObservedDiscord, monkeypatch: pytest.MonkeyPatch, refusal: Refused | None = None
) -> asyncio.Event:
    """Run the next command while its deferral is in transit to Discord. The deferral arrives once the event is set."""
    handle_command, gate = adapter.card_room.handle_command, asyncio.Event()
    monkeypatch.setattr("adapters.discord.adapter.DEFER_SECONDS", 0.05)
    server.fail_next("answer", Failure(refusal, gate=gate))

    async def answer_late(command: Any) -> Any:
        await until(lambda: any(name == "answer" for name, _body in server.calls))
        return await handle_command(command)

    monkeypatch.setattr(adapter.card_room, "handle_command", answer_late)
    return gate


@pytest.mark.parametrize("is_refused", [False, True])
async def test_challenge_is_answered_during_its_deferral(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch, is_refused: bool
) -> None:
    async with on_discord(store, server) as adapter:
        anna = Person(server, 1, "Anna")
        gate = hold_deferral(server, adapter, monkeypatch, Refused(404, 10062) if is_refused else None)
        send = adapter.messages.send

        async def send_and_release(*arguments: Any) -> Any:
            asyncio.get_running_loop().call_soon(gate.set)
            return await send(*arguments)

        monkeypatch.setattr(adapter.messages, "send", send_and_release)
        server.calls.clear()
        anna.start_command("challenge", game="testa")
        await until(lambda: any("players, to" in text for text in texts_in(bar(server))))
        await until(lambda: not len(adapter.answers))
        [card] = bar(server).messages.values()
        assert not card["flags"] & LOADING
        assert [name for name, _body in server.calls] == ["answer", "send" if is_refused else "edit_with_token"]


async def test_deferred_answer_is_deleted_if_no_reply_comes(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.adapter.DEFERRED_SECONDS", 0.05)
    async with on_discord(store, server) as adapter:

        async def answer_elsewhere(_command: Any) -> Reply:
            # As if another worker sent the challenge card.
            asyncio.get_running_loop().call_soon(gate.set)
            return Reply()

        monkeypatch.setattr(adapter.card_room, "handle_command", answer_elsewhere)
        gate = hold_deferral(server, adapter, monkeypatch)
        server.calls.clear()
        interaction = Person(server, 1, "Anna").start_command("challenge", game="testa")
        await until(lambda: interaction.answer > 0 and not len(adapter.answers))
        assert not bar(server).messages


# Presses


async def test_press_is_answered_with_the_changed_panel(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        await adapter.worker.wait_until_idle()
        server.calls.clear()
        await (await wait_for_mover(people)).play(Random(1))
        await adapter.worker.wait_until_idle()
        # The answer shows the presser's hand, and the edit the other player's.
        assert sorted(name for name, _body in server.calls) == ["answer", "edit"]


async def test_invalid_presses_are_answered(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        people = await seat_people(server, "metamazzo")
        carla, channel = Person(server, 3, "Carla"), bar(server)
        mover = await wait_for_mover(people)
        panel = mover.visible_messages(mover.private)[-1]
        payload = buttons_of(panel)[0]["custom_id"]
        await mover.send_press(mover.private, panel, payload)
        assert await mover.send_press(mover.private, panel, payload) != ""
        board = list(channel.messages.values())[-1]
        assert "have no seat" in await carla.send_press(channel, board, payload)
        for made_up in ("xyz", "1mABCDEFG:1:play 3C", "1t", "1p" + "x" * 98, "9m~~", "1pleaderboard a b c"):
            assert await carla.send_press(channel, board, made_up) != ""


async def test_slow_press_is_deferred_and_still_updates_the_panel(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_discord(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        mover = await wait_for_mover(people)
        before = text_of(mover.visible_messages(mover.private)[-1])
        handle_press, gate = adapter.card_room.handle_press, asyncio.Event()

        async def answer_late(press: Any) -> Any:
            await gate.wait()
            return await handle_press(press)

        monkeypatch.setattr("adapters.discord.adapter.DEFER_SECONDS", 0.05)
        monkeypatch.setattr(adapter.card_room, "handle_press", answer_late)
        panel = mover.visible_messages(mover.private)[-1]
        interaction = mover.start_press(mover.private, panel, buttons_of(panel)[0]["custom_id"])
        await until(lambda: interaction.answer == 6)
        gate.set()
        await until(lambda: text_of(mover.visible_messages(mover.private)[-1]) != before)
        # A late error message also arrives.
        gate.clear()
        panel = mover.visible_messages(mover.private)[-1]
        interaction = mover.start_press(mover.private, panel, "1mABCDEFG:1:play 3C")
        await until(lambda: interaction.answer == 6)
        gate.set()
        await until(lambda: bool(mover.private.ephemerals[mover.number]))


def block_private_chat(adapter: ObservedDiscord, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold back all messages to a person's private chat. A press there is soon deferred."""
    adapter.worker.delivery._tools.limiter.block(private_place(f"discord:{person.number}"), 3600.0)
    monkeypatch.setattr("adapters.discord.adapter.DELIVERY_SECONDS", 0.05)


def unblock_private_chat(adapter: ObservedDiscord) -> None:
    """Send the messages that `block_private_chat` held back."""
    adapter.worker.delivery._tools.limiter._blocked.clear()
    adapter.worker.delivery.resume_platform("discord")


async def wait_until_acknowledged(adapter: ObservedDiscord, interaction: Interaction, person: Person) -> None:
    """Wait until a press in the private chat is acknowledged, and the bot knows that it was."""
    await until(
        lambda: interaction.answer == 6 and adapter.answers.has_pending(private_place(f"discord:{person.number}"))
    )


async def test_press_on_a_blocked_panel_is_acknowledged_first(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_discord(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        await adapter.worker.wait_until_idle()
        mover = await wait_for_mover(people)
        panel = mover.visible_messages(mover.private)[-1]
        before = text_of(panel)
        block_private_chat(adapter, mover, monkeypatch)
        server.calls.clear()
        interaction = mover.start_press(mover.private, panel, buttons_of(panel)[0]["custom_id"])
        await wait_until_acknowledged(adapter, interaction, mover)
        assert text_of(panel) == before
        unblock_private_chat(adapter)
        await until(lambda: text_of(panel) != before)
        # The presser's panel is edited with the token, the other player's hand without it.
        await adapter.worker.wait_until_idle()
        assert sorted(name for name, _body in server.calls) == ["answer", "edit", "edit_with_token"]


async def test_bot_edits_the_panel_after_the_press_expires(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_discord(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        await adapter.worker.wait_until_idle()
        mover = await wait_for_mover(people)
        panel = mover.visible_messages(mover.private)[-1]
        before = text_of(panel)
        block_private_chat(adapter, mover, monkeypatch)
        server.fail_next("edit_with_token", Failure(Refused(404, 10015)))
        interaction = mover.start_press(mover.private, panel, buttons_of(panel)[0]["custom_id"])
        await wait_until_acknowledged(adapter, interaction, mover)
        assert text_of(panel) == before
        unblock_private_chat(adapter)
        await until(lambda: text_of(panel) != before)
        await play_to_trick(server, people, 2)


async def test_acknowledged_press_is_shown_after_a_crash(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_discord(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        await adapter.worker.wait_until_idle()
        mover = await wait_for_mover(people)
        panel = mover.visible_messages(mover.private)[-1]
        before = text_of(panel)
        block_private_chat(adapter, mover, monkeypatch)
        interaction = mover.start_press(mover.private, panel, buttons_of(panel)[0]["custom_id"])
        await until(lambda: interaction.answer == 6)
        # As in a crash, pending messages are dropped and nothing more is stored.
        [table] = await adapter.worker.room.lists.tables_of(f"discord:{mover.number}")
        adapter.worker.delivery.drop_shard(keys.shard_of(table.code))
        assert text_of(panel) == before
    async with on_discord(store, server):
        await until(lambda: text_of(panel) != before)
        await play_to_trick(server, people, 2)
        assert len(mover.visible_messages(mover.private)) == 1


async def test_presses_above_the_limit_are_deferred_at_once(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.adapter.MAX_PENDING", 0)
    async with on_discord(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        await play_to_trick(server, people, 1)
        await adapter.worker.wait_until_idle()
        assert {interaction.answer for interaction in server.interactions.values() if interaction.type == 3} == {6}


async def test_press_counts_even_if_its_interaction_is_closed(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        people = await seat_people(server, "metamazzo")
        for refusal in (Refused(400, 40060), Refused(404, 10062)):
            mover = await wait_for_mover(people)
            panel = mover.visible_messages(mover.private)[-1]
            before = text_of(panel)
            server.fail_next("answer", Failure(refusal))
            mover.start_press(mover.private, panel, buttons_of(panel)[0]["custom_id"])
            await until(lambda m=mover, b=before: text_of(m.visible_messages(m.private)[-1]) != b)  # type: ignore[misc]
        await play_to_trick(server, people, 3)


@pytest.mark.usefixtures("real_timeouts")
async def test_press_delivered_twice_counts_once(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        mover = await wait_for_mover(people)
        panel = mover.visible_messages(mover.private)[-1]
        interaction = mover.start_press(mover.private, panel, buttons_of(panel)[0]["custom_id"])
        server.dispatch_interaction(interaction, panel)
        await until(lambda: bool(interaction.answer))
        await adapter.worker.wait_until_idle()
        [table] = await adapter.worker.room.lists.tables_of("discord:1")
        assert table.game
        assert sum(move.startswith("play") for _seat, move in table.game.history(0)) == 1


# Failures


@pytest.mark.parametrize(
    "failure",
    [
        long(Failure(Refused(429, 0, "slow down", retry_after=0.1, **{"global": True}))),
        Failure(Refused(429, 0, "slow down", retry_after=0.1, **{"global": False})),
        long(Failure(Refused(503, 0, "unavailable"))),
        Failure(Refused(500, 0, "oops"), done_first=True),
        long(Failure(hang_up=True)),
        Failure(hang_up=True, done_first=True),
    ],
    ids=["global wait", "wait", "503", "500 after success", "cut off", "cut off after success"],
)
@pytest.mark.usefixtures("real_timeouts")
async def test_transient_failures_lose_and_repeat_nothing(
    store: Store, server: DiscordServer, failure: Failure, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Skip the seconds that the library waits before a retry.
    fast_asyncio = SimpleNamespace(**{**vars(asyncio), "sleep": lambda _seconds: asyncio.sleep(0.01)})
    monkeypatch.setattr("discord.http.asyncio", fast_asyncio)
    async with on_discord(store, server) as adapter:
        for name in ("send", "edit", "answer", "open_private"):
            server.fail_next(name, failure)
        people = await seat_people(server, "metamazzo")
        for name in ("send", "edit", "answer"):
            server.fail_next(name, failure)
        await play_to_trick(server, people, 2)
        await adapter.worker.wait_until_idle()
        # There is one board, and one hand for each player.
        assert len([text for text in texts_in(bar(server)) if "deal 1" in text]) == 1
        assert all(len(person.private.messages) == 1 for person in people)


async def test_rate_limit_buckets_are_respected(store: Store, server: DiscordServer) -> None:
    server.buckets = {"edit": (3, 0.3), "send": (2, 0.3)}
    async with on_discord(store, server) as adapter:
        people = await seat_people(server, "testa")
        await play_to_trick(server, people, 4)
        await adapter.worker.wait_until_idle()
        assert not server.rate_limited
        assert not adapter.budget._refusal_times


async def test_deleted_board_is_sent_again(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        people = await seat_people(server, "metamazzo")
        await play_to_trick(server, people, 1)
        channel = bar(server)
        channel.messages.clear()
        await play_to_trick(server, people, 2)


async def test_deleted_hand_is_sent_again(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        people = await seat_people(server, "metamazzo")
        mover = await wait_for_mover(people)
        other = people[1 - people.index(mover)]
        # Wait for the hand before deleting it.
        await until(lambda: bool(other.private.messages))
        other.private.messages.clear()
        await mover.play(Random(1))
        await until(lambda: bool(other.private.messages))


@pytest.mark.parametrize(
    "cause", mostly_long(["channel deleted", "not visible", "read-only", "bot removed"], "not visible", "bot removed")
)
async def test_game_continues_in_private_if_channel_is_closed(store: Store, server: DiscordServer, cause: str) -> None:
    async with on_discord(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        await adapter.worker.wait_until_idle()
        channel = bar(server)
        if cause == "channel deleted":
            channel.is_deleted = True
        elif cause == "bot removed":
            server.remove_bot(BAR)
        else:
            channel.messages.clear()
            channel.permissions = SEND if cause == "not visible" else VIEW
        random = Random(1)
        for _ in range(12):
            for person in people:
                await person.play(random)
            await adapter.worker.wait_until_idle()
        [table] = await adapter.worker.room.lists.tables_of("discord:1")
        assert table.game
        assert "Tricks" in text_of(people[0].visible_messages(people[0].private)[-1])
        assert not any(tricks_played(text) > 1 for text in texts_in(channel))
        request_count = sum(name in ("edit", "send") for name, _body in server.calls)
        assert len(adapter.budget._refusal_times) <= 2 < request_count
        if cause == "bot removed":
            # Before it is ready, the library cannot tell a new server from a known one.
            await adapter.client.wait_until_ready()
            server.add_bot(BAR)
            await until(lambda: any("Tricks: " in text for text in texts_in(channel)))


async def test_command_names_the_missing_permission(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        anna, channel = Person(server, 1, "Anna"), bar(server)
        channel.permissions = VIEW
        assert "“Send Messages”" in await anna.slash("challenge")
        channel.permissions = 0
        answer = await anna.slash("challenge")
        assert "“View Channel”" in answer
        thread = server.add_channel(CHANNEL + 1, BAR, THREAD, permissions=VIEW | SEND)
        assert "in Threads”" in await anna.slash("challenge", thread)
        assert await anna.slash("leaderboard") == ""
        await until(lambda: any("Leaderboard" in text for text in texts_in(channel)))
        assert not any("players, to" in text for text in texts_in(channel))


async def test_board_reopens_an_archived_thread(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        server.add_server(BAR)
        thread = server.add_channel(CHANNEL + 1, BAR, THREAD)
        await anna.slash("challenge", thread, game="metamazzo")
        await bruno.press("Join", thread)
        await until(lambda: any("deal 1" in text for text in texts_in(thread)))
        thread.archived = True
        random, deadline = Random(1), time.monotonic() + 60.0
        while not any("Tricks: " in text for text in texts_in(thread)):
            assert time.monotonic() < deadline, "no trick was played in the thread within a minute"
            for person in (anna, bruno):
                await person.play(random)
            await asyncio.sleep(0.01)
        assert not thread.archived


async def test_regained_access_refreshes_boards(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_discord(store, server) as adapter:
        refreshed: list[str] = []
        monkeypatch.setattr(adapter.card_room, "refresh_chat", refreshed.append)
        thread = server.add_channel(CHANNEL + 1, BAR, THREAD)
        dispatch = server.gateway.dispatch
        for archived, locked in ((True, True), (False, True), (True, False)):
            thread.archived, thread.locked = archived, locked
            dispatch("THREAD_UPDATE", thread.payload, BAR)
        thread.archived = thread.locked = False
        dispatch("THREAD_UPDATE", thread.payload, BAR)
        await until(lambda: refreshed == [f"discord:{BAR}"])
        role = {"id": "9", "name": "players", "permissions": "0", "position": 1, "hoist": False, "managed": False}
        role |= {"mentionable": False, "color": 0, "colors": {"primary_color": 0}, "flags": 0}
        dispatch("GUILD_ROLE_CREATE", {"guild_id": str(BAR), "role": role}, BAR)
        dispatch("GUILD_ROLE_UPDATE", {"guild_id": str(BAR), "role": {**role, "permissions": str(VIEW | SEND)}}, BAR)
        await until(lambda: len(refreshed) == 2)


async def test_too_many_refusals_pause_requests(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        adapter.budget._limit = 3
        with capture_logs() as logs:
            server.fail_next("edit", *[Failure(Refused(401, 0, "401: Unauthorized"))] * 10)
            await (await wait_for_mover(people)).play(Random(1))
            await until(lambda: len(adapter.budget._refusal_times) == 3)
            await asyncio.sleep(0.3)
        assert len(adapter.budget._refusal_times) == 3
        assert "discord_requests_paused" in [line["event"] for line in logs]
        with pytest.raises(SlowDown) as error:
            adapter.budget.check()
        assert 590 < error.value.seconds < 605


def test_budget_forgets_old_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = RefusalBudget(limit=2)
    now = 1000.0
    monkeypatch.setattr("adapters.discord.limits.time.monotonic", lambda: now)
    budget._refusal_times.extend((now, now))
    with pytest.raises(SlowDown):
        budget.check()
    now += 601
    budget.check()


async def test_private_chat_is_opened_once(store: Store, server: DiscordServer) -> None:
    for _ in range(2):
        async with on_discord(store, server) as adapter:
            people = await seat_people(server, "metamazzo")
            await play_to_trick(server, people, 1)
            await people[0].slash("resign", people[0].private)
            await people[0].press("Yes, I resign")
            await adapter.worker.wait_until_idle()
    assert [name for name, _body in server.calls].count("open_private") == 2


@pytest.mark.parametrize("deletes_old_chats", [False, True])
async def test_new_application_sends_hands_to_new_private_chats(
    store: Store, server: DiscordServer, deletes_old_chats: bool
) -> None:
    async with on_discord(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        await adapter.worker.wait_until_idle()
    server.become_another_application(deletes_old_chats=deletes_old_chats)
    for person in people:
        person.private = server.private(person.number)
    async with on_discord(store, server) as adapter:
        for person in people:
            # /hand sends a new message. Without it, the bot would try to edit the earlier one.
            await person.slash("hand", person.private)
        await play_to_trick(server, people, 1)
        await adapter.worker.wait_until_idle()
    for person in people:
        assert len(person.private.messages) == 1
        assert await store.client.hget("discord:private", str(person.number)) == str(person.private.id).encode()
    assert [name for name, _body in server.calls].count("open_private") == 4


async def test_message_of_another_application_counts_as_deleted(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        await seat_people(server, "metamazzo")
        await adapter.worker.wait_until_idle()
        server.become_another_application(deletes_old_chats=False)
        place = f"discord:{BAR}/{CHANNEL}"
        for message in bar(server).messages:
            await adapter.delete(place, str(message))
        assert [name for name, _body in server.calls].count("delete") == len(bar(server).messages) > 0


async def test_concurrent_sends_open_one_private_chat(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        Person(server, 1, "Anna")
        gate = asyncio.Event()
        server.fail_next("open_private", Failure(gate=gate))
        hello = Panel((Span("Hello"),))
        sending = [asyncio.create_task(adapter.send("discord:@1", hello, key)) for key in ("k", "l")]
        await until(lambda: "open_private" in [name for name, _body in server.calls])
        await adapter.rest.delete(str(CHANNEL), (await adapter.send(f"discord:{BAR}/{CHANNEL}", hello, "m")).message)
        gate.set()
        await asyncio.gather(*sending)
        assert [name for name, _body in server.calls].count("open_private") == 1


async def test_stale_private_chat_is_not_used_again(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        Person(server, 1, "Anna")
        hello = Panel((Span("Hello"),))
        await adapter.send("discord:@1", hello, "k")
        server.become_another_application(deletes_old_chats=True)
        server.calls.clear()
        server.fail_next("open_private", *[Failure(Refused(400, 40003))] * 2)
        for _ in range(2):
            with pytest.raises(SlowDown):
                await adapter.send("discord:@1", hello, "l")
        assert [name for name, _body in server.calls] == ["send", "open_private", "open_private"]


@pytest.mark.parametrize("failure", [Failure(hang_up=True), Failure(body=b"{}")], ids=["cut off", "nonsense"])
async def test_failed_private_chat_means_not_delivered(store: Store, server: DiscordServer, failure: Failure) -> None:
    async with on_discord(store, server) as adapter:
        # The library makes five attempts.
        server.fail_next("open_private", *[failure] * 5)
        with pytest.raises(NotDelivered):
            await adapter.send("discord:@1", Panel((Span("Hello"),)), "k")
        assert "send" not in [name for name, _body in server.calls]


@pytest.mark.parametrize("by_token", [False, True])
async def test_closing_connections_fails_pending_retries(store: Store, server: DiscordServer, by_token: bool) -> None:
    # The library waits for a second before its retry.
    failure = Failure(Refused(502, 0, "Bad Gateway"))
    async with on_discord(store, server) as adapter:
        call: Any
        if by_token:
            token = places.InteractionToken("1", "token1", int(time.time()))
            call = adapter.rest.edit_with_token(token, "1", {"attachments": []})
        else:
            call = adapter.rest.delete(str(CHANNEL), "1")
        server.fail_next("edit_with_token" if by_token else "delete", failure)
        pending_call = asyncio.create_task(call)
        await until(lambda: server.calls[-1][0] in ("edit_with_token", "delete"))
        # Give the call time to reach its retry. On a slow machine it can fail before that, with another error.
        await asyncio.sleep(0.2)
        await adapter._close_connections()
        with pytest.raises((PlatformFailure, *LIBRARY_ERRORS)):
            await pending_call


# Start


async def test_wrong_token_error_does_not_show_the_token(store: Store, server: DiscordServer) -> None:
    from adapters.discord.adapter import Discord  # noqa: PLC0415
    from bot.handlers import Dispatcher  # noqa: PLC0415
    from bot.worker import Worker  # noqa: PLC0415

    worker = Worker(store, Settings(_env_file=None, discord_api_url=server.url))
    adapter = Discord(Dispatcher(worker), "wrong.token.here")
    with pytest.raises(BadSetting, match="Discord does not accept BUONGIOCO_DISCORD_TOKEN") as error:
        await adapter.serve()
    await adapter.close()
    assert "wrong" not in str(error.value)


async def test_bot_starts_while_discord_is_unreachable(store: Store, server: DiscordServer) -> None:
    for name in ("me", "application", "gateway"):
        server.fail_next(name, Failure(hang_up=True))
    async with on_discord(store, server) as adapter:
        assert adapter.healthy
        await seat_people(server, "testa")


async def test_doctor_prints_the_invitation(server: DiscordServer) -> None:
    settings = Settings(_env_file=None, discord_token=SecretStr(TOKEN), discord_api_url=server.url)
    [(is_well, line)] = [finding async for finding in examine(settings)]
    assert is_well
    assert "https://discord.com/oauth2/authorize?client_id=1000&scope=bot+applications.commands" in line
    assert f"permissions={1 << 10 | 1 << 11 | 1 << 15 | 1 << 38}" in line
    server.interactions_url = "https://elsewhere.example.org"
    findings = [finding async for finding in examine(settings)]
    assert [is_well for is_well, _line in findings] == [True, False]
    wrong_token = settings.model_copy(update={"discord_token": SecretStr("wrong")})
    [(is_well, line)] = [finding async for finding in examine(wrong_token)]
    assert (is_well, "does not accept the token" in line) == (False, True)
    unreachable = settings.model_copy(update={"discord_api_url": "http://127.0.0.1:9/api/v10"})
    [(is_well, line)] = [finding async for finding in examine(unreachable)]
    assert (is_well, "does not answer" in line) == (False, True)


@pytest.mark.usefixtures("real_timeouts")
async def test_defer_time_is_within_discords_limit() -> None:
    defer_seconds = adapter_module.DEFER_SECONDS
    assert defer_seconds < 2, "adapters/discord/adapter.py: DEFER_SECONDS leaves too little of Discord's three seconds"
    # A press that is answered just before it is deferred can have a picture to upload.
    assert defer_seconds + interaction_answers.ANSWER_UPLOAD_SECONDS < 2.5, (
        "adapters/discord/interaction_answers.py: ANSWER_UPLOAD_SECONDS leaves too little of Discord's three seconds"
    )


async def test_invented_custom_id_overwrites_no_message(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        anna = Person(server, 1, "Anna")
        channel = server.channels[CHANNEL]
        await anna.slash("challenge", game="testa")
        await until(lambda: anna.button("Join", channel) is not None)
        card, _button = anna.button("Join", channel) or ({}, {})
        before = json.dumps(card)
        for made_up in ("1phelp", "1psettings language it", "1pleaderboard chat all all"):
            assert "has expired" in await anna.send_press(channel, card, made_up)
        await adapter.worker.wait_until_idle()
        assert json.dumps(card) == before
        await anna.slash("leaderboard")
        assert not await anna.press("this month", channel)


async def test_invitation_links_to_the_challenge(store: Store, server: DiscordServer) -> None:
    anna, channel = Person(server, 1, "Anna"), server.channels[CHANNEL]
    async with on_discord(store, server) as adapter:
        await anna.slash("challenge", game="testa")
        await adapter.worker.wait_until_idle()
        [table] = await adapter.worker.room.lists.tables_of("discord:1")
        [card] = channel.messages
        answer = await anna.slash("invite")
        # The link is like Message.jump_url of discord.py.
        assert f"https://discord.com/channels/{BAR}/{CHANNEL}/{card}" in answer
        assert f"/join {table.code}" in answer
        # Other people cannot open a link to a private chat.
        await anna.press("Cancel", channel)
        await anna.slash("challenge", anna.private, game="testa")
        await adapter.worker.wait_until_idle()
        assert "https://" not in await anna.slash("invite")
