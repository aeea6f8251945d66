"""Ephemeral commands: a group sees neither /hand, /stats and /tables nor their answers (Bot API 10.2)."""

import json
import time
from typing import Any

import pytest
from structlog.testing import capture_logs

from adapters.telegram import messages as messages_module
from adapters.telegram.messages import Messages
from adapters.telegram.mini_app import TelegramApp
from adapters.telegram.photos import KnownFiles
from adapters.telegram.profile import EPHEMERAL_COMMANDS
from adapters.telegram.rich.messages import RichMessages
from adapters.telegram.transport import Body
from adapters.telegram.widget.kept_states import KeptStates
from adapters.telegram.widget.messages import Widgets
from bot.command_names import COMMANDS
from bot.panel import Panel, Span
from bot.store import Store
from tests.telegram import server as server_module
from tests.telegram.content import Refused, payloads_of
from tests.telegram.players import GROUP, ObservedTelegram, Person, bot_text, on_telegram, seat_people, until
from tests.telegram.server import Failure, TelegramServer
from tests.telegram.test_ephemeral import hands
from tests.telegram.test_telegram import panels

SUITS = ("🪙", "🏆", "⚔️", "🪵")  # every hand names its suits


def public_bodies(server: TelegramServer) -> bytes:
    """Return the calls that a group sees, as JSON."""
    public = [
        fields
        for _method, fields in server.calls
        if fields.get("chat_id") == GROUP and not {"ephemeral_message_parameters", "receiver_user_id"} & set(fields)
    ]
    return json.dumps(public, ensure_ascii=False).encode()


def shows_hand(text: str) -> bool:
    return any(suit in text for suit in SUITS)


async def start_game(server: TelegramServer, adapter: ObservedTelegram) -> Person:
    """Start a game of two people with private chats; return the first."""
    people = await seat_people(server, "metamazzo")
    await until(lambda: all(panels(person) for person in people))
    await until(lambda: "deal 1" in bot_text(server.group(GROUP)))
    await adapter.worker.wait_until_idle()
    return people[0]


async def wait_for_aside(person: Person, words: str) -> None:
    """Wait for a message with these words that only one person sees."""
    await until(lambda: any(words in message["text"] for message in hands(person)))


async def test_groups_menus_mark_three_commands(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server):
        await until(lambda: "all_group_chats it" in server.menus)
    names = {
        language: [spec.name_in(language) for spec in COMMANDS if spec.name in EPHEMERAL_COMMANDS]
        for language in ("en", "it")
    }
    for scope, language in (("all_group_chats ", "en"), ("all_group_chats it", "it")):
        marked = [entry["command"] for entry in server.menus[scope] if entry.get("is_ephemeral")]
        assert sorted(marked) == sorted(names[language])
    for scope in ("all_private_chats ", "all_private_chats it"):
        assert not [entry for entry in server.menus[scope] if "is_ephemeral" in entry]


async def test_answers_are_visible_to_the_author_only(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        anna, group = await start_game(server, adapter), server.group(GROUP)
        for command, words in (("/stats", "No rated games yet"), ("/tables", "no open challenge"), ("/hand", "🪙")):
            server.write_ephemeral(group, anna.number, command)
            await wait_for_aside(anna, words)
            await adapter.worker.wait_until_idle()
            assert words.encode() not in public_bodies(server)
        assert [user for user, messages in group.ephemerals.items() if messages] == [anna.number]


async def test_ordinary_command_is_answered_for_all(store: Store, server: TelegramServer) -> None:
    """Old apps send ordinary commands."""
    async with on_telegram(store, server):
        anna, group = Person(server, 1, "Anna"), server.group(GROUP)
        anna.say("/stats")
        await until(lambda: "No rated games yet" in bot_text(group))
        assert hands(anna) == []


async def test_hand_shown_in_the_group_is_played_there(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        anna, group = await start_game(server, adapter), server.group(GROUP)
        bruno = Person(server, 2, "Bruno")
        server.write_ephemeral(group, bruno.number, "/hand")
        await wait_for_aside(bruno, "🪙")
        before, cards = hands(bruno)[-1]["text"], payloads_of(hands(bruno)[-1])
        await bruno.send_press(group, hands(bruno)[-1], cards[0])
        await until(lambda: hands(bruno)[-1]["text"] != before)
        assert len(hands(bruno)) == 1
        # In the private chat /hand brings it back.
        bruno.say("/hand", bruno.private)
        await until(lambda: hands(bruno) == [])
        await until(lambda: shows_hand(bot_text(bruno.private)))
        assert hands(anna) == []


async def test_hand_in_the_group_has_its_picture(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server, pictures=True):
        people = await seat_people(server, "metamazzo")
        await until(lambda: all(panels(person) for person in people))
        server.write_ephemeral(server.group(GROUP), 1, "/hand")
        await until(lambda: any("photo" in message for message in hands(people[0])))
        assert not any(suit.encode() in public_bodies(server) for suit in SUITS)
        [message] = hands(people[0])
        assert shows_hand(message["caption"])


async def test_seat_is_taken_from_an_ephemeral_list(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        anna, bruno, group = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), server.group(GROUP)
        anna.say("/challenge metamazzo")
        await until(lambda: anna.button("Join", group) is not None)
        server.write_ephemeral(group, bruno.number, "/tables")
        await wait_for_aside(bruno, "1 seat free")
        [payload] = [payload for payload in payloads_of(hands(bruno)[-1]) if " sit " in payload]
        await bruno.send_press(group, hands(bruno)[-1], payload)
        await until(lambda: "no open challenge" in hands(bruno)[-1]["text"])
        [table] = await adapter.worker.room.lists.tables_of("telegram:2")
        assert table.phase == "playing"


MISREAD = [
    {"message_id": 77},
    {"ephemeral_message_id": None},
    {"ephemeral_message_id": "9"},
    {"ephemeral_message_id": 0},
    {"ephemeral_message_id": -9},
    {"ephemeral_message_id": 1.5},
    {"ephemeral_message_id": True},
    {"ephemeral_message_id": 2**70},
    {"ephemeral_message_id": [9]},
    # These ids are well formed, but the server does not know them.
    {"ephemeral_message_id": 999_999},
    {"ephemeral_message_id": 2**62},
]


@pytest.mark.parametrize("fields", MISREAD, ids=str)
async def test_misread_ephemeral_command_keeps_the_hand_private(
    store: Store, server: TelegramServer, fields: dict[str, Any]
) -> None:
    async with on_telegram(store, server) as adapter:
        anna, group = await start_game(server, adapter), server.group(GROUP)
        [old] = [message["message_id"] for message in panels(anna)]
        server.write_ephemeral(group, anna.number, "/hand", **fields)
        await until(lambda: [message["message_id"] for message in panels(anna)] not in ([], [old]))
        await adapter.worker.wait_until_idle()
        assert shows_hand(panels(anna)[-1]["text"])
        assert hands(anna) == []
        assert not any(suit.encode() in public_bodies(server) for suit in SUITS)


@pytest.mark.parametrize("error", ["MESSAGE_NOT_COMMAND", "CHAT_ADMIN_REQUIRED", "PEER_ID_INVALID"])
async def test_refused_ephemeral_answer_is_sent_as_usual(store: Store, server: TelegramServer, error: str) -> None:
    async with on_telegram(store, server) as adapter:
        anna, group = await start_game(server, adapter), server.group(GROUP)
        adapter.messages.has_ephemeral = True
        failure = Failure(Refused(400, f"Bad Request: {error}"))
        server.fail_next("sendMessage", failure)
        server.write_ephemeral(group, anna.number, "/stats")
        await until(lambda: "No rated games yet" in bot_text(group))
        [old] = [message["message_id"] for message in panels(anna)]
        server.fail_next("sendMessage", failure)
        server.write_ephemeral(group, anna.number, "/hand")
        await until(lambda: [message["message_id"] for message in panels(anna)] not in ([], [old]))
        await adapter.worker.wait_until_idle()
        assert hands(anna) == []
        assert not any(suit.encode() in public_bodies(server) for suit in SUITS)


async def test_refused_ephemeral_toast_names_the_author_in_a_group(store: Store, server: TelegramServer) -> None:
    async with on_telegram(store, server) as adapter:
        anna, group = Person(server, 1, "Anna"), server.group(GROUP)
        await until(lambda: "all_group_chats it" in server.menus)
        adapter.messages.has_ephemeral = True
        server.write_ephemeral(group, anna.number, "/hand")
        await until(lambda: bool(hands(anna)))
        toast = hands(anna)[-1]["text"]
        server.fail_next("sendMessage", Failure(Refused(400, "Bad Request: MESSAGE_NOT_COMMAND")))
        server.write_ephemeral(group, anna.number, "/hand")
        await until(lambda: bot_text(group) == f"Anna: {toast}")


async def test_late_ephemeral_answer_is_sent_as_usual(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_telegram(store, server):
        anna, group = Person(server, 1, "Anna"), server.group(GROUP)
        await until(lambda: "all_group_chats it" in server.menus)
        monkeypatch.setattr(server_module, "PRESS_SECONDS", -1.0)
        server.write_ephemeral(group, anna.number, "/stats")
        await until(lambda: "No rated games yet" in bot_text(group))
        assert hands(anna) == []


async def test_hand_that_became_visible_is_deleted(
    store: Store, server: TelegramServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server can lose the feature while the bot runs, for example if a host replaces it."""
    async with on_telegram(store, server) as adapter:
        anna, group = await start_game(server, adapter), server.group(GROUP)
        group.bot_is_admin = True
        server.write_ephemeral(group, anna.number, "/stats")
        await wait_for_aside(anna, "No rated games yet")
        # Such a server also ignores the reply to an ephemeral message.
        monkeypatch.setattr(messages_module, "EPHEMERAL_SECONDS", 0)
        server.missing_methods = {"editEphemeralMessageText", "deleteEphemeralMessage"}
        [old] = [message["message_id"] for message in panels(anna)]
        with capture_logs() as logs:
            server.write_ephemeral(group, anna.number, "/hand")
            await until(lambda: [message["message_id"] for message in panels(anna)] not in ([], [old]))
            await adapter.worker.wait_until_idle()
        assert not shows_hand(bot_text(group))
        assert adapter.messages.has_ephemeral is False
        assert [line["what"] for line in logs if line["event"] == "telegram_feature_missing"] == [
            "show a hand in a group"
        ]


@pytest.mark.parametrize(
    ("age", "token", "expected_fields"),
    [
        (0, "c5", b'"reply_parameters":{"ephemeral_message_id":5},'),
        (60, "c5", b""),
        (60, "5", b""),
    ],
)
async def test_request_names_its_only_reader(store: Store, age: int, token: str, expected_fields: bytes) -> None:
    sent: list[tuple[str, bytes]] = []

    async def post(method: str, body: Body) -> Any:
        sent.append((method, body.content))
        return {"message_id": 0, "ephemeral_message_id": 8}

    states = KeptStates(store.client, print)
    widgets, rich = Widgets(post, states, is_on=False), RichMessages(post, is_on=False)
    messages = Messages(post, KnownFiles(store.client, print), widgets, rich, TelegramApp("1:x", post, ""))
    messages.has_ephemeral = True
    place = f"telegram:@1~{GROUP}/7!{int(time.time()) - age}.{token}"
    await messages.send(place, Panel((Span("🪙 3"),)))
    chat_fields = b'{"chat_id":-1001,"message_thread_id":7,"ephemeral_message_parameters":{"receiver_user_id":1},'
    [(method, body)] = sent
    assert method == "sendMessage"
    assert body.startswith(chat_fields + expected_fields + '"text":"🪙 3"'.encode())
