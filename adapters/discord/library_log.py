"""Listens to the library's log for events that it reports nowhere else, and keeps them out of ours.

There would be thousands of lines while Discord is down.
"""

import logging
from collections.abc import Callable
from typing import NamedTuple

LOGGERS = ("discord.http", "discord.webhook.async_", "discord.client", "discord.shard")

RATE_LIMITED = ("rate limited", "Global rate limit")
RECONNECTS = ("Attempting a reconnect", "Failed to connect for shard_id")


class Listener(NamedTuple):
    """Callbacks for each rate limit hit and for each failed gateway connection, with its reason."""

    rate_limited: Callable[[], None]
    disconnected: Callable[[str], None]


class _Filter(logging.Filter):
    """Passes rate limits and reconnects to the listeners instead of the log."""

    def __init__(self) -> None:
        super().__init__()
        self.listeners: set[Listener] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        said = str(record.msg)
        is_limit, is_reconnect = (any(words in said for words in known) for known in (RATE_LIMITED, RECONNECTS))
        if not self.listeners or not (is_limit or is_reconnect):
            return True
        error = record.exc_info[0] if record.exc_info else None
        for listener in self.listeners:
            if is_limit:
                listener.rate_limited()
            else:
                listener.disconnected(error.__name__ if error else "no connection")
        return False


_filter = _Filter()
for name in LOGGERS:
    logging.getLogger(name).addFilter(_filter)


def add_listener(listener: Listener) -> None:
    """Add a listener. Tracing every request instead would cost a sixth of the bot's time."""
    _filter.listeners.add(listener)


def remove_listener(listener: Listener) -> None:
    _filter.listeners.discard(listener)
