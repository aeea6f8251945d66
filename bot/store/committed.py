"""What a commit tells the worker that delivers its table, where that is another one than wrote it.

The script that writes the entries publishes it (append.lua): so whatever is committed is told, in the order in which it
was, and costs no round trip of its own. First comes a line of JSON (`header`), then what the script was given: the last
entry that the writer knew, and each entry that it added.
"""

import json
from typing import Any, NamedTuple, Self

NEW_LOG = -1
"""The version before a commit that wrote the log anew: no reader's."""


class CommitNotification(NamedTuple):
    """``entries`` were added to a log at ``version``, whose last entry was ``last``.

    ``clock`` as for `bot.store.Store.append`. ``about`` is what the writer had to say about the commit, None for
    nothing.
    """

    code: str
    version: int
    clock: float | None
    details: Any
    last: bytes
    entries: list[bytes]

    @classmethod
    def parse(cls, message: bytes) -> Self:
        """What a message on a worker's channel says; ValueError where it says nothing of the kind."""
        head, last, *entries = message.split(b"\n")
        code, version, clock, about = json.loads(head)
        return cls(code, version, clock, about, last, entries)


def notification_header(code: str, version: int, clock: float | None, about: object) -> str:
    """The first line of the message; ``about`` is anything that JSON can hold."""
    return json.dumps([code, version, clock, about])
