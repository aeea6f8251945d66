"""Repairs events before the library reads them.

The library reads many fields that the bot never uses, and refuses an event if one of them is missing or has another
type. In an interaction such a field gets a harmless value here. What the bot needs stays as Discord sent it: who did
what, where, and the token of the answer. Of a server only its id, its name and whether it is away are left. Other
events are read here and not by the library.
"""

from collections.abc import Callable
from typing import Any

Fields = dict[str, Any]

TEXT_CHANNEL, PRIVATE_CHANNEL = 0, 1
"""Types of channels: docs.discord.com/developers/resources/channel"""


def repair_interaction(said: Any) -> Any:
    """Return an interaction whose optional fields can all be read; anything else as it is."""
    if not isinstance(said, dict):
        return said
    fields = {
        **said,
        "application_id": _id_or_zero(said.get("application_id")),
        "version": 1,
        "attachment_size_limit": _int_or_zero(said.get("attachment_size_limit")),
        "app_permissions": _id_or_zero(said.get("app_permissions")),
        "entitlements": [],
        "authorizing_integration_owners": _valid_owners(said.get("authorizing_integration_owners")),
    }
    for name, repair in {
        "user": _repair_user,
        "member": _repair_member,
        "message": _repair_message,
        "data": _repair_data,
    }.items():
        if isinstance(said.get(name), dict):
            fields[name] = repair(said[name])
    if _is_id(said.get("channel_id")):
        fields["channel"] = _repair_channel(said)
    return fields


def reduce_server(said: Any) -> Any:
    """Return what the bot needs of a server; anything else as it is.

    Fields: docs.discord.com/developers/events/gateway-events#guilds
    """
    if not isinstance(said, dict):
        return said
    name = {"name": said["name"]} if isinstance(said.get("name"), str) else {}
    is_away = {"unavailable": said["unavailable"]} if isinstance(said.get("unavailable"), bool) else {}
    return {"id": said.get("id"), **name, **is_away}


def writable_server(said: Any) -> int | None:
    """Return the server of which an event says that permissions changed or that a thread changed.

    None if the event names no server (a channel may leave it out), or if the thread takes no messages.
    """
    if not isinstance(said, dict) or not _is_id(said.get("guild_id")):
        return None
    thread = said["thread_metadata"] if isinstance(said.get("thread_metadata"), dict) else {}
    is_closed = thread.get("archived") is True or thread.get("locked") is True
    return None if is_closed else int(said["guild_id"])


def _is_id(value: object) -> bool:
    is_text = isinstance(value, str) and value.isascii() and value.isdecimal()
    return is_text or (type(value) is int and value >= 0)


def _id_or_zero(value: object) -> object:
    return value if _is_id(value) else "0"


def _int_or_zero(value: object) -> int:
    return value if type(value) is int else 0


def _items_of_type(kind: type, values: object) -> list[Any]:
    return [one for one in values if isinstance(one, kind)] if isinstance(values, list) else []


def _valid_owners(said: object) -> Fields:
    owners = said if isinstance(said, dict) else {}
    return {kind: owner for kind, owner in owners.items() if _is_id(kind) and _is_id(owner)}


def _repair_user(said: Fields) -> Fields:
    usual = {"username": "", "discriminator": "0", "avatar": None}
    return {**usual, **{name: value for name, value in said.items() if value is not None}}


def _repair_member(said: Fields) -> Fields:
    user = {"user": _repair_user(said["user"])} if isinstance(said.get("user"), dict) else {}
    roles = [role for role in _items_of_type(str, said.get("roles")) if _is_id(role)]
    own = {
        "roles": roles,
        "flags": _int_or_zero(said.get("flags")),
        "permissions": _id_or_zero(said.get("permissions")),
    }
    return {**said, **user, **own}


def _repair_channel(said: Fields) -> Fields:
    """Return the channel of an interaction. The bot only asks for its id, so another kind counts as a text channel."""
    channel = said["channel"] if isinstance(said.get("channel"), dict) else {}
    usual = PRIVATE_CHANNEL if said.get("guild_id") is None else TEXT_CHANNEL
    kind = channel.get("type") if type(channel.get("type")) is int else usual
    return {
        "name": "",
        "position": 0,
        **channel,
        "id": said["channel_id"],
        "type": kind,
        "permission_overwrites": _items_of_type(dict, channel.get("permission_overwrites")),
    }


def _repair_message(said: Fields) -> Fields:
    """Repair a pressed message. The bot asks for its id, its flags and its buttons."""
    author = said["author"] if isinstance(said.get("author"), dict) else {}
    return {
        **said,
        "author": _repair_user({**author, "id": _id_or_zero(author.get("id"))}),
        "content": said.get("content") if isinstance(said.get("content"), str) else "",
        "type": _int_or_zero(said.get("type")),
        "flags": _int_or_zero(said.get("flags")),
        **{name: [] for name in ("mentions", "mention_roles", "attachments", "embeds")},
        "components": _repair_components(said.get("components")),
    }


def _repair_components(said: object) -> list[Fields]:
    found = [one for one in _items_of_type(dict, said) if type(one.get("type")) is int]
    return [
        {**one, "components": _repair_components(one["components"])} if "components" in one else one for one in found
    ]


def _repair_data(said: Fields) -> Fields:
    """Repair the people that a command names."""
    resolved = said.get("resolved")
    if not isinstance(resolved, dict):
        return said
    repairs: dict[str, Callable[[Fields], Fields]] = {"users": _repair_user, "members": _repair_member}
    people = {
        name: {number: repair(one) if isinstance(one, dict) else one for number, one in resolved[name].items()}
        for name, repair in repairs.items()
        if isinstance(resolved.get(name), dict)
    }
    return {**said, "resolved": {**resolved, **people}}
