"""Reduces Telegram's updates to the fields that the bot reads.

The library refuses an object if one of its fields is missing or has another type. The bot reads few of them, and most
are optional. So the library gets only those: an optional field that cannot be read is left out, and unknown fields are
dropped. A missing id or chat is left for the library to refuse.
"""

from collections.abc import Callable
from typing import Any

from telegram import Bot, Chat, ChatMember, Update

Fields = dict[str, Any]

CHAT_TYPES = (Chat.PRIVATE, Chat.GROUP, Chat.SUPERGROUP, Chat.CHANNEL)
ANY_PHOTO = [{"file_id": "-", "file_unique_id": "-", "width": 1, "height": 1}]
"""A photo as the library wants it. The bot only asks whether there is one."""


def update_of(said: Any, bot: Bot) -> Update:
    """Return the update as the library's object; raise what the library raises."""
    if not isinstance(said, dict):
        return Update.de_json(said, bot)
    fields = _optional("update_id", said.get("update_id"))
    for kind, reduced in REDUCERS.items():
        if (about := said.get(kind)) is not None:
            # An update has at most one of them: core.telegram.org/bots/api#update
            fields[kind] = reduced(about) if isinstance(about, dict) else about
            break
    return Update.de_json(fields, bot)


def _texts(said: Fields, *names: str) -> Fields:
    return {name: said[name] for name in names if isinstance(said.get(name), str)}


def _numbers(said: Fields, *names: str) -> Fields:
    return {name: said[name] for name in names if type(said.get(name)) is int}


def _flags(said: Fields, *names: str) -> Fields:
    return {name: True for name in names if said.get(name) is True}


def _optional(name: str, value: object) -> Fields:
    return {} if value is None else {name: value}


def _user(said: Any) -> Fields | None:
    """Reduce a user; None if there is no id. A deleted account has an empty name."""
    if not isinstance(said, dict) or type(said.get("id")) is not int:
        return None
    optional = _texts(said, "last_name", "username", "language_code")
    first_name = _texts(said, "first_name").get("first_name", "")
    return {"id": said["id"], "is_bot": said.get("is_bot") is True, "first_name": first_name, **optional}


def _chat(said: Any) -> Any:
    """Reduce a chat. A chat of a kind that did not exist when this was written counts as a group."""
    if not isinstance(said, dict) or type(said.get("id")) is not int:
        return said
    kind = said.get("type")
    if kind not in CHAT_TYPES:
        # Ids of people are positive, those of groups negative: core.telegram.org/api/bots/ids
        kind = Chat.PRIVATE if said["id"] > 0 else Chat.SUPERGROUP
    return {"id": said["id"], "type": kind, **_texts(said, "title")}


def _entities(said: Any, text: str) -> list[Fields]:
    """Reduce a text's entities to those that lie in the text; offsets count UTF-16 units."""
    end = len(text.encode("utf-16-le", "surrogatepass")) // 2
    found = []
    for one in said if isinstance(said, list) else ():
        if not isinstance(one, dict) or not isinstance(one.get("type"), str):
            continue
        place = _numbers(one, "offset", "length")
        if len(place) == 2 and place["offset"] >= 0 and 0 < place["length"] <= end - place["offset"]:
            about = {**_texts(one, "url"), **_optional("user", _user(one.get("user")))}
            found.append({"type": one["type"], **place, **about})
    return found


def _message(said: Fields) -> Fields:
    """Reduce a message that somebody wrote."""
    words = _texts(said, "text", "caption")
    entities = {
        name: found
        for name, text in (("entities", "text"), ("caption_entities", "caption"))
        if text in words and (found := _entities(said.get(name), words[text]))
    }
    people = {
        "from": _user(said.get("from")) or said.get("from"),
        "via_bot": _user(said.get("via_bot")),
        "sender_chat": _sender_chat(said),
        "reply_to_message": _replied_message(said),
    }
    return {
        "message_id": said.get("message_id"),
        "date": 0,
        **_optional("chat", _chat(said.get("chat"))),
        **words,
        **entities,
        **{name: value for name, value in people.items() if value is not None},
        **_numbers(said, "message_thread_id", "migrate_to_chat_id"),
        **_flags(said, "is_topic_message", "is_automatic_forward"),
    }


def _sender_chat(said: Fields) -> Fields | None:
    """Return the chat in whose name a message was written; its details do not matter."""
    return {"id": 0, "type": Chat.CHANNEL} if isinstance(said.get("sender_chat"), dict) else None


def _replied_message(said: Fields) -> Fields | None:
    """Return a message from the person that a message replies to; None if it replies to nobody.

    A comment below a channel's post replies to the post. In a forum each message replies to its topic's first one.
    """
    answered = said.get("reply_to_message")
    if not isinstance(answered, dict) or answered.get("sender_chat") or "forum_topic_created" in answered:
        return None
    writer = _user(answered.get("from"))
    return writer and {"message_id": 0, "date": 0, **_optional("chat", _chat(said.get("chat"))), "from": writer}


def _query(said: Fields) -> Fields:
    """Reduce a press."""
    message = said.get("message")
    payload = _texts(said, "data")
    shown = _optional("message", _pressed_message(message, payload.get("data")) if isinstance(message, dict) else None)
    return {
        "id": said.get("id"),
        "from": _user(said.get("from")),
        "chat_instance": _texts(said, "chat_instance").get("chat_instance", ""),
        **payload,
        **_optional("inline_message_id", said.get("inline_message_id")),
        **shown,
    }


def _pressed_message(said: Fields, payload: str | None) -> Fields:
    """Reduce a pressed message to its place, and to the pressed button if it has that one.

    Its text and its other buttons are the bot's own, and cost more to read than everything else.
    """
    return {
        "message_id": said.get("message_id"),
        # The date is 0 if Telegram tells nothing else: core.telegram.org/bots/api#inaccessiblemessage
        "date": 0 if said.get("date") == 0 else 1,
        **_optional("chat", _chat(said.get("chat"))),
        **_numbers(said, "message_thread_id", "ephemeral_message_id"),
        **_flags(said, "is_topic_message"),
        **({"photo": ANY_PHOTO} if said.get("photo") else {}),
        **_keyboard(said.get("reply_markup"), payload),
    }


def _keyboard(said: Any, payload: str | None) -> Fields:
    """Return a keyboard with the pressed button alone; nothing if that button is not there."""
    rows = said.get("inline_keyboard") if isinstance(said, dict) else None
    buttons = [button for row in rows if isinstance(row, list) for button in row] if isinstance(rows, list) else []
    if payload and any(isinstance(one, dict) and one.get("callback_data") == payload for one in buttons):
        return {"reply_markup": {"inline_keyboard": [[{"text": "-", "callback_data": payload}]]}}
    return {}


def _inline_query(said: Fields) -> Fields:
    return {
        "id": said.get("id"),
        "from": _user(said.get("from")),
        "query": _texts(said, "query").get("query", ""),
        "offset": "",
    }


def _chosen_result(said: Fields) -> Fields:
    return {
        "result_id": said.get("result_id"),
        "from": _user(said.get("from")),
        "query": _texts(said, "query").get("query", ""),
        **_texts(said, "inline_message_id"),
    }


def _membership(said: Fields) -> Fields:
    """Reduce a change of the bot's membership: a member is a bot that may write, whatever its other rights are."""
    status = ChatMember.MEMBER if _can_write(said.get("new_chat_member")) else ChatMember.LEFT
    bot = {"id": 0, "is_bot": True, "first_name": ""}
    return {
        **_optional("chat", _chat(said.get("chat"))),
        "from": _user(said.get("from")),
        "date": 0,
        "old_chat_member": {"status": ChatMember.LEFT, "user": bot},
        "new_chat_member": {"status": status, "user": bot},
    }


def _can_write(member: Any) -> bool:
    """Return whether a member of a chat may write there: core.telegram.org/bots/api#chatmember"""
    if not isinstance(member, dict):
        return False
    status = member.get("status")
    if status == ChatMember.RESTRICTED:
        return member.get("is_member") is True and member.get("can_send_messages") is True
    return status in (ChatMember.MEMBER, ChatMember.ADMINISTRATOR)


REDUCERS: dict[str, Callable[[Fields], Fields]] = {
    "message": _message,
    "callback_query": _query,
    "inline_query": _inline_query,
    "chosen_inline_result": _chosen_result,
    "my_chat_member": _membership,
}
"""The fields that are read of each kind of update."""
