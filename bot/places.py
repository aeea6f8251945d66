"""Places: where a message stands. Their text is what is stored and handed about; nobody else writes or splits it.

| place | text |
|---|---|
| a group chat | ``platform:chat`` |
| a part of it: a forum's topic, a server's channel | ``platform:chat/part`` |
| a chat that the bot is not in, and where it can only answer, for a while | ``platform:guest<chat>`` |
| one message in a chat that the bot is not in | ``platform:~chat/message`` |
| a person's private chat with the bot | ``platform:@person`` |
| ephemeral: in a group, and one person alone sees it | ``platform:@person~chat/part!token`` |
"""

from dataclasses import dataclass, field
from functools import lru_cache

INLINE, GUEST = "~", "guest"
"""What the name of a chat begins with that the bot is not in: where it can change one message, and where it can answer
who has just spoken to it.
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message stands; its text by ``str(place)``, and from that by `parse`.

    ``chat`` and ``part`` are the group's, and ``person`` whoever alone sees what stands there, each as its platform
    calls them. ``token`` is what lets the bot speak at an ephemeral place for a while: the adapter's own business, and
    a secret. A place of which nothing is known is nowhere, and its text empty.
    """

    platform: str = ""
    chat: str = ""
    part: str = ""
    person: str = ""
    token: str = field(default="", repr=False)

    @staticmethod
    @lru_cache(maxsize=20_000)
    def parse(text: str) -> "Place":
        """The place that a text is of. Any text is some place's: what does not fit is for its platform to refuse."""
        platform, _, rest = text.partition(":")
        person = token = ""
        if rest.startswith("@"):
            rest, _, token = rest[1:].partition("!")
            person, _, rest = rest.partition("~")
        chat, _, part = rest.partition("/")
        return Place(platform, chat, part, person, token)

    def __str__(self) -> str:
        where = f"{self.chat}/{self.part}" if self.part else self.chat
        if not self.person:
            return f"{self.platform}:{where}" if self.platform else where
        beside = f"~{where}" if where else ""
        return f"{self.platform}:@{self.person}{beside}" + (f"!{self.token}" if self.token else "")

    @property
    def is_private(self) -> bool:
        """Whether one person alone sees what stands there."""
        return bool(self.person)

    @property
    def is_inline(self) -> bool:
        """Whether it is one message in a chat that the bot is not in: the only one there that it can change."""
        return not self.person and self.chat.startswith(INLINE)

    @property
    def is_guest(self) -> bool:
        """Whether it is in a chat that the bot is not in, and where it can only answer, for a while."""
        return self.chat.startswith(GUEST)

    @property
    def is_ephemeral(self) -> bool:
        """Whether it is in a group, and one person alone sees what stands there."""
        return bool(self.person and self.chat)
