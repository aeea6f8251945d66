"""Repairs events before the library reads them.

The library reads many fields that the bot never uses, and refuses an event if one is missing or has another type. In an
interaction such a field gets a harmless value. What the bot needs stays as Discord sent it: the person, the place and
the token. Only a server's id, name and availability are kept. Other events are read here instead of by the library.
"""

from collections.abc import Callable
from typing import Any

Fields = dict[str, Any]

TEXT_CHANNEL, PRIVATE_CHANNEL = 0, 1  # channel types: docs.discord.com/developers/resources/channel


def repair_interaction(data: Any) -> Any:
    """Return an interaction with readable optional fields. Other data is returned unchanged."""
    if not isinstance(data, dict):
        return data
    fields = {
        **data,
        "application_id": _id_or_zero(data.get("application_id")),
        "version": 1,
        "attachment_size_limit": _int_or_zero(data.get("attachment_size_limit")),
        "app_permissions": _id_or_zero(data.get("app_permissions")),
        "entitlements": [],
        "authorizing_integration_owners": _valid_owners(data.get("authorizing_integration_owners")),
    }
    for name, repair in {
        "user": _repair_user,
        "member": _repair_member,
        "message": _repair_message,
        "data": _repair_data,
    }.items():
        if isinstance(data.get(name), dict):
            fields[name] = repair(data[name])
    if _is_id(data.get("channel_id")):
        fields["channel"] = _repair_channel(data)
    return fields


def reduce_server(data: Any) -> Any:
    """Return the fields of a server that the bot needs. Other data is returned unchanged.

    Fields: docs.discord.com/developers/events/gateway-events#guilds
    """
    if not isinstance(data, dict):
        return data
    name = {"name": data["name"]} if isinstance(data.get("name"), str) else {}
    is_away = {"unavailable": data["unavailable"]} if isinstance(data.get("unavailable"), bool) else {}
    return {"id": data.get("id"), **name, **is_away}


def writable_server(data: Any) -> int | None:
    """Return the server of an event about changed permissions or a changed thread.

    None if the event names no server (optional for a channel), or if the thread takes no messages.
    """
    if not isinstance(data, dict) or not _is_id(data.get("guild_id")):
        return None
    thread = data["thread_metadata"] if isinstance(data.get("thread_metadata"), dict) else {}
    is_closed = thread.get("archived") is True or thread.get("locked") is True
    return None if is_closed else int(data["guild_id"])


def _is_id(value: object) -> bool:
    is_text = isinstance(value, str) and value.isascii() and value.isdecimal()
    return is_text or (type(value) is int and value >= 0)


def _id_or_zero(value: object) -> object:
    return value if _is_id(value) else "0"


def _int_or_zero(value: object) -> int:
    return value if type(value) is int else 0


def _items_of_type(kind: type, values: object) -> list[Any]:
    return [value for value in values if isinstance(value, kind)] if isinstance(values, list) else []


def _valid_owners(data: object) -> Fields:
    owners = data if isinstance(data, dict) else {}
    return {kind: owner for kind, owner in owners.items() if _is_id(kind) and _is_id(owner)}


def _repair_user(data: Fields) -> Fields:
    usual = {"username": "", "discriminator": "0", "avatar": None}
    return {**usual, **{name: value for name, value in data.items() if value is not None}}


def _repair_member(data: Fields) -> Fields:
    user = {"user": _repair_user(data["user"])} if isinstance(data.get("user"), dict) else {}
    roles = [role for role in _items_of_type(str, data.get("roles")) if _is_id(role)]
    own = {
        "roles": roles,
        "flags": _int_or_zero(data.get("flags")),
        "permissions": _id_or_zero(data.get("permissions")),
    }
    return {**data, **user, **own}


def _repair_channel(data: Fields) -> Fields:
    """Return the interaction's channel. The bot needs only its id, so an unknown type counts as a text channel."""
    channel = data["channel"] if isinstance(data.get("channel"), dict) else {}
    usual = PRIVATE_CHANNEL if data.get("guild_id") is None else TEXT_CHANNEL
    kind = channel.get("type") if type(channel.get("type")) is int else usual
    return {
        "name": "",
        "position": 0,
        **channel,
        "id": data["channel_id"],
        "type": kind,
        "permission_overwrites": _items_of_type(dict, channel.get("permission_overwrites")),
    }


def _repair_message(data: Fields) -> Fields:
    """Repair a pressed message. The bot reads its id, flags and buttons."""
    author = data["author"] if isinstance(data.get("author"), dict) else {}
    return {
        **data,
        "author": _repair_user({**author, "id": _id_or_zero(author.get("id"))}),
        "content": data.get("content") if isinstance(data.get("content"), str) else "",
        "type": _int_or_zero(data.get("type")),
        "flags": _int_or_zero(data.get("flags")),
        **{name: [] for name in ("mentions", "mention_roles", "attachments", "embeds")},
        "components": _repair_components(data.get("components")),
    }


def _repair_components(data: object) -> list[Fields]:
    found = [item for item in _items_of_type(dict, data) if type(item.get("type")) is int]
    return [
        item | {"components": _repair_components(item["components"])} if "components" in item else item
        for item in found
    ]


def _repair_data(data: Fields) -> Fields:
    resolved = data.get("resolved")
    if not isinstance(resolved, dict):
        return data
    repairs: dict[str, Callable[[Fields], Fields]] = {"users": _repair_user, "members": _repair_member}
    people = {
        name: {number: repair(one) if isinstance(one, dict) else one for number, one in resolved[name].items()}
        for name, repair in repairs.items()
        if isinstance(resolved.get(name), dict)
    }
    return {**data, "resolved": {**resolved, **people}}
