"""The notification about a commit, sent to the worker that delivers the table.

The script that writes the entries publishes it (append.lua), so commits are announced in order and without another
round trip. The first line is JSON (`notification_header`). The next lines are the last entry that the writer knew, and
the new entries.
"""

import json
from typing import Any, NamedTuple, Self

NEW_LOG = -1  # the version in a notification about a rewritten log, which no reader has


class CommitNotification(NamedTuple):
    """``entries`` were added to a log that had this ``version`` and the entry ``last`` at its end.

    ``clock`` is as in `bot.store.Store.append`. ``details`` is that call's, or None.
    """

    code: str
    version: int
    clock: float | None
    details: Any
    last: bytes
    entries: list[bytes]

    @classmethod
    def parse(cls, message: bytes) -> Self:
        """Parse a message of a worker's channel. Raise ValueError if it is not a notification."""
        head, last, *entries = message.split(b"\n")
        code, version, clock, details = json.loads(head)
        return cls(code, version, clock, details, last, entries)


def notification_header(code: str, version: int, clock: float | None, details: object) -> str:
    """Return the first line of the message. ``details`` is any JSON value."""
    return json.dumps([code, version, clock, details])
