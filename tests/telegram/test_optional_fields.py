"""No update is lost because an optional field is missing, empty or new. Samples come from the fake server."""

from typing import Any

import pytest
from telegram import Bot, Update, User

from adapters.telegram import reading
from adapters.telegram.guest import read_guest_call
from adapters.telegram.polling import ALLOWED_UPDATES
from adapters.telegram.raw_updates import build_update
from bot.store import Store
from tests.optional_fields import iter_variants
from tests.telegram.players import GROUP, Person, on_telegram, until
from tests.telegram.server import BOT, Chat, TelegramServer

ME = User(BOT["id"], BOT["first_name"], True, username=BOT["username"])
FROM = ("update_id", "message.chat.id", "message.from.id", "message.text")
MARK = ("message.entities.0.type", "message.entities.0.offset", "message.entities.0.length")
PRESSED = ("update_id", "callback_query.id", "callback_query.from.id", "callback_query.data")
MESSAGE = ("callback_query.message.message_id", "callback_query.message.chat.id")
INLINE = ("callback_query.inline_message_id", "callback_query.chat_instance")
MEMBER = ("my_chat_member.chat.id", "my_chat_member.from.id", "my_chat_member.new_chat_member.status")
REQUIRED = {
    "group command": (*FROM, *MARK),
    "private command": FROM,
    "private text": FROM,
    "caption": (
        *("update_id", "message.chat.id", "message.from.id", "message.caption"),
        *(f"message.caption_entities.0.{name}" for name in ("type", "offset", "length")),
    ),
    "upgrade": ("update_id", "message.chat.id", "message.migrate_to_chat_id"),
    "press": (*PRESSED, *MESSAGE),
    "old press": (*PRESSED, *MESSAGE),
    "ephemeral press": (*PRESSED, *MESSAGE, "callback_query.message.ephemeral_message_id"),
    "inline press": (*PRESSED, *INLINE),
    "guest call": (
        "update_id",
        *(f"guest_message.{name}" for name in ("guest_query_id", "chat.id", "from.id", "from.is_bot", "text")),
    ),
    "inline query": ("update_id", "inline_query.id", "inline_query.from.id"),
    "chosen result": ("update_id", "chosen_inline_result.result_id", "chosen_inline_result.from.id"),
    "member": ("update_id", *MEMBER),
    "restricted": (
        "update_id",
        *MEMBER,
        *(f"my_chat_member.new_chat_member.{name}" for name in ("is_member", "can_send_messages")),
    ),
}


def make_samples(server: TelegramServer) -> dict[str, dict[str, Any]]:
    """Return an update of each kind, with as many optional fields as possible."""
    # No bot answers these presses.
    server.checks_answers = False
    anna, bruno, group = Person(server, 1, "Anna", "it"), Person(server, 2, "Bruno"), server.group(GROUP)
    for user in server.users.values():
        user["last_name"] = "Rossi"
    rows = [[{"text": "3D", "callback_data": "1mABCD:1:3D"}, {"text": "Rules", "url": "https://t.me/bot?start=x"}]]
    photo = [{"file_id": "f", "file_unique_id": "u", "width": 9, "height": 9}]
    reply_target = server.write(group, bruno.number, "I have three aces")
    topic = {"message_thread_id": 7, "is_topic_message": True}
    bot_message = {
        **{"message_id": 70, "date": 1_700_000_000, "chat": group.as_json, "from": BOT, **topic},
        **{"photo": photo, "caption": "Your turn", "caption_entities": [{"type": "bold", "offset": 0, "length": 4}]},
        "reply_markup": {"inline_keyboard": rows},
    }
    ephemeral = bot_message | {"message_id": 0, "ephemeral_message_id": 9, "receiver_user": server.users[1]}
    mentions = [
        {"type": "bot_command", "offset": 0, "length": 6},
        {"type": "text_mention", "offset": 7, "length": 5, "user": server.users[2]},
        {"type": "mention", "offset": 13, "length": 6},
        {"type": "text_link", "offset": 20, "length": 1, "url": "https://example.org"},
    ]
    text, elsewhere = "/stats Bruno @carla !", Chat(-77, "elsewhere", "Two friends")
    member_fields = {"chat": group.as_json, "from": server.users[1], "date": 1, "invite_link": {"name": "x"}}
    rights = dict.fromkeys(("can_send_messages", "can_send_photos", "can_invite_users", "is_member"), True)
    old_member = {"status": "left", "user": BOT}
    samples: dict[str, dict[str, Any]] = {}

    def keep_sample(kind: str) -> None:
        samples[kind] = server.pending[-1]

    server.write(group, 1, text, entities=mentions, reply_to_message=reply_target, **topic, author_signature="x")
    keep_sample("group command")
    server.write(anna.private, 1, text, entities=mentions, reply_to_message=reply_target, quote={"text": "x"})
    keep_sample("private command")
    server.write(anna.private, 1, "ciao", entities=mentions[3:])
    keep_sample("private text")
    caption = {"caption": text, "caption_entities": mentions, "photo": photo, "media_group_id": "1", **topic}
    server.push(message={"message_id": 8, "date": 1, "chat": group.as_json, "from": server.users[1], **caption})
    keep_sample("caption")
    server.push(message={"message_id": 9, "date": 1, "chat": group.as_json, "migrate_to_chat_id": -1005})
    keep_sample("upgrade")
    for name, message in (("press", bot_message), ("ephemeral press", ephemeral)):
        server.press(group, message, 1, "1mABCD:1:3D")
        keep_sample(name)
    server.press(group, {"message_id": 70, "date": 0, "chat": group.as_json}, 1, "1mABCD:1:3D")
    keep_sample("old press")
    server.press(elsewhere, {"inline_message_id": "AAAA-1_x"}, 1, "1oterms")
    keep_sample("inline press")
    server.call_guest(1, elsewhere, "@buongioco_bot challenge", reply_to_message=reply_target, author_signature="x")
    keep_sample("guest call")
    server.type_inline(1, "testa")
    keep_sample("inline query")
    chosen_result = {"result_id": "testa", "from": server.users[1], "query": "testa", "inline_message_id": "AAAA-1_x"}
    server.push(chosen_inline_result=chosen_result)
    keep_sample("chosen result")
    for name, new in (("member", {"status": "administrator"}), ("restricted", {"status": "restricted"})):
        member = {**member_fields, "old_chat_member": old_member, "new_chat_member": {**new, "user": BOT, **rights}}
        server.push(my_chat_member=member)
        keep_sample(name)
    return samples


def parse_update(update: Update) -> tuple[Any, ...] | None:
    """Return what the bot reads in an update, without optional fields."""
    if command := reading.read_command(update, ME):
        return command.key, command.person.id, command.word
    if update.message and update.message.migrate_to_chat_id:
        return reading.read_migration(update.message)
    if press := reading.read_press(update):
        return press.key, press.person.id, press.message, press.payload
    if update.guest_message:
        call = read_guest_call(update.guest_message, BOT["username"])
        return call and (call.query, call.person.id, call.typed)
    if query := update.inline_query:
        return query.id, reading.read_inline_query(query)[0].id
    if chosen := update.chosen_inline_result:
        person, offer, _typed, _place = reading.read_sent_offer(chosen)
        return offer, person.id
    if change := update.my_chat_member:
        return reading.place_of(change), change.from_user.id, change.new_chat_member.status
    return None


@pytest.mark.parametrize("kind", REQUIRED)
async def test_optional_fields_never_lose_an_update(server: TelegramServer, kind: str) -> None:
    sample, bot, lost_variants = make_samples(server)[kind], Bot("1:test"), []
    expected = parse_update(build_update(sample, bot))
    assert expected
    for change, variant in iter_variants(sample, REQUIRED[kind]):
        try:
            result: object = parse_update(build_update(variant, bot))
        except Exception as error:  # noqa: BLE001 - each error is a lost update
            result = error
        if result != expected:
            lost_variants.append((change, result))
    assert not lost_variants, f"adapters/telegram/reading.py fails without optional fields: {lost_variants}"


async def test_every_allowed_update_kind_has_a_sample(server: TelegramServer) -> None:
    kinds = {kind for sample in make_samples(server).values() for kind in sample} - {"update_id"}
    assert kinds == set(ALLOWED_UPDATES), "make_samples() in this file lacks a kind of adapters/telegram/polling.py"


async def test_reply_to_deleted_account_is_handled(store: Store, server: TelegramServer) -> None:
    anna, bruno, group = Person(server, 1, "Anna"), Person(server, 2, "Bruno"), server.group(GROUP)
    async with on_telegram(store, server):
        message = server.write(group, bruno.number, "ciao")
        server.users[2]["first_name"] = ""
        anna.say("/challenge metamazzo", reply_to_message=message)
        await until(lambda: anna.button("Join", group) is not None)
