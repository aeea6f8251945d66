"""Discord's places, and the tokens of interactions.

A server's channel is the place ``discord:server/channel``, so that a server with all its channels is one chat. A
private chat is ``discord:@user``. A channel is ``discord:guest<channel>`` if the bot is not a member there, because a
person has installed it for themselves. There the bot can write only while an interaction's token is valid.
"""

import time
from typing import NamedTuple

from adapters.discord.limits import TOKEN_SECONDS
from bot.places import GUEST, Place

PLATFORM = "discord"

ANSWER_SECONDS = 4  # time after which an interaction can no longer be answered; Discord allows three seconds


class InteractionToken(NamedTuple):
    """Permission to write where an interaction came from. ``since`` is its time, in Unix seconds."""

    interaction: str
    value: str
    since: int

    @classmethod
    def parse(cls, text: str) -> "InteractionToken":
        since, _, id_and_value = text.partition(".")
        interaction, _, token = id_and_value.partition(".")
        return cls(interaction, token, int(since or 0))

    def __str__(self) -> str:
        return f"{self.since}.{self.interaction}.{self.value}"

    @property
    def is_young(self) -> bool:
        """True if the interaction can still wait for its answer."""
        return self.age < ANSWER_SECONDS

    @property
    def is_valid(self) -> bool:
        return self.age < TOKEN_SECONDS

    @property
    def age(self) -> float:
        # A token can be from the future if the clock was set back, or if another worker's clock is ahead.
        return abs(time.time() - self.since)


def ephemeral_token(place: str) -> InteractionToken:
    return InteractionToken.parse(Place.parse(place).token)


def channel_of(place: str) -> str:
    """Return the channel of a place, or ``@user`` for a private chat, whose channel differs for each application."""
    parsed_place = Place.parse(place)
    return parsed_place.part or parsed_place.chat.removeprefix(GUEST) or f"@{parsed_place.person}"


def is_guest(place: str) -> bool:
    return Place.parse(place).is_guest
