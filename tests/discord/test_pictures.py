"""Pictures on Discord. A message shows the picture of its text, or none."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import discord
import pytest

from adapters.discord import interaction_answers, pictures
from bot.delivery import surface_sync, surface_waits
from bot.delivery.message_state import decode_state
from bot.delivery.surface_names import Hand
from bot.panel import Panel, Span
from bot.panel_picture import DECKS, Picture
from bot.parsing.games import targets
from bot.pictures.pool import PicturePool
from bot.pictures.scene import Scene, Side
from bot.platform import MessageGone, NotDelivered, PlatformFailure, SentMessage
from bot.store import Store, keys
from engine import verify
from tests.bot.delivery.test_surface_sync import commit_move, surface_of
from tests.discord.players import (
    ObservedDiscord,
    Person,
    buttons_of,
    on_discord,
    picture_of,
    seat_people,
    text_of,
    until,
)
from tests.discord.server import ATTACH, BAR, CHANNEL, ENOUGH, GROUP, THREAD, Channel, DiscordServer, Failure
from tests.discord.validation import LAYOUT, Refused
from tests.long import long

PLACE = f"discord:{BAR}/{CHANNEL}"


@pytest.fixture(autouse=True)
def _fast_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paint only digests, and shorten pauses."""

    async def paint(pool: PicturePool, panel: Panel) -> Panel:
        if panel.picture is None:
            return panel
        return replace(panel, picture=panel.picture._replace(png=panel.picture.subject.digest.encode()))

    monkeypatch.setattr(PicturePool, "paint_panel", paint)
    monkeypatch.setattr(PicturePool, "warm_up", lambda pool: None)
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(surface_sync, "SETTLE_SECONDS", 0.05)


def record_pictures(adapter: ObservedDiscord) -> set[tuple[str, str]]:
    """Return a set that records the first line and the picture of every panel sent from now on."""
    pairs: set[tuple[str, str]] = set()

    def record(panel: Panel) -> Panel:
        if panel.picture:
            pairs.add((panel.plain.split("\n")[0], f"{panel.picture.subject.digest}.png"))
        return panel

    send, edit = adapter.send, adapter.edit

    async def send_and_record(place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        return await send(place, record(panel), key, silent=silent)

    async def edit_and_record(place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        return await edit(place, sent, record(panel))

    adapter.send, adapter.edit = send_and_record, edit_and_record  # type: ignore[method-assign]
    return pairs


def all_messages(server: DiscordServer) -> Iterator[dict[str, Any]]:
    """Yield all messages, with the ephemeral ones."""
    for channel in server.channels.values():
        for messages in (channel.messages, *channel.ephemerals.values()):
            yield from messages.values()


def check_pictures(server: DiscordServer, pairs: set[tuple[str, str]]) -> None:
    """Check that each picture belongs to its message's text, and was uploaded."""
    for message in all_messages(server):
        if picture := picture_of(message):
            name, alt = picture
            first_line = text_of(message).split("\n")[0]
            assert (first_line, name) in pairs, f"{name} is not the picture of {first_line!r}"
            assert server.files[name] == name.removesuffix(".png").encode()
            assert alt
            assert [*server.attached[int(message["id"])].values()] == [name]
        else:
            assert not server.attached[int(message["id"])]


async def wait_for_mover(adapter: ObservedDiscord, people: list[Person]) -> Person:
    await adapter.worker.wait_until_idle()
    return next(person for person in people if buttons_of(hand(person)))


def hand(person: Person) -> dict[str, Any]:
    return list(person.private.messages.values())[-1]


def board(server: DiscordServer) -> dict[str, Any]:
    return list(server.channels[CHANNEL].messages.values())[-1]


def panel(text: str, line: str) -> Panel:
    """Build a panel with a line of text in its picture."""
    sides = (Side("Anna", "0"), Side("Bruno", "0"))
    scene = Scene(deck=DECKS[0], sides=sides, target="21", line=line)
    return Panel((Span(text),), picture=Picture(scene, f"A picture: {line}", scene.digest.encode()))


# Pages


@pytest.mark.parametrize("is_private", [False, True])
async def test_press_replaces_a_page_and_its_picture(store: Store, server: DiscordServer, is_private: bool) -> None:
    async with on_discord(store, server, pictures=True):
        [anna, _bruno] = await seat_people(server, "testa")
        channel = anna.private if is_private else server.channels[CHANNEL]

        def page(words: str) -> dict[str, Any] | None:
            return next((message for message in anna.visible_messages(channel) if words in text_of(message)), None)

        await anna.slash("rules", channel, about="testa")
        await until(lambda: (message := page("The holder of")) is not None and picture_of(message) is not None)
        first = page("The holder of")
        assert first
        message, picture = first["id"], picture_of(first)
        await anna.press("Metà Mazzo", channel)
        await until(lambda: (message := page("With the stock gone")) is not None and picture_of(message) is not None)
        second = page("With the stock gone")
        assert second
        assert second["id"] == message
        assert picture_of(second) != picture
        await anna.press("Common rules", channel)
        await until(lambda: page("There are no trumps") is not None)
        third = page("There are no trumps")
        assert third
        assert third["id"] == message
        assert picture_of(third) is None


async def test_late_picture_does_not_overwrite_a_newer_page(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        [anna, _bruno] = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        gate = asyncio.Event()
        uploads, server.upload_failure = server.uploads, Failure(gate=gate)
        anna.start_command("rules", anna.private, about="testa")
        await until(lambda: server.uploads > uploads)
        server.upload_failure = None
        page = list(anna.private.messages.values())[-1]
        assert "The holder of" in text_of(page), "the text must be shown before its picture is uploaded"
        [payload] = [button["custom_id"] for button in buttons_of(page) if button["label"] == "Metà Mazzo"]
        press = anna.start_press(anna.private, page, payload)
        # The upload ends only when the bot is about to show the other page.
        await until(lambda: adapter._pages._locks[page["id"]].latest == press.id)
        gate.set()
        await until(lambda: not len(adapter.answers))
        [page] = [message for message in anna.private.messages.values() if message["id"] == page["id"]]
        assert "With the stock gone" in text_of(page)
        assert picture_of(page)


async def test_ephemeral_page_has_its_picture(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        people = await seat_people(server, "testa", min(targets("testa")))
        random = Random(3)
        for _ in range(3000):
            if any(" beat" in text_of(message) for message in server.channels[CHANNEL].messages.values()):
                break
            for person in people:
                await person.play(random)
            await adapter.worker.wait_until_idle()
        game = await anext(adapter.worker.archive.games())
        # Store an analysis that found nothing.
        await store.client.set(keys.analysis(game.id), "[]")
        ephemerals = server.channels[CHANNEL].ephemerals[people[0].number]
        await people[0].press("Analysis", server.channels[CHANNEL])
        await until(
            lambda: any("Analysis of" in text_of(message) and picture_of(message) for message in ephemerals.values())
        )


# Games


@pytest.mark.long
@pytest.mark.parametrize("game", ["metamazzo", long("tavolo"), long("spades"), long("testa")])
async def test_whole_game_shows_the_picture_of_each_text(store: Store, server: DiscordServer, game: str) -> None:
    random, channel = Random(game), server.channels[CHANNEL]
    async with on_discord(store, server, pictures=True) as adapter:
        pairs = record_pictures(adapter)
        people = await seat_people(server, game, min(targets(game)))
        for _ in range(3000):
            if any(" beat" in text_of(message) for message in channel.messages.values()):
                break
            for person in people:
                await person.play(random)
                check_pictures(server, pairs)
            await adapter.worker.wait_until_idle()
            check_pictures(server, pairs)
            assert all(picture_of(hand(person)) for person in people if buttons_of(hand(person)))
        [finished] = [game async for game in adapter.worker.archive.games()]
        verify(finished.record)
        [place] = finished.chats
        assert (await adapter.worker.people.chat(f"{place}/{CHANNEL}")).name == "Circolo"
        assert server.uploads > 20


async def test_press_is_answered_with_panel_and_picture(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        people = await seat_people(server, "metamazzo")
        mover = await wait_for_mover(adapter, people)
        before = [picture_of(hand(person)) for person in people]
        server.calls.clear()
        await mover.play(Random(1))
        await adapter.worker.wait_until_idle()
        # The answer shows the presser's hand. The other player's hand and the board are edited.
        assert sorted(name for name, _body in server.calls) == ["answer", "edit", "edit"]
        after = [picture_of(hand(person)) for person in people]
        assert None not in after
        assert not set(before) & set(after)
        assert picture_of(board(server))


async def test_thread_shows_pictures(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        thread = server.add_channel(700, BAR, kind=THREAD)
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        await anna.slash("challenge", thread, game="metamazzo")
        await bruno.press("Join", thread)
        await adapter.worker.wait_until_idle()
        assert any(map(picture_of, thread.messages.values()))


@pytest.mark.parametrize("where", ["the bot's channel", "a group chat"])
async def test_ephemeral_hands_have_pictures(store: Store, server: DiscordServer, where: str) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        pairs = record_pictures(adapter)
        channel: Channel = server.channels[CHANNEL]
        if where == "a group chat":
            channel = server.add_channel(300, kind=GROUP, users=(1, 2))
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        bruno.private.is_closed = True
        await anna.slash("challenge", channel, game="metamazzo")
        await bruno.press("Join", channel)
        await bruno.press("My hand", channel)
        await until(lambda: any(map(picture_of, channel.ephemerals[2].values())))
        [message] = channel.ephemerals[2].values()
        random, pictures_seen = Random(1), {picture_of(message)}
        for _ in range(4):
            await anna.play(random)
            await bruno.play(random, channel)
            await adapter.worker.wait_until_idle()
            check_pictures(server, pairs)
            pictures_seen.add(picture_of(message))
        assert len(pictures_seen) > 3
        assert None not in pictures_seen
        assert any(map(picture_of, channel.messages.values()))
        assert len(channel.ephemerals[2]) == 1


# The fake server


@pytest.mark.parametrize(
    ("attachments", "names", "flags", "error"),
    [
        ([{"id": "77777777"}], [], LAYOUT, "unknown"),
        ([{"id": "0", "filename": "a.png"}], ["a.png"], LAYOUT, "do not match the uploaded files"),
        ([], ["a.png"], LAYOUT, "NOT_FOUND"),
        ([], [], 0, "flag"),
    ],
)
async def test_fake_server_refuses_invalid_attachments(
    store: Store, server: DiscordServer, attachments: list[Any], names: list[str], flags: int, error: str
) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        sent = await adapter.send(PLACE, panel("one", "same"), "k")
        items = [{"media": {"url": f"attachment://{name}"}, "description": "x"} for name in names]
        components: list[Any] = [{"type": 10, "content": "two"}, *([{"type": 12, "items": items}] if items else [])]
        body = {"flags": flags, "components": components, "attachments": attachments}
        with pytest.raises(discord.HTTPException, match=error):
            await adapter.messages._rest.edit(str(CHANNEL), sent.message, body)
        assert text_of(board(server)) == "one"
        assert picture_of(board(server))


# Uploads


async def test_unchanged_picture_is_not_uploaded_again(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        sent = await adapter.send(PLACE, panel("one", "same"), "k")
        [attached] = server.attached[int(sent.message)]
        sent = await adapter.edit(PLACE, sent, panel("two", "same"))
        assert text_of(board(server)) == "two"
        assert [*server.attached[int(sent.message)]] == [attached]
        assert server.uploads == 1
        sent = await adapter.edit(PLACE, sent, panel("three", "other"))
        assert [*server.attached[int(sent.message)]] != [attached]
        assert picture_of(board(server)) == (f"{panel('', 'other').picture.subject.digest}.png", "A picture: other")  # type: ignore[union-attr]
        sent = await adapter.edit(PLACE, sent, Panel((Span("four"),)))
        assert picture_of(board(server)) is None
        assert not server.attached[int(sent.message)]
        sent = await adapter.edit(PLACE, sent, panel("five", "other"))
        assert picture_of(board(server))
        assert server.uploads == 3


async def test_shown_picture_is_stored_for_the_next_bot(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        people = await seat_people(server, "metamazzo")
        mover = await wait_for_mover(adapter, people)
        await mover.play(Random(1))
        await adapter.worker.wait_until_idle()
        [table] = await adapter.worker.room.lists.tables_of("discord:1")
    stored_states = await store.load_shown(table.code)
    for seat, person in enumerate(people):
        name = picture_of(hand(person))
        [attached] = server.attached[int(hand(person)["id"])]
        state = decode_state(stored_states[f"h{seat}"])
        assert name
        assert state.message == hand(person)["id"]
        assert state.picture == f"{attached}/{name[0]}"


async def test_missing_attachment_is_uploaded_again(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        sent = await adapter.send(PLACE, panel("one", "same"), "k")
        # Another worker has changed the message.
        server.attached[int(sent.message)] = {"77777777": "other.png"}
        sent = await adapter.edit(PLACE, sent, panel("two", "same"))
        assert server.uploads == 2
        assert picture_of(board(server))


WITH_TABS = b'{"id": 7, "components": [{"items": [{"media": {"url": "a/b\\tc.png", "attachment_id": "1\\t2"}}]}]}'


@pytest.mark.parametrize(
    "body", [b"[]", b"{}", b'{"id": 7, "components": [{"items": 3}, 4, {"components": "x"}]}', WITH_TABS]
)
async def test_answer_without_a_picture_is_not_an_error(store: Store, server: DiscordServer, body: bytes) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        sent = await adapter.send(PLACE, panel("one", "first"), "k")
        server.fail_next("edit", Failure(body=body, done_first=True))
        sent = await adapter.edit(PLACE, sent, panel("two", "second"))
        assert sent.picture == ""
        sent = await adapter.edit(PLACE, sent, panel("three", "second"))
        assert server.uploads == 3
        assert text_of(board(server)) == "three"


# Refused and late pictures


async def test_picture_waits_for_the_attach_permission(store: Store, server: DiscordServer) -> None:
    channel = server.channels[CHANNEL]
    channel.permissions = ENOUGH & ~ATTACH
    async with on_discord(store, server, pictures=True) as adapter:
        people = await seat_people(server, "metamazzo")
        mover = await wait_for_mover(adapter, people)
        assert picture_of(hand(mover))
        assert text_of(board(server))
        assert picture_of(board(server)) is None
        # The command contained the bot's permissions, so no request was refused.
        assert not adapter.budget._refusal_times
        channel.permissions = ENOUGH
        await people[0].slash("rules")
        await mover.play(Random(1))
        await adapter.worker.wait_until_idle()
        assert any(map(picture_of, channel.messages.values()))


@pytest.mark.parametrize("refusal", [Refused(403, 50013), Refused(413, 40005), Refused(413, 0), Refused(400, 50035)])
async def test_refused_picture_is_left_out_in_that_channel(
    store: Store, server: DiscordServer, refusal: Refused
) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        server.upload_failure = Failure(refusal)
        sent = await adapter.send(PLACE, panel("one", "first"), "k")
        assert text_of(board(server)) == "one"
        assert picture_of(board(server)) is None
        sent = await adapter.edit(PLACE, sent, panel("two", "second"))
        assert text_of(board(server)) == "two"
        assert server.uploads == 1
        # Other channels still get pictures.
        server.upload_failure = None
        server.add_channel(600, BAR)
        await adapter.send(f"discord:{BAR}/600", panel("one", "first"), "l")
        assert server.uploads == 2
        # Pictures return with the permission, if its lack was the reason.
        adapter.pictures.set_permission(PLACE, True)
        sent = await adapter.edit(PLACE, sent, panel("three", "second"))
        picture = picture_of(server.channels[CHANNEL].messages[int(sent.message)])
        assert (picture is not None) == (refusal.body["code"] == 50013)


async def test_press_with_a_refused_picture_shows_its_text(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        mover = await wait_for_mover(adapter, await seat_people(server, "metamazzo"))
        before = text_of(hand(mover))
        server.upload_failure = Failure(Refused(413, 40005))
        interaction = mover.start_press(mover.private, hand(mover), buttons_of(hand(mover))[0]["custom_id"])
        await adapter.worker.wait_until_idle()
        await until(lambda: text_of(hand(mover)) != before)
        assert picture_of(hand(mover)) is None
        assert interaction.answer
        assert not mover.private.ephemerals[mover.number]


@pytest.mark.parametrize(
    "failure", [Failure(silent=True), Failure(hang_up=True), Failure(Refused(503, 0)), Failure(Refused(500, 0))]
)
async def test_late_picture_is_left_out_until_the_next_change(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch, failure: Failure
) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        sent = await adapter.send(PLACE, panel("one", "first"), "k")
        assert picture_of(board(server))
        server.upload_failure = failure
        monkeypatch.setattr(pictures, "UPLOAD_SECONDS", 0.3)
        sent = await adapter.edit(PLACE, sent, panel("two", "second"))
        assert text_of(board(server)) == "two"
        assert picture_of(board(server)) is None, "an older picture must not stay with a newer text"
        server.upload_failure = None
        monkeypatch.setattr(pictures, "UPLOAD_SECONDS", 20.0)
        sent = await adapter.edit(PLACE, sent, panel("three", "third"))
        assert picture_of(board(server))


@pytest.mark.long
async def test_timed_out_upload_does_not_hide_newer_hands(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surface_sync, "SETTLE_SECONDS", 5.0)
    async with on_discord(store, server, pictures=True) as adapter:
        people = await seat_people(server, "metamazzo")
        await adapter.worker.wait_until_idle()
        [table] = await adapter.worker.room.lists.tables_of("discord:1")
        before = [text_of(hand(person)) for person in people]
        monkeypatch.setattr(pictures, "UPLOAD_SECONDS", 0.2)
        server.upload_failure = Failure(after=3.0)
        await commit_move(adapter.worker, table.code)
        await until(lambda: all(text_of(hand(person)) != text for person, text in zip(people, before, strict=True)))
        server.upload_failure = None
        monkeypatch.setattr(pictures, "UPLOAD_SECONDS", 20.0)
        # Play two more cards while the pictures of the first are uploading.
        for _ in range(2):
            await commit_move(adapter.worker, table.code)
        await adapter.worker.wait_until_idle()
        await asyncio.sleep(3.0)
        await adapter.worker.wait_until_idle()
        [table] = await adapter.worker.room.lists.tables_of("discord:1")
        delivery = adapter.worker.delivery
        sync = delivery._tables[table.code]
        for seat, person in enumerate(people):
            surface = sync.get(Hand(seat))
            assert surface
            picture = (await delivery._tools.drawer.draw(sync, table, surface)).picture
            assert picture
            assert picture_of(hand(person)) == (f"{picture.subject.digest}.png", picture.alt)


@pytest.mark.parametrize("text_is_refused", [False, True])
async def test_late_picture_on_an_ephemeral_hand_is_replaced(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch, text_is_refused: bool
) -> None:
    monkeypatch.setattr(surface_sync, "SETTLE_SECONDS", 3600.0)
    async with on_discord(store, server, pictures=True) as adapter:
        [_anna, bruno] = await seat_people(server, "metamazzo")
        await adapter.worker.wait_until_idle()
        channel, gate = server.channels[CHANNEL], asyncio.Event()
        [table] = await adapter.worker.room.lists.tables_of("discord:2")
        surface = surface_of(adapter.worker, table.code, Hand(1))
        monkeypatch.setattr(pictures, "UPLOAD_SECONDS", 0.3)
        server.fail_next("edit_with_token", Failure(gate=gate), *[Failure(Refused(403, 50013))] * text_is_refused)
        await bruno.slash("hand")
        await until(lambda: bool(surface.message_state.ephemeral and surface.message_state.message))
        [message] = channel.ephemerals[2].values()
        assert picture_of(message) is None
        monkeypatch.setattr(pictures, "UPLOAD_SECONDS", 20.0)
        await commit_move(adapter.worker, table.code)
        await until(lambda: picture_of(message) is not None)
        newest = picture_of(message)
        gate.set()
        await until(lambda: picture_of(message) != newest)
        # Check the hand now instead of after an hour.
        surface.wake()
        await until(lambda: picture_of(message) == newest)


async def test_new_message_is_settled_after_a_timed_out_upload(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "UPLOAD_SECONDS", 0.3)
    async with on_discord(store, server, pictures=True) as adapter:
        server.upload_failure = Failure(silent=True)
        assert (await adapter.send(PLACE, panel("one", "first"), "k")).is_settled


async def test_upload_can_arrive_late_despite_a_refused_text(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        sent = await adapter.send(PLACE, panel("one", "first"), "k")
        monkeypatch.setattr(pictures, "UPLOAD_SECONDS", 0.3)
        slow_down = Refused(429, 0, "You are being rate limited.", retry_after=3600.0, **{"global": False})
        server.fail_next("edit", Failure(silent=True), Failure(slow_down))
        with pytest.raises(PlatformFailure) as error:
            await adapter.edit(PLACE, sent, panel("two", "second"))
        assert not isinstance(error.value, NotDelivered)


async def test_late_pictures_stop_uploads_in_the_channel(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "UPLOAD_SECONDS", 1.0)
    async with on_discord(store, server, pictures=True) as adapter:
        server.upload_failure = Failure(silent=True)
        sent = await adapter.send(PLACE, panel("0", "first"), "k")
        for number in range(1, 5):
            sent = await adapter.edit(PLACE, sent, panel(str(number), f"line {number}"))
            assert text_of(board(server)) == str(number)
        assert server.uploads == pictures.MAX_LATE_UPLOADS


async def test_upload_cut_off_after_arrival_sends_one_message(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        server.upload_failure = Failure(hang_up=True, done_first=True)
        sent = await adapter.send(PLACE, panel("one", "first"), "k")
        assert [*server.channels[CHANNEL].messages] == [int(sent.message)]
        assert picture_of(board(server))
        assert server.uploads == 1


async def test_unrelated_error_is_not_retried_without_a_picture(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        server.channels[CHANNEL].is_deleted = True
        with pytest.raises(Exception, match="404, code 10003"):
            await adapter.send(PLACE, panel("one", "first"), "k")
        assert server.uploads == 1


@pytest.mark.long
async def test_rate_limit_wait_does_not_make_a_picture_late(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.buckets["edit"] = (1, 2.5)
    async with on_discord(store, server, pictures=True) as adapter:
        sent = await adapter.send(PLACE, panel("0", "first"), "k")
        sent = await adapter.edit(PLACE, sent, panel("1", "line 1"))
        assert picture_of(board(server))
        # A timeout that starts before the wait for the rate limit gets one second, a later one gets twenty.
        monkeypatch.setattr(pictures, "UPLOAD_SECONDS", 1.0)
        editing = asyncio.create_task(adapter.edit(PLACE, sent, panel("2", "line 2")))
        await asyncio.sleep(0.1)
        monkeypatch.setattr(pictures, "UPLOAD_SECONDS", 20.0)
        await editing
        assert text_of(board(server)) == "2"
        assert picture_of(board(server))
        assert server.uploads == 3


async def test_reopening_a_private_chat_makes_no_picture_late(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        Person(server, 1, "Anna")
        sent = await adapter.send("discord:@1", panel("one", "first"), "k")
        server.become_another_application(deletes_old_chats=True)
        monkeypatch.setattr(pictures, "UPLOAD_SECONDS", 1.0)
        server.fail_next("open_private", Failure(after=2.0))
        server.calls.clear()
        with pytest.raises(MessageGone):
            await adapter.edit("discord:@1", sent, panel("two", "second"))
        assert [name for name, _body in server.calls] == ["edit", "open_private", "edit"]


async def test_slow_uploads_count_per_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    uploads, other = pictures.Pictures(), f"discord:{BAR}/{CHANNEL + 1}"

    async def deliver(_body: object, upload: pictures.Upload | None) -> SentMessage:
        assert upload
        assert upload.stopwatch
        upload.stopwatch.start()
        upload.stopwatch.stop()
        return SentMessage("7")

    for place, seconds in ((PLACE, -1.0), (other, 20.0)):
        monkeypatch.setattr(pictures, "SLOW_SECONDS", seconds)
        await uploads.show(panel("one", "first"), place, SentMessage(""), deliver)
    assert uploads.are_slow(PLACE)
    assert not uploads.are_slow(other)


# Answers within three seconds


@pytest.mark.parametrize("done_first", [False, True])
async def test_press_with_a_cut_off_upload_is_answered(store: Store, server: DiscordServer, done_first: bool) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        mover = await wait_for_mover(adapter, await seat_people(server, "metamazzo"))
        before = text_of(hand(mover))
        server.fail_next("answer", Failure(Refused(500, 0), hang_up=True, done_first=done_first))
        interaction = mover.start_press(mover.private, hand(mover), buttons_of(hand(mover))[0]["custom_id"])
        await until(lambda: bool(interaction.answer) and text_of(hand(mover)) != before)
        await adapter.worker.wait_until_idle()
        assert interaction.answer == (interaction_answers.EDIT if done_first else interaction_answers.DEFER_EDIT)
        assert text_of(hand(mover)) != before


async def test_press_with_a_hanging_upload_still_shows_its_text(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        mover = await wait_for_mover(adapter, await seat_people(server, "metamazzo"))
        before = text_of(hand(mover))
        monkeypatch.setattr(interaction_answers, "ANSWER_UPLOAD_SECONDS", 0.2)
        server.upload_failure = Failure(silent=True)
        interaction = mover.start_press(mover.private, hand(mover), buttons_of(hand(mover))[0]["custom_id"])
        # The upload never ends.
        await until(lambda: interaction.answer == interaction_answers.DEFER_EDIT)
        await until(lambda: text_of(hand(mover)) != before)
        assert picture_of(hand(mover)) is None
        server.upload_failure = None


async def test_press_is_acknowledged_first_while_uploads_are_slow(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "SLOW_SECONDS", 0.2)
    async with on_discord(store, server, pictures=True) as adapter:
        people = await seat_people(server, "metamazzo")
        await adapter.worker.wait_until_idle()
        server.upload_failure = Failure(after=0.4)
        kinds = []
        for _ in range(3):
            mover = await wait_for_mover(adapter, people)
            before = picture_of(hand(mover))
            interaction = mover.start_press(mover.private, hand(mover), buttons_of(hand(mover))[0]["custom_id"])
            await until(lambda before=before, mover=mover: picture_of(hand(mover)) not in (None, before))  # type: ignore[misc]
            kinds.append(interaction.answer)
        assert kinds[1:] == [6, 6]
        server.upload_failure = None
        monkeypatch.setattr(pictures, "SLOW_SECONDS", 20.0)
        await (await wait_for_mover(adapter, people)).play(Random(1))
        await adapter.worker.wait_until_idle()
        mover = await wait_for_mover(adapter, people)
        interaction = mover.start_press(mover.private, hand(mover), buttons_of(hand(mover))[0]["custom_id"])
        await until(lambda: interaction.answer == 7)


# Restarts


async def test_bot_killed_during_an_upload_recovers(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server, pictures=True) as adapter:
        people = await seat_people(server, "metamazzo")
        mover = await wait_for_mover(adapter, people)
        before = text_of(hand(mover))
        server.upload_failure = Failure(silent=True)
        uploads = server.uploads
        mover.start_press(mover.private, hand(mover), buttons_of(hand(mover))[0]["custom_id"])
        await until(lambda: server.uploads > uploads)
        # As in a crash, uploads are dropped and nothing more is stored.
        [table] = await adapter.worker.room.lists.tables_of(f"discord:{mover.number}")
        adapter.worker.delivery.drop_shard(keys.shard_of(table.code))
        await asyncio.sleep(0)
        assert text_of(hand(mover)) == before
        assert picture_of(hand(mover))
    server.upload_failure = None
    async with on_discord(store, server, pictures=True) as adapter:
        pairs = record_pictures(adapter)
        await until(lambda: text_of(hand(mover)) != before)
        random = Random(1)
        for _ in range(3):
            for person in people:
                await person.play(random)
                await adapter.worker.wait_until_idle()
        check_pictures(server, pairs)
        assert all(len(person.private.messages) == 1 and picture_of(hand(person)) for person in people)


async def test_games_from_before_pictures_get_pictures(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        people = await seat_people(server, "metamazzo")
    assert not any(map(picture_of, all_messages(server)))
    async with on_discord(store, server, pictures=True) as adapter:
        mover = await wait_for_mover(adapter, people)
        await mover.play(Random(1))
        await adapter.worker.wait_until_idle()
        assert all(len(person.private.messages) == 1 and picture_of(hand(person)) for person in people)
