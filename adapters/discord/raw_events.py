"""Repairs events before the library reads them.

The library reads many fields that the bot never uses, and refuses an event if any of them is missing or has another
type. In an interaction such a field gets a harmless value, but the person, the place and the token stay as Discord sent
them. A server keeps only its id, name, availability, system channel and language. Other events are read here instead of
by the library.
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
        "authorizing_integration_owners": {
            kind: owner
            for kind, owner in _dict_or_empty(data.get("authorizing_integration_owners")).items()
            if _is_id(kind) and _is_id(owner)
        },
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
    """Return the fields of a server (docs.discord.com/developers/events/gateway-events#guilds) that the bot needs."""
    if not isinstance(data, dict):
        return data
    name = {"name": data["name"]} if isinstance(data.get("name"), str) else {}
    is_away = {"unavailable": data["unavailable"]} if isinstance(data.get("unavailable"), bool) else {}
    channel = {"system_channel_id": data["system_channel_id"]} if _is_id(data.get("system_channel_id")) else {}
    locale = {"preferred_locale": data["preferred_locale"]} if isinstance(data.get("preferred_locale"), str) else {}
    return {"id": data.get("id"), **name, **is_away, **channel, **locale}


def writable_server(data: Any) -> int | None:
    """Return the server of a changed channel, role or thread; None if the event names none or the thread is closed."""
    if not isinstance(data, dict) or not _is_id(data.get("guild_id")):
        return None
    thread = _dict_or_empty(data.get("thread_metadata"))
    is_closed = thread.get("archived") is True or thread.get("locked") is True
    return None if is_closed else int(data["guild_id"])


def _is_id(value: object) -> bool:
    is_text = isinstance(value, str) and value.isascii() and value.isdecimal()
    return is_text or (type(value) is int and value >= 0)


def _id_or_zero(value: object) -> object:
    return value if _is_id(value) else "0"


def _int_or_zero(value: object) -> int:
    return value if type(value) is int else 0


def _dict_or_empty(value: object) -> Fields:
    return value if isinstance(value, dict) else {}


def _items_of_type(kind: type, values: object) -> list[Any]:
    return [value for value in values if isinstance(value, kind)] if isinstance(values, list) else []


def _repair_user(data: Fields) -> Fields:
    defaults = {"username": "", "discriminator": "0", "avatar": None}
    return {**defaults, **{name: value for name, value in data.items() if value is not None}}


def _repair_member(data: Fields) -> Fields:
    user = {"user": _repair_user(data["user"])} if isinstance(data.get("user"), dict) else {}
    return {
        **data,
        **user,
        "roles": [role for role in _items_of_type(str, data.get("roles")) if _is_id(role)],
        "flags": _int_or_zero(data.get("flags")),
        "permissions": _id_or_zero(data.get("permissions")),
    }


def _repair_channel(data: Fields) -> Fields:
    """Return an interaction's channel. The bot needs only its id, so any type can replace a missing one."""
    channel = _dict_or_empty(data.get("channel"))
    kind = channel.get("type")
    if type(kind) is not int:
        kind = PRIVATE_CHANNEL if data.get("guild_id") is None else TEXT_CHANNEL
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
    author = _dict_or_empty(data.get("author"))
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
    return [
        item | {"components": _repair_components(item["components"])} if "components" in item else item
        for item in _items_of_type(dict, data)
        if type(item.get("type")) is int
    ]


def _repair_data(data: Fields) -> Fields:
    resolved = data.get("resolved")
    if not isinstance(resolved, dict):
        return data
    repairs: dict[str, Callable[[Fields], Fields]] = {"users": _repair_user, "members": _repair_member}
    people = {
        name: {id_: repair(fields) if isinstance(fields, dict) else fields for id_, fields in resolved[name].items()}
        for name, repair in repairs.items()
        if isinstance(resolved.get(name), dict)
    }
    return {**data, "resolved": {**resolved, **people}}
