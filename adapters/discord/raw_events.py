"""Reads events about servers, or reduces them before the library reads them.

The library reads many fields that the bot never uses, and refuses an event if any of them is missing or has another
type. A server keeps only its id, name, availability, system channel and language. Interactions are read by
`adapters.discord.interactions`.
"""

from typing import Any

from adapters.discord.interactions import fields_of, read_id


def reduce_server(data: Any) -> Any:
    """Return the fields of a server (docs.discord.com/developers/events/gateway-events#guilds) that the bot needs."""
    if not isinstance(data, dict):
        return data
    name = {"name": data["name"]} if isinstance(data.get("name"), str) else {}
    is_away = {"unavailable": data["unavailable"]} if isinstance(data.get("unavailable"), bool) else {}
    channel = {"system_channel_id": data["system_channel_id"]} if read_id(data.get("system_channel_id")) else {}
    locale = {"preferred_locale": data["preferred_locale"]} if isinstance(data.get("preferred_locale"), str) else {}
    return {"id": data.get("id"), **name, **is_away, **channel, **locale}


def writable_server(data: Any) -> int | None:
    """Return the server of a changed channel, role or thread; None if the event names none or the thread is closed."""
    server = read_id(fields_of(data).get("guild_id"))
    if not server:
        return None
    thread = fields_of(data.get("thread_metadata"))
    is_closed = thread.get("archived") is True or thread.get("locked") is True
    return None if is_closed else int(server)
