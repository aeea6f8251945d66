"""Listens to the library's log for events that it reports nowhere else, and keeps them out of the bot's log.

Otherwise an outage of Discord would log thousands of lines. Tracing every request instead would take a sixth of the
bot's time.
"""

import logging
from collections.abc import Callable
from typing import NamedTuple

RATE_LIMITED = ("rate limited", "Global rate limit")
RECONNECTS = ("Attempting a reconnect", "Failed to connect for shard_id")


class Listener(NamedTuple):
    """Callbacks for each rate limit hit and for each failed gateway connection, with its reason."""

    rate_limited: Callable[[], None]
    disconnected: Callable[[str], None]


listeners: set[Listener] = set()


def _pass_to_listeners(record: logging.LogRecord) -> bool:
    """Pass a rate limit or a reconnect to the listeners. Return whether the record still belongs in the log."""
    message = str(record.msg)
    is_limit, is_reconnect = (any(part in message for part in parts) for parts in (RATE_LIMITED, RECONNECTS))
    if not listeners or not (is_limit or is_reconnect):
        return True
    error = record.exc_info[0] if record.exc_info else None
    for listener in listeners:
        if is_limit:
            listener.rate_limited()
        else:
            listener.disconnected(error.__name__ if error else "no connection")
    return False


for name in ("discord.http", "discord.webhook.async_", "discord.client", "discord.shard"):
    logging.getLogger(name).addFilter(_pass_to_listeners)
