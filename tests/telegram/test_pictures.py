"""Pictures on Telegram. Each text has its own picture, and never waits for it."""

import asyncio
import json
import struct
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.telegram import messages, photos
from adapters.telegram.limits import LONGEST_CAPTION
from adapters.telegram.messages import Messages
from adapters.telegram.mini_app import TelegramApp
from adapters.telegram.photos import KnownFiles
from adapters.telegram.rich.messages import RichMessages
from adapters.telegram.widget.kept_states import KeptStates
from adapters.telegram.widget.messages import Widgets
from bot.delivery import surface_sync, surface_waits
from bot.panel import Button, Panel, Span
from bot.panel_picture import Deck, Picture
from bot.pictures import pool
from bot.pictures.pool import PicturePool
from bot.pictures.results import deal_sheet
from bot.pictures.scene import Scene, Side
from bot.platform import (
    ChatGone,
    MessageGone,
    NoPicture,
    NotDelivered,
    NotEditable,
    PlatformFailure,
    Press,
    SentMessage,
    SlowDown,
    Unreachable,
)
from bot.platform import Person as PlatformPerson
from bot.store import Store, keys
from bot.tables.snapshot import isolate_name
from engine import GAMES, verify
from tests.bot.fake_platform import NAMES
from tests.bot.worker.test_games import shortest_target
from tests.long import mostly_long
from tests.telegram import server as server_module
from tests.telegram.content import PNG, Refused, payloads_of, text_of
from tests.telegram.players import GROUP, ObservedTelegram, Person, on_telegram, seat_people, until
from tests.telegram.server import BOT, Failure, TelegramServer
from tests.telegram.test_ephemeral import hands, play_from_group_hand, start_without_private_chat

PLACE = f"telegram:{GROUP}"


@pytest.fixture(autouse=True)
def _test_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(surface_sync, "SETTLE_SECONDS", 0.05)
    # A busy machine can need longer than the real timeout.
    monkeypatch.setattr(photos, "UPLOAD_SECONDS", 30.0)


def png(words: bytes = b"", width: int = 720, height: int = 640) -> bytes:
    """Return the header of a PNG, which the server checks, followed by ``words``."""
    return PNG + struct.pack(">I4sII", 13, b"IHDR", width, height) + words


def make_scene(line: str = "") -> Scene:
    return Scene(deck=Deck("italian", "classic"), sides=(Side("Anna", "0"), Side("Bruno", "0")), target="", line=line)


def picture_panel(
    text: str = "Your turn.", line: str = "", *, content: bytes = png(), is_lasting: bool = False
) -> Panel:
    picture = Picture(make_scene(line), "A picture.", content, is_lasting)
    return Panel((Span(text, "bold"),), ((Button("3D", "1m:play 3D"),),), picture)


def text_panel(words: str = "Your turn.") -> Panel:
    return replace(picture_panel(words), picture=None)


@pytest.fixture
def painted_texts(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """Paint only digests. Return the texts sent with each picture, by digest."""
    texts: dict[str, set[str]] = defaultdict(set)

    async def paint(pool: PicturePool, panel: Panel) -> Panel:
        if panel.picture is None:
            return panel
        digest = panel.picture.subject.digest
        caption = panel.beside_picture
        assert caption.fold is None or not caption.text[caption.fold].text.startswith("\n"), (
            "the fold must not begin with an empty line"
        )
        texts[digest].add(caption.plain)
        return replace(panel, picture=panel.picture._replace(png=png(digest.encode())))

    monkeypatch.setattr(PicturePool, "paint_panel", paint)
    monkeypatch.setattr(PicturePool, "warm_up", lambda pool: None)
    return texts


@pytest.fixture
async def adapter(store: Store, server: TelegramServer) -> AsyncIterator[ObservedTelegram]:
    server.group(GROUP)
    async with on_telegram(store, server, pictures=True) as telegram:
        await until(lambda: telegram.healthy)
        yield telegram


def picture_digest(server: TelegramServer, message: dict[str, Any]) -> str:
    return server.photos.files[message["photo"][-1]["file_id"]].removeprefix(png()).decode()


def bot_messages(messages: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    return [message for message in messages.values() if message["from"] == BOT]


def called_methods(server: TelegramServer) -> list[str]:
    """Return the called methods without those called at every start."""
    return [method for method, _fields in server.calls if method not in ("getUpdates", "getMe") and "set" not in method]


def only_message(server: TelegramServer) -> dict[str, Any]:
    [message] = server.group(GROUP).messages.values()
    return message


# One message and one state


@pytest.mark.long
@pytest.mark.parametrize("game", mostly_long(GAMES, "testa"))
async def test_whole_game_shows_the_picture_of_each_text(
    store: Store, server: TelegramServer, painted_texts: dict[str, set[str]], game: str
) -> None:
    random = Random(game)
    async with on_telegram(store, server, pictures=True) as adapter:
        people = await seat_people(server, game, *shortest_target(game))
        group = server.group(GROUP)
        for _ in range(3000):
            if any(" beat" in text_of(message) for message in group.messages.values()):
                break
            for person in people:
                await person.play(random)
            await adapter.worker.wait_until_idle()
            with_photo = [
                message for chat in server.chats.values() for message in chat.messages.values() if "photo" in message
            ]
            assert with_photo
            for message in with_photo:
                assert message["caption"] in painted_texts[picture_digest(server, message)]
        [finished] = [game async for game in adapter.worker.archive.games()]
        verify(finished.record)
        for person in people:
            [hand] = bot_messages(person.private.messages)
            assert "You " in hand["caption"]
        names = [isolate_name(name) for name in finished.record.seats]
        first = deal_sheet(finished.record, 1, finished.code, names, "en", group=group.as_json["title"])
        assert first.digest in {
            picture_digest(server, message) for message in group.messages.values() if "photo" in message
        }
        assert "there is no text in the message" not in str(server.calls)


async def test_real_painter_draws_pictures(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine the painter takes long to start.
    monkeypatch.setattr(pool, "MAX_WAIT_SECONDS", 30.0)
    async with on_telegram(store, server, pictures=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        [hand] = bot_messages(people[0].private.messages)
        assert hand["photo"][-1]["width"] == 720
        assert "deal 1" in hand["caption"]


async def test_photo_has_the_text_style_and_buttons_of_its_panel(
    adapter: ObservedTelegram, server: TelegramServer
) -> None:
    sent = await adapter.send(PLACE, picture_panel(), "key")
    message = only_message(server)
    assert sent == SentMessage(str(message["message_id"]), make_scene().digest)
    assert message["caption"] == "Your turn."
    assert message["caption_entities"] == [{"type": "bold", "offset": 0, "length": 10}]
    assert message["reply_markup"]["inline_keyboard"] == [[{"text": "3D", "callback_data": "1m:play 3D"}]]


async def test_picture_and_text_change_in_one_call(adapter: ObservedTelegram, server: TelegramServer) -> None:
    sent = await adapter.send(PLACE, picture_panel(), "key")
    new = png(b"new")
    assert (await adapter.edit(PLACE, sent, picture_panel("Bruno's turn.", "new", content=new))).picture == make_scene(
        "new"
    ).digest
    assert called_methods(server) == ["sendPhoto", "editMessageMedia"]
    assert server.photos.files[only_message(server)["photo"][-1]["file_id"]] == new
    assert only_message(server)["caption"] == "Bruno's turn."
    assert only_message(server)["reply_markup"]


async def test_picture_certainly_shown_is_not_uploaded_again(adapter: ObservedTelegram, server: TelegramServer) -> None:
    sent = await adapter.send(PLACE, picture_panel(), "key")
    assert await adapter.edit(PLACE, sent, picture_panel("Wait.")) == sent
    assert called_methods(server) == ["sendPhoto", "editMessageCaption"]
    assert only_message(server)["caption"] == "Wait."
    assert server.photos.uploads == 1
    await adapter.edit(PLACE, sent._replace(is_certain=False), picture_panel("Go on."))
    assert called_methods(server)[-1] == "editMessageMedia"
    assert server.photos.uploads == 2


async def test_edit_without_changes_succeeds(adapter: ObservedTelegram, server: TelegramServer) -> None:
    sent = await adapter.send(PLACE, picture_panel(), "key")
    assert await adapter.edit(PLACE, sent, picture_panel()) == sent


async def test_photo_cannot_become_a_text(adapter: ObservedTelegram, server: TelegramServer) -> None:
    photo = await adapter.send(PLACE, picture_panel(), "one")
    with pytest.raises(NotEditable):
        await adapter.edit(PLACE, photo, text_panel())
    assert len(called_methods(server)) == 1


async def test_text_can_become_a_photo(adapter: ObservedTelegram, server: TelegramServer) -> None:
    text = await adapter.send(PLACE, text_panel(), "key")
    assert not text.picture
    photo = await adapter.edit(PLACE, text, picture_panel("Over."))
    assert photo.message == text.message
    assert photo.picture
    assert only_message(server)["caption"] == "Over."
    assert "text" not in only_message(server)


async def test_text_whose_photo_is_late_is_not_edited_again(
    adapter: ObservedTelegram, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Telegram can apply the change after all later ones."""
    monkeypatch.setattr(photos, "UPLOAD_SECONDS", 0.1)
    text = await adapter.send(PLACE, text_panel(), "key")
    server.fail_next("editMessageMedia", Failure(silent=True))
    with pytest.raises(NotEditable):
        await adapter.edit(PLACE, text, picture_panel("Over."))


async def test_lost_answer_to_a_change_into_a_photo_can_be_retried(
    adapter: ObservedTelegram, server: TelegramServer
) -> None:
    photo_panel = picture_panel("Over.", is_lasting=True)
    await adapter.send(PLACE, photo_panel, "one")
    text = await adapter.send(PLACE, text_panel(), "two")
    server.fail_next("editMessageMedia", Failure(hang_up=True, done_first=True))
    with pytest.raises(PlatformFailure):
        await adapter.edit(PLACE, text, photo_panel)
    assert (await adapter.edit(PLACE, text._replace(is_certain=False), photo_panel)).picture


async def test_photo_arriving_at_shutdown_is_deleted_at_start(
    store: Store, server: TelegramServer, painted_texts: dict[str, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(photos, "UPLOAD_SECONDS", 0.1)
    monkeypatch.setattr("bot.worker.SHUTDOWN_SECONDS", 30.0)
    gate = asyncio.Event()
    async with asyncio.TaskGroup() as tasks, on_telegram(store, server, pictures=True) as adapter:
        people = [Person(server, number, name) for number, name in enumerate(NAMES[:2], 1)]
        people[0].say("/challenge testa")
        await until(lambda: people[0].button("Join", server.group(GROUP)) is not None)
        # All photos wait, so that none is mistaken for another.
        server.fail_next("sendPhoto", *[Failure(gate=gate)] * 10)
        await people[1].press("Join", server.group(GROUP))
        await until(
            lambda: all(
                ["text" in message for message in bot_messages(person.private.messages)] == [True] for person in people
            )
        )

        async def open_gate() -> None:
            # A bot that is not stopping would delete the arriving photo.
            await until(lambda: adapter.worker.delivery._tools.stopping)
            gate.set()

        tasks.create_task(open_gate())
    assert [len(bot_messages(person.private.messages)) for person in people] == [2, 2]
    monkeypatch.setattr(photos, "UPLOAD_SECONDS", 30.0)
    async with on_telegram(store, server, pictures=True) as adapter:
        await until(lambda: adapter.healthy)
        await adapter.worker.wait_until_idle()
        assert [len(bot_messages(person.private.messages)) for person in people] == [1, 1]


async def test_replacement_message_can_be_silent(adapter: ObservedTelegram, server: TelegramServer) -> None:
    for panel in (picture_panel(), text_panel()):
        await adapter.send(PLACE, panel, "one")
        await adapter.send(PLACE, panel, "two", silent=True)
    silences = [fields.get("disable_notification") for method, fields in server.calls if method.startswith("send")]
    assert silences == [None, True, None, True]


async def test_photo_unknown_to_the_store_is_not_edited_as_text(
    adapter: ObservedTelegram, server: TelegramServer
) -> None:
    sent = await adapter.send(PLACE, picture_panel(), "key")
    with pytest.raises(NotEditable):
        await adapter.edit(PLACE, SentMessage(sent.message), text_panel())
    assert only_message(server)["caption"] == "Your turn."


async def test_text_too_long_for_a_caption_goes_without_picture(
    adapter: ObservedTelegram, server: TelegramServer
) -> None:
    await adapter.send(PLACE, picture_panel("🂡" * (LONGEST_CAPTION // 2)), "key")
    assert "photo" in only_message(server)
    server.group(GROUP).messages.clear()
    await adapter.send(PLACE, picture_panel("🂡" * (LONGEST_CAPTION // 2) + "!"), "key")
    assert only_message(server)["text"].endswith("!")


async def test_text_page_replacing_a_photo_is_a_new_message(adapter: ObservedTelegram, server: TelegramServer) -> None:
    sent = await adapter.send(PLACE, picture_panel(), "key")
    press = Press("p1", PlatformPerson("telegram:1", "Anna"), PLACE, sent.message, "1:page", genuine=True)
    # The old message is deleted separately, so the page is sent only once.
    server.fail_next("deleteMessage", Failure(Refused(429, "Too Many Requests: retry after 1", retry_after=1)))
    await adapter.pages.replace(press, text_panel("A page."))
    await until(lambda: len(server.group(GROUP).messages) == 1)
    assert only_message(server)["text"] == "A page."
    [fields] = [fields for method, fields in server.calls if method == "sendMessage"]
    assert fields["disable_notification"], "the page must be as silent as an edit"


async def test_picture_page_replaces_a_picture_page(adapter: ObservedTelegram, server: TelegramServer) -> None:
    sent = await adapter.send(PLACE, picture_panel(), "key")
    press = Press("p1", PlatformPerson("telegram:1", "Anna"), PLACE, sent.message, "1:page", genuine=True)
    await adapter.pages.replace(press, picture_panel("Another page.", "new", content=png(b"new")), is_photo=True)
    assert only_message(server)["message_id"] == int(sent.message)
    assert only_message(server)["caption"] == "Another page."
    assert server.photos.files[only_message(server)["photo"][-1]["file_id"]] == png(b"new")


async def test_press_on_a_picture_page_shows_the_next_in_place(
    store: Store, server: TelegramServer, painted_texts: dict[str, set[str]]
) -> None:
    group = server.group(GROUP)
    async with on_telegram(store, server, pictures=True):
        [anna, _bruno] = await seat_people(server, "testa")
        anna.say("/rules testa")
        await until(lambda: any("• The holder of" in text_of(message) for message in group.messages.values()))
        page = next(message for message in group.messages.values() if "• The holder of" in text_of(message))
        assert page["caption"] in painted_texts[picture_digest(server, page)]
        await anna.press("Metà Mazzo", group)
        await until(lambda: "With the stock gone" in text_of(group.messages[page["message_id"]]))
        page = group.messages[page["message_id"]]
        assert page["caption"] in painted_texts[picture_digest(server, page)]


async def test_page_with_a_refused_picture_goes_as_text(adapter: ObservedTelegram, server: TelegramServer) -> None:
    server.fail_next("sendPhoto", Failure(Refused(400, "Bad Request: IMAGE_PROCESS_FAILED")))
    await adapter.pages.send(PLACE, picture_panel("A page."), "key")
    assert only_message(server)["text"] == "A page."


# Pictures that Telegram already has


async def test_lasting_picture_is_uploaded_once(adapter: ObservedTelegram, server: TelegramServer) -> None:
    other = server.group(-1002)
    await adapter.send(PLACE, picture_panel(is_lasting=True), "one")
    sent = await adapter.send(f"telegram:{other.id}", picture_panel(is_lasting=True), "two")
    await adapter.edit(f"telegram:{other.id}", sent._replace(is_certain=False), picture_panel("Over.", is_lasting=True))
    assert server.photos.uploads == 1
    [message] = other.messages.values()
    assert message["photo"] == only_message(server)["photo"]
    assert message["caption"] == "Over."


async def test_hand_is_uploaded_each_time(adapter: ObservedTelegram, server: TelegramServer) -> None:
    for key in ("one", "two"):
        await adapter.send(PLACE, picture_panel(), key)
    assert server.photos.uploads == 2


async def test_picture_telegram_forgot_is_uploaded_again(adapter: ObservedTelegram, server: TelegramServer) -> None:
    await adapter.send(PLACE, picture_panel(is_lasting=True), "one")
    server.photos.files.clear()
    server.group(GROUP).messages.clear()
    await adapter.send(PLACE, picture_panel(is_lasting=True), "two")
    assert only_message(server)["photo"][-1]["file_id"] in server.photos.files
    await adapter.send(PLACE, picture_panel(is_lasting=True), "three")
    assert server.photos.uploads == 2


async def test_unreachable_store_knows_no_pictures() -> None:
    class UnreachableStore:
        async def get(self, key: str) -> bytes:
            raise ConnectionError

        async def set(self, key: str, value: str, ex: int) -> None:
            raise ConnectionError

    errors: list[BaseException] = []
    known_files = KnownFiles(UnreachableStore(), errors.append)
    picture = picture_panel().picture
    assert picture
    assert await known_files.find(picture) == ""
    await known_files.keep(picture, {"photo": [{"file_id": "photo1"}]})
    assert len(errors) == 2


@pytest.mark.parametrize("sizes", [7, {"a": 1}, [7], [{}], [{"file_id": 7}], [{"file_id": "\ud800"}], [[]], "photo"])
async def test_answer_without_a_file_id_still_counts_as_sent(
    adapter: ObservedTelegram, server: TelegramServer, sizes: object
) -> None:
    answer = {"ok": True, "result": {"message_id": 7, "photo": sizes}}
    server.fail_next("sendPhoto", Failure(body=json.dumps(answer).encode(), done_first=True))
    sent = await adapter.send(PLACE, picture_panel(is_lasting=True), "key")
    assert sent.message == "7"
    assert sent.picture
    assert called_methods(server) == ["sendPhoto"]
    await adapter.send(PLACE, picture_panel(is_lasting=True), "another")
    assert server.photos.uploads == 2


# Refusals


@pytest.mark.parametrize(
    "refusal",
    [
        Refused(400, "Bad Request: IMAGE_PROCESS_FAILED"),
        Refused(400, "Bad Request: PHOTO_INVALID_DIMENSIONS"),
        Refused(400, "Bad Request: message caption is too long"),
        Refused(400, "Bad Request: something new"),
        Refused(413, "Request Entity Too Large"),
    ],
    ids=str,
)
async def test_refusal_about_a_picture_raises_its_own_error(
    adapter: ObservedTelegram, server: TelegramServer, refusal: Refused
) -> None:
    server.fail_next("sendPhoto", Failure(refusal))
    with pytest.raises(NoPicture):
        await adapter.send(PLACE, picture_panel(), "key")
    await adapter.send(PLACE, picture_panel(), "key")
    assert "photo" in only_message(server), "the next picture must be sent again"


@pytest.mark.parametrize(
    "content",
    [b"", b"GIF89a", png(width=9000, height=1001), png(width=2100, height=100), png(bytes(11 * 1024 * 1024))],
    # Without these ids xdist would send 46 megabytes for the last value.
    ids=["empty", "not a PNG", "too large", "too wide", "too many bytes"],
)
async def test_invalid_photo_goes_as_text(adapter: ObservedTelegram, server: TelegramServer, content: bytes) -> None:
    if not content:
        await adapter.send(PLACE, picture_panel(content=content), "key")
        assert "text" in only_message(server), "a panel without a painted picture must go as text"
        return
    with pytest.raises(NoPicture):
        await adapter.send(PLACE, picture_panel(content=content), "key")


@pytest.mark.parametrize(
    ("refusal", "error"),
    [
        (Refused(429, "Too Many Requests: retry after 3", retry_after=3), SlowDown),
        (Refused(403, "Forbidden: bot was kicked from the supergroup chat"), ChatGone),
        (Refused(400, "Bad Request: chat not found"), ChatGone),
        (Refused(400, "Bad Request: not enough rights to send text messages to the chat"), ChatGone),
        (Refused(400, "Bad Request: message to edit not found"), MessageGone),
        (Refused(401, "Unauthorized"), NotDelivered),
    ],
    ids=str,
)
async def test_refusal_not_about_a_picture_raises_as_for_a_text(
    adapter: ObservedTelegram, server: TelegramServer, refusal: Refused, error: type[Exception]
) -> None:
    server.fail_next("sendPhoto", Failure(refusal))
    with pytest.raises(error):
        await adapter.send(PLACE, picture_panel(), "key")


async def test_unreachable_server_is_no_refusal_of_the_picture(
    adapter: ObservedTelegram, server: TelegramServer
) -> None:
    await server.stop()
    with pytest.raises(NotDelivered):
        await adapter.send(PLACE, picture_panel(), "key")


async def test_chat_without_photos_is_remembered(
    store: Store, server: TelegramServer, painted_texts: dict[str, set[str]]
) -> None:
    server.group(GROUP).accepts_photos = False
    async with on_telegram(store, server, pictures=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        random = Random(1)
        for _ in range(6):
            for person in people:
                await person.play(random)
            await adapter.worker.wait_until_idle()
        assert called_methods(server).count("sendPhoto") == 1 + len(people), (
            "the group must get one attempt, and each hand its photo"
        )
        assert not any("photo" in message for message in server.group(GROUP).messages.values())
        assert all("photo" in message for person in people for message in bot_messages(person.private.messages))


@pytest.mark.parametrize(
    "failure",
    [
        Failure(hang_up=True),
        Failure(body=b"<html>", status=502),
        Failure(body=b"{}"),
        Failure(Refused(502, "Bad Gateway")),
    ],
)
@pytest.mark.parametrize("done_first", [False, True])
async def test_upload_with_a_lost_answer_sends_no_extra_text(
    store: Store, server: TelegramServer, painted_texts: dict[str, set[str]], failure: Failure, done_first: bool
) -> None:
    async with on_telegram(store, server, pictures=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        before = [message["message_id"] for person in people for message in bot_messages(person.private.messages)]
        server.fail_next("editMessageMedia", replace(failure, done_first=done_first))
        sends = len([method for method in called_methods(server) if method.startswith("send")])
        for person in people:
            await person.play(Random(1))
        await adapter.worker.wait_until_idle()
        messages = [message for person in people for message in bot_messages(person.private.messages)]
        assert [message["message_id"] for message in messages] == before
        assert len([method for method in called_methods(server) if method.startswith("send")]) == sends
        for message in messages:
            assert message["caption"] in painted_texts[picture_digest(server, message)]


# Late uploads


async def test_late_upload_is_reported_after_its_text(
    adapter: ObservedTelegram, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(photos, "UPLOAD_SECONDS", 0.1)
    for has_id in (True, False):
        gate = asyncio.Event()
        server.fail_next("sendPhoto", Failure(gate=gate, body=None if has_id else b"{}"))
        with pytest.raises(NoPicture) as raised:
            await adapter.send(PLACE, picture_panel(), "key")
        gate.set()
        assert raised.value.late
        message = await raised.value.late
        assert message == (str(only_message(server)["message_id"]) if has_id else "")


@pytest.mark.parametrize("is_restarted", [False, True])
async def test_late_hand_is_deleted(
    store: Store,
    server: TelegramServer,
    painted_texts: dict[str, set[str]],
    monkeypatch: pytest.MonkeyPatch,
    is_restarted: bool,
) -> None:
    refusal, gate = Failure(Refused(500, "Internal Server Error")), asyncio.Event()
    async with on_telegram(store, server, pictures=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        monkeypatch.setattr(photos, "UPLOAD_SECONDS", 0.2)
        server.fail_next("sendPhoto", Failure(gate=gate))
        people[0].say("/hand", people[0].private)
        await until(lambda: ["text" in message for message in bot_messages(people[0].private.messages)] == [True])
        server.fail_next("deleteMessage", *[refusal] * 10_000)
        gate.set()
        await until(lambda: len(bot_messages(people[0].private.messages)) == 2)
        [text_hand, late_hand] = bot_messages(people[0].private.messages)
        await until(
            lambda: any(fields.get("message_id") == late_hand["message_id"] for _method, fields in server.calls)
        )
        if not is_restarted:
            server.clear_failures()
            await adapter.worker.wait_until_idle()
    if is_restarted:
        server.clear_failures()
        async with on_telegram(store, server, pictures=True) as adapter:
            await until(lambda: len(bot_messages(people[0].private.messages)) == 1)
            await adapter.worker.wait_until_idle()
    [message] = bot_messages(people[0].private.messages)
    assert message["message_id"] == text_hand["message_id"]
    assert not await store.changed_tables(range(keys.SHARDS))


async def test_late_result_is_deleted_after_the_table_is_gone(
    store: Store, server: TelegramServer, painted_texts: dict[str, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    group, gate = server.group(GROUP), asyncio.Event()
    async with on_telegram(store, server, pictures=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        monkeypatch.setattr(photos, "UPLOAD_SECONDS", 0.2)
        server.fail_next("sendPhoto", *[Failure(gate=gate)] * 3)
        # The result replaces the board. Without a board it is a new message.
        del group.messages[bot_messages(group.messages)[-1]["message_id"]]
        people[0].say("/resign", people[0].private)
        await people[0].press("Yes, I resign")
        await until(lambda: any("resigned" in text_of(message) for message in group.messages.values()))
        gate.set()
        await adapter.worker.wait_until_idle()
        results = [
            message
            for message in group.messages.values()
            if "resigned" in text_of(message) and "Rematch" in str(message)
        ]
        assert ["text" in result for result in results] == [True]
        assert any(method == "deleteMessage" and fields["chat_id"] == GROUP for method, fields in server.calls)


async def test_late_page_is_deleted(
    store: Store, server: TelegramServer, painted_texts: dict[str, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(photos, "UPLOAD_SECONDS", 0.2)
    gate = asyncio.Event()
    async with on_telegram(store, server, pictures=True):
        anna = Person(server, 1, "Anna")
        server.fail_next("sendPhoto", Failure(gate=gate))
        server.fail_next("deleteMessage", Failure(Refused(500, "Internal Server Error")))
        anna.say("/rules testa", anna.private)
        await until(lambda: len(bot_messages(anna.private.messages)) == 1)
        gate.set()
        await until(
            lambda: called_methods(server).count("deleteMessage") == 2 and len(bot_messages(anna.private.messages)) == 1
        )
        [message] = bot_messages(anna.private.messages)
        assert "text" in message


async def test_upload_finished_at_the_deadline_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(photos, "UPLOAD_SECONDS", 0.5)

    async def post(_method: str, _data: object) -> dict[str, int]:
        await asyncio.sleep(0.4)
        return {"message_id": 7}

    async def block_the_loop() -> None:
        await asyncio.sleep(0.3)
        time.sleep(0.5)

    widgets, app = Widgets(post, KeptStates(None, print), is_on=False), TelegramApp("1:x", post, "")
    messages = Messages(post, KnownFiles(None, print), widgets, RichMessages(post, is_on=False), app)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(block_the_loop())
        sending = tasks.create_task(messages.send(PLACE, picture_panel()))
    assert sending.result().message == "7"


async def test_late_edit_is_given_up(
    adapter: ObservedTelegram, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = await adapter.send(PLACE, picture_panel(), "key")
    monkeypatch.setattr(photos, "UPLOAD_SECONDS", 0.1)
    server.fail_next("editMessageMedia", Failure(silent=True))
    with pytest.raises(NoPicture):
        await adapter.edit(PLACE, sent, picture_panel("Over.", "new"))


async def test_repeated_upload_failures_pause_pictures(
    adapter: ObservedTelegram, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.fail_next("sendPhoto", *[Failure(hang_up=True)] * photos.FAILURES_IN_A_ROW)
    seconds = 0.0
    monkeypatch.setattr(photos, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + seconds))
    for _ in range(photos.FAILURES_IN_A_ROW):
        with pytest.raises(PlatformFailure):
            await adapter.send(PLACE, picture_panel(), "key")
    assert not (await adapter.send(PLACE, picture_panel(), "key")).picture
    seconds = photos.REST_SECONDS
    assert (await adapter.send(PLACE, picture_panel(), "key")).picture


async def test_text_in_a_game_gets_its_picture_at_the_next_change(
    store: Store, server: TelegramServer, painted_texts: dict[str, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_telegram(store, server, pictures=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
        random = Random(1)
        before = {message["message_id"] for person in people for message in bot_messages(person.private.messages)}
        monkeypatch.setattr(photos, "REST_SECONDS", 0.0)
        server.fail_next("editMessageMedia", *[Failure(Refused(400, "Bad Request: IMAGE_PROCESS_FAILED"))] * 3)
        for person in people:
            await person.play(random)
        await adapter.worker.wait_until_idle()
        after = [message for person in people for message in bot_messages(person.private.messages)]
        assert len(after) == len(people)
        assert any("text" in message and message["message_id"] not in before for message in after)
        for _ in range(2):
            for person in people:
                await person.play(random)
            await adapter.worker.wait_until_idle()
        hands_after = [bot_messages(person.private.messages) for person in people]
        assert all(len(messages) == 1 and "photo" in messages[0] for messages in hands_after)


async def test_restarted_game_continues_in_the_same_messages(
    store: Store, server: TelegramServer, painted_texts: dict[str, set[str]]
) -> None:
    random = Random(1)
    async with on_telegram(store, server, pictures=True) as adapter:
        people = await seat_people(server, "testa")
        await adapter.worker.wait_until_idle()
    before = [message["message_id"] for person in people for message in bot_messages(person.private.messages)]
    async with on_telegram(store, server, pictures=True) as adapter:
        for person in people:
            await person.play(random)
        await adapter.worker.wait_until_idle()
        messages = [message for person in people for message in bot_messages(person.private.messages)]
        assert [message["message_id"] for message in messages] == before
        for message in messages:
            assert message["caption"] in painted_texts[picture_digest(server, message)]


# Ephemeral hands in a group


async def test_hand_in_the_group_is_a_photo(
    store: Store, server: TelegramServer, painted_texts: dict[str, set[str]]
) -> None:
    async with on_telegram(store, server, pictures=True) as adapter:
        anna, bruno = await start_without_private_chat(server, "testa", "to 11")
        await bruno.press("My hand, here", server.group(GROUP))
        await until(lambda: bool(hands(bruno)))
        random = Random(4)
        for _ in range(6):
            await anna.play(random)
            await adapter.worker.wait_until_idle()
            await play_from_group_hand(bruno, random)
            await adapter.worker.wait_until_idle()
            [hand] = hands(bruno)
            assert hand["caption"] in painted_texts[picture_digest(server, hand)]
        assert "editEphemeralMessageMedia" in called_methods(server)


async def test_text_hand_in_the_group_stays_a_text(
    store: Store, server: TelegramServer, painted_texts: dict[str, set[str]]
) -> None:
    async with on_telegram(store, server, pictures=True) as adapter:
        server.group(GROUP).accepts_photos = False
        anna, bruno = await start_without_private_chat(server, "testa", "to 11")
        await adapter.worker.wait_until_idle()
        server.group(GROUP).accepts_photos = True
        await bruno.press("My hand, here", server.group(GROUP))
        await until(lambda: bool(hands(bruno)))
        random = Random(4)
        for _ in range(3):
            await anna.play(random)
            await adapter.worker.wait_until_idle()
            await play_from_group_hand(bruno, random)
            await adapter.worker.wait_until_idle()
        [hand] = hands(bruno)
        assert "text" in hand
        assert "Previous trick" in hand["text"]
        assert "editEphemeralMessageText" in called_methods(server)


async def test_hand_in_the_group_stays_when_its_picture_is_refused(
    store: Store, server: TelegramServer, painted_texts: dict[str, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_telegram(store, server, pictures=True) as adapter:
        anna, bruno = await start_without_private_chat(server, "testa", "to 11")
        await bruno.press("My hand, here", server.group(GROUP))
        await until(lambda: bool(hands(bruno)))
        await adapter.worker.wait_until_idle()
        random = Random(4)
        if not any("play" in payload for payload in payloads_of(hands(bruno)[0])):
            await anna.play(random)
            await adapter.worker.wait_until_idle()
        # Shortly after a player's press the bot can send a new message.
        server.fail_next("editEphemeralMessageMedia", *[Failure(Refused(400, "Bad Request: IMAGE_PROCESS_FAILED"))] * 2)
        await play_from_group_hand(bruno, random)
        await adapter.worker.wait_until_idle()
        [hand] = hands(bruno)
        assert "text" in hand
        await bruno.press("My hand, here", server.group(GROUP))
        await adapter.worker.wait_until_idle()
        [hand] = hands(bruno)
        assert "photo" in hand
        # Later the bot can only edit the message, which keeps its photo.
        monkeypatch.setattr(messages, "EPHEMERAL_SECONDS", -1)
        monkeypatch.setattr(server_module, "PRESS_SECONDS", -1.0)
        server.fail_next("editEphemeralMessageMedia", *[Failure(Refused(400, "Bad Request: IMAGE_PROCESS_FAILED"))] * 2)
        before = hand["caption"]
        for _ in range(3):
            await anna.play(random)
            await adapter.worker.wait_until_idle()
            await play_from_group_hand(bruno, random)
            await adapter.worker.wait_until_idle()
            [edited] = hands(bruno)
            assert edited["ephemeral_message_id"] == hand["ephemeral_message_id"]
            assert edited["caption"] in painted_texts[picture_digest(server, edited)]
        assert edited["caption"] != before
        assert not bot_messages(bruno.private.messages)


async def test_expired_press_is_not_blamed_on_the_picture(adapter: ObservedTelegram, server: TelegramServer) -> None:
    Person(server, 2, "Bruno")
    adapter.messages.has_ephemeral = True
    with pytest.raises(Unreachable):
        await adapter.send(f"telegram:@2~{GROUP}", picture_panel(), "key")


async def test_late_hand_in_the_group_is_reported(
    adapter: ObservedTelegram, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    bruno = Person(server, 2, "Bruno")
    server.group(GROUP).bot_is_admin = True
    adapter.messages.has_ephemeral = True
    monkeypatch.setattr(photos, "UPLOAD_SECONDS", 0.1)
    gate = asyncio.Event()
    server.fail_next("sendPhoto", Failure(gate=gate))
    with pytest.raises(NoPicture) as raised:
        await adapter.send(f"telegram:@2~{GROUP}", picture_panel(), "key")
    gate.set()
    assert raised.value.late
    assert await raised.value.late == str(hands(bruno)[0]["ephemeral_message_id"])
