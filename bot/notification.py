"""The notification of a message, for platforms that send it separately from the message."""

from typing import Literal, NamedTuple

NotificationKind = Literal["turn", "challenge", "daily", "tournament"]


class Notification(NamedTuple):
    """A notification. Locked screens show it, so ``text`` names no card.

    ``path`` is the page that it opens. ``about`` has the people whom the text names: /forget deletes it for each.
    """

    kind: NotificationKind
    text: str
    path: str
    about: tuple[str, ...] = ()
