"""Places of messages. Other modules store and pass their text, but never build or split it.

| place | text |
|---|---|
| a group chat | ``platform:chat`` |
| a part of it: a forum's topic, a server's channel | ``platform:chat/part`` |
| a chat without the bot, where it can answer for a while | ``platform:guest<chat>`` |
| an inline message in a chat without the bot | ``platform:~chat/message`` |
| a person's private chat with the bot | ``platform:@person`` |
| a topic in it, for new messages | ``platform:@person~/part`` |
| ephemeral: in a group, visible to one person | ``platform:@person~chat/part!token`` |
"""

from dataclasses import dataclass, field
from functools import lru_cache

INLINE = "~"  # prefix of chats without the bot where it can edit one message
GUEST = "guest"  # prefix of chats without the bot where it can answer for a while


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a message. ``str(place)`` is its text, and `parse` reads that.

    ``chat`` and ``part`` name the group, and ``person`` the only viewer, each by the platform's id. ``token`` is a
    secret of the adapter that lets the bot write at an ephemeral place for a while. An unknown place has an empty text.
    """

    platform: str = ""
    chat: str = ""
    part: str = ""
    person: str = ""
    token: str = field(default="", repr=False)

    @staticmethod
    @lru_cache(maxsize=20_000)
    def parse(text: str) -> "Place":
        """Parse any text. Platforms refuse places that do not exist."""
        platform, _, location = text.partition(":")
        person = token = ""
        if location.startswith("@"):
            location, _, token = location[1:].partition("!")
            person, _, location = location.partition("~")
        chat, _, part = location.partition("/")
        return Place(platform, chat, part, person, token)

    def __str__(self) -> str:
        location = f"{self.chat}/{self.part}" if self.part else self.chat
        if not self.person:
            return f"{self.platform}:{location}" if self.platform else location
        location_suffix = f"~{location}" if location else ""
        return f"{self.platform}:@{self.person}{location_suffix}" + (f"!{self.token}" if self.token else "")

    @property
    def is_private(self) -> bool:
        """True if only one person sees messages there."""
        return bool(self.person)

    @property
    def is_inline(self) -> bool:
        """True for a message in a chat without the bot: the only one there that the bot can edit."""
        return not self.person and self.chat.startswith(INLINE)

    @property
    def is_guest(self) -> bool:
        """True for a chat without the bot where it can answer for a while."""
        return self.chat.startswith(GUEST)

    @property
    def is_ephemeral(self) -> bool:
        """True for a place in a group that only one person sees."""
        return bool(self.person and self.chat)
