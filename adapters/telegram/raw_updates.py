"""Reduces Telegram's updates to the fields that the bot reads.

The library refuses an object if a required field is missing, or if any field has the wrong type. The bot reads few
fields, and most are optional, so the library gets only these. Unknown fields and unreadable optional fields are
dropped. The library still refuses an update without its id, or a message without its id or chat.
"""

from collections.abc import Callable
from typing import Any

from telegram import Bot, Chat, ChatMember, Update

Fields = dict[str, Any]

CHAT_TYPES = (Chat.PRIVATE, Chat.GROUP, Chat.SUPERGROUP, Chat.CHANNEL)
ANY_PHOTO = [{"file_id": "-", "file_unique_id": "-", "width": 1, "height": 1}]  # replaces each photo


def build_update(raw: Any, bot: Bot) -> Update:
    """Build the library's object from an update; raises the library's errors."""
    if not isinstance(raw, dict):
        return Update.de_json(raw, bot)
    fields = _present(update_id=raw.get("update_id"))
    for kind, reduce in REDUCERS.items():
        if (content := raw.get(kind)) is not None:
            # An update has at most one kind: core.telegram.org/bots/api#update
            fields[kind] = reduce(content) if isinstance(content, dict) else content
            break
    return Update.de_json(fields, bot)


def _texts(raw: Fields, *names: str) -> Fields:
    return {name: raw[name] for name in names if isinstance(raw.get(name), str)}


def _numbers(raw: Fields, *names: str) -> Fields:
    return {name: raw[name] for name in names if type(raw.get(name)) is int}


def _flags(raw: Fields, *names: str) -> Fields:
    return {name: True for name in names if raw.get(name) is True}


def _present(**fields: object) -> Fields:
    return {name: value for name, value in fields.items() if value is not None}


def _user(raw: Any) -> Fields | None:
    """Reduce a user. Return None without an id. A deleted account has an empty name."""
    if not isinstance(raw, dict) or type(raw.get("id")) is not int:
        return None
    optional = _texts(raw, "last_name", "username", "language_code")
    first_name = _texts(raw, "first_name").get("first_name", "")
    return {"id": raw["id"], "is_bot": raw.get("is_bot") is True, "first_name": first_name, **optional}


def _chat(raw: Any) -> Any:
    """Reduce a chat. A chat of an unknown type counts as a group."""
    if not isinstance(raw, dict) or type(raw.get("id")) is not int:
        return raw
    kind = raw.get("type")
    if kind not in CHAT_TYPES:
        # Ids of people are positive, ids of groups negative: core.telegram.org/api/bots/ids
        kind = Chat.PRIVATE if raw["id"] > 0 else Chat.SUPERGROUP
    return {"id": raw["id"], "type": kind, **_texts(raw, "title")}


def _entities(raw: Any, text: str) -> list[Fields]:
    """Reduce entities, and drop those outside the text; offsets count UTF-16 units."""
    end = len(text.encode("utf-16-le", "surrogatepass")) // 2
    entities = []
    for entity in raw if isinstance(raw, list) else ():
        if not isinstance(entity, dict) or not isinstance(entity.get("type"), str):
            continue
        span = _numbers(entity, "offset", "length")
        if len(span) == 2 and span["offset"] >= 0 and 0 < span["length"] <= end - span["offset"]:
            entities.append(
                {"type": entity["type"], **span, **_texts(entity, "url"), **_present(user=_user(entity.get("user")))}
            )
    return entities


def _message(raw: Fields) -> Fields:
    texts = _texts(raw, "text", "caption")
    entities = {
        name: _entities(raw.get(name), texts[text])
        for name, text in (("entities", "text"), ("caption_entities", "caption"))
        if text in texts
    }
    people = {"from": _user(raw.get("from")) or raw.get("from"), "via_bot": _user(raw.get("via_bot"))}
    # The bot only needs to know that the message was sent on behalf of a chat.
    sender = {"id": 0, "type": Chat.CHANNEL} if isinstance(raw.get("sender_chat"), dict) else None
    return {
        "message_id": raw.get("message_id"),
        "date": 0,
        **texts,
        **entities,
        **_present(chat=_chat(raw.get("chat")), sender_chat=sender, reply_to_message=_replied_message(raw), **people),
        **_numbers(raw, "message_thread_id", "migrate_to_chat_id", "ephemeral_message_id"),
        **_flags(raw, "is_topic_message", "is_automatic_forward"),
    }


def _replied_message(raw: Fields) -> Fields | None:
    """Reduce the message replied to. Return None for a post of a chat, and for the message that began a topic.

    Comments on posts and messages in topics can look like replies to these.
    """
    replied = raw.get("reply_to_message")
    if not isinstance(replied, dict) or replied.get("sender_chat") or "forum_topic_created" in replied:
        return None
    author = _user(replied.get("from"))
    return author and {"message_id": 0, "date": 0, **_present(chat=_chat(raw.get("chat"))), "from": author}


def _query(raw: Fields) -> Fields:
    message = raw.get("message")
    payload = _texts(raw, "data")
    pressed_message = _pressed_message(message, payload.get("data")) if isinstance(message, dict) else None
    return {
        "id": raw.get("id"),
        "from": _user(raw.get("from")),
        "chat_instance": _texts(raw, "chat_instance").get("chat_instance", ""),
        **payload,
        **_present(inline_message_id=raw.get("inline_message_id"), message=pressed_message),
    }


def _pressed_message(raw: Fields, payload: str | None) -> Fields:
    """Reduce a pressed message to its place and the pressed button. Texts and other buttons are expensive to read."""
    markup = raw.get("reply_markup")
    rows = markup.get("inline_keyboard") if isinstance(markup, dict) else None
    buttons = [button for row in rows if isinstance(row, list) for button in row] if isinstance(rows, list) else []
    has_button = any(isinstance(button, dict) and button.get("callback_data") == payload for button in buttons)
    keyboard = [[{"text": "-", "callback_data": payload}]]
    return {
        "message_id": raw.get("message_id"),
        # The date is 0 for core.telegram.org/bots/api#inaccessiblemessage
        "date": 0 if raw.get("date") == 0 else 1,
        **_present(chat=_chat(raw.get("chat"))),
        **_numbers(raw, "message_thread_id", "ephemeral_message_id"),
        **_flags(raw, "is_topic_message"),
        **({"photo": ANY_PHOTO} if raw.get("photo") else {}),
        **({"reply_markup": {"inline_keyboard": keyboard}} if payload and has_button else {}),
    }


def _typed_query(raw: Fields) -> Fields:
    """Reduce an inline query or a chosen result to its author and text."""
    return {"from": _user(raw.get("from")), "query": _texts(raw, "query").get("query", "")}


def _membership(raw: Fields) -> Fields:
    """Reduce a change of membership: was the bot a member before, and can it write now?"""
    old_status, new_status = (
        raw[name] if isinstance(raw.get(name), dict) else {} for name in ("old_chat_member", "new_chat_member")
    )
    was_member, can_write = _is_member(old_status), _is_member(new_status)
    if new_status.get("status") == ChatMember.RESTRICTED:
        can_write = can_write and new_status.get("can_send_messages") is True
    bot = {"id": 0, "is_bot": True, "first_name": ""}
    return {
        **_present(chat=_chat(raw.get("chat"))),
        "from": _user(raw.get("from")),
        "date": 0,
        "old_chat_member": {"status": ChatMember.MEMBER if was_member else ChatMember.LEFT, "user": bot},
        "new_chat_member": {"status": ChatMember.MEMBER if can_write else ChatMember.LEFT, "user": bot},
    }


def _is_member(member: Fields) -> bool:
    if member.get("status") == ChatMember.RESTRICTED:
        return member.get("is_member") is True
    return member.get("status") in (ChatMember.MEMBER, ChatMember.ADMINISTRATOR)


REDUCERS: dict[str, Callable[[Fields], Fields]] = {
    "message": _message,
    "callback_query": _query,
    "guest_message": lambda raw: {**_message(raw), **_texts(raw, "guest_query_id")},
    "inline_query": lambda raw: {"id": raw.get("id"), **_typed_query(raw), "offset": ""},
    "chosen_inline_result": lambda raw: {
        "result_id": raw.get("result_id"),
        **_typed_query(raw),
        **_texts(raw, "inline_message_id"),
    },
    "my_chat_member": _membership,
    # The library does not know this kind, and keeps its fields unchanged.
    "widget_query": lambda raw: {
        **_texts(raw, "id", "data"),
        **_numbers(raw, "message_id"),
        **_present(**{"from": _user(raw.get("from")), "chat": _chat(raw.get("chat"))}),
    },
}
