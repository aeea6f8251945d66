"""Reads Discord's interactions for the card room.

A server's channel is the place ``discord:server/channel``, so that a server with all its channels is one chat. A
private chat is ``discord:@user``. A channel is ``discord:guest<channel>`` if the bot is not a member there, because a
person has installed it for themselves. There it can write only while an interaction's token is valid.
"""

import re
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import discord

from adapters.discord.limits import TOKEN_SECONDS
from bot.places import GUEST, Place
from bot.platform import Command, Person, Press

PLATFORM = "discord"

ANSWER_SECONDS = 4  # time after which an interaction can no longer be answered; Discord allows three seconds

# A button's custom id: a payload, and a number if one panel has the same payload twice.
CUSTOM_ID = re.compile(r"(?P<payload>1[mtp].*?)(?:~[0-9]+)?", re.DOTALL)

Interaction = discord.Interaction[discord.Client]


class InteractionToken(NamedTuple):
    """Permission to write where an interaction came from. ``since`` is its time, in Unix seconds."""

    interaction: str
    value: str
    since: int

    @classmethod
    def parse(cls, text: str) -> "InteractionToken":
        since, _, rest = text.partition(".")
        interaction, _, token = rest.partition(".")
        return cls(interaction, token, int(since or 0))

    def __str__(self) -> str:
        return f"{self.since}.{self.interaction}.{self.value}"

    @property
    def is_young(self) -> bool:
        """True if the interaction can still be waiting for its answer."""
        return self.age < ANSWER_SECONDS

    @property
    def is_valid(self) -> bool:
        return self.age < TOKEN_SECONDS

    @property
    def age(self) -> float:
        # A token can be from the future if the clock was set back, or if another worker's clock is ahead.
        return abs(time.time() - self.since)


def is_complete(interaction: Interaction) -> bool:
    """Return whether the interaction has a person, a place and a token. The library does not check them."""
    token: object = interaction.token
    has_token = isinstance(token, str) and token.isascii()
    has_place = is_private_chat(interaction) or interaction.channel_id is not None
    return has_token and has_place and hasattr(interaction.user, "id")


def person_of(user: discord.User | discord.Member, language: str = "") -> Person:
    # The library does not check that names are text.
    return Person(f"{PLATFORM}:{user.id}", str(user.display_name), str(user.name), language)


def presser_of(interaction: Interaction) -> Person:
    return person_of(interaction.user, locale_of(interaction))


def locale_of(interaction: Interaction) -> str:
    """Return the client's locale, which can be any value if the library does not know it."""
    return str(interaction.locale.value)


def token_of(interaction: Interaction) -> InteractionToken:
    return InteractionToken(str(interaction.id), interaction.token, int(time.time()))


def place_of(interaction: Interaction) -> str:
    """Return the channel of an interaction, even if its message is ephemeral."""
    if is_private_chat(interaction):
        return str(Place(PLATFORM, person=str(interaction.user.id)))
    if interaction.guild_id and interaction.client.get_guild(interaction.guild_id):
        return str(Place(PLATFORM, str(interaction.guild_id), str(interaction.channel_id)))
    return str(Place(PLATFORM, f"{GUEST}{interaction.channel_id}"))


def is_private_chat(interaction: Interaction) -> bool:
    """Return whether the interaction came from a private chat with the bot, not from one between people."""
    return interaction.guild_id is None and bool(interaction.context.dm_channel)


def ephemeral_place_of(interaction: Interaction) -> str:
    """Return the place that only this person sees in the channel, or "" in the private chat."""
    if is_private_chat(interaction):
        return ""
    user, token = str(interaction.user.id), str(token_of(interaction))
    return str(Place(PLATFORM, str(interaction.channel_id), person=user, token=token))


def read_command(interaction: Interaction, word: str, arguments: Iterable[str], named: discord.User | None) -> Command:
    """Return a slash command or context menu command as the card room reads it. ``named`` is the person it is about."""
    # Discord tells a server's name only to a bot that is its member.
    guild = interaction.client.get_guild(interaction.guild_id) if interaction.guild_id else None
    return Command(
        key=f"dc{interaction.id}",
        person=presser_of(interaction),
        place=place_of(interaction),
        word=word,
        words=tuple(filter(None, arguments)),
        about=(person_of(named),) if named else (),
        ephemeral=ephemeral_place_of(interaction),
        chat_name=str(guild.name or "") if guild else "",
    )


def read_press(interaction: Interaction) -> Press | None:
    """Return the press, or None if the button is not the bot's. Raises LIBRARY_ERRORS for an unreadable message."""
    data: Any = interaction.data or {}
    custom_id = str(data.get("custom_id", ""))
    found = CUSTOM_ID.fullmatch(custom_id)
    if interaction.message is None or found is None:
        return None
    ephemeral = ephemeral_place_of(interaction)
    place = ephemeral if ephemeral and interaction.message.flags.ephemeral else place_of(interaction)
    is_admin = None
    if interaction.guild_id is not None:
        # The member's permissions in the channel: docs.discord.com/developers/resources/guild#guild-member-object
        is_admin = interaction.permissions.manage_guild or interaction.permissions.administrator
    return Press(
        key=f"dc{interaction.id}",
        person=presser_of(interaction),
        place=place,
        message=str(interaction.message.id),
        payload=found["payload"],
        ephemeral=ephemeral,
        genuine=custom_id in _custom_ids(interaction.message.components),
        is_admin=is_admin,
    )


def _custom_ids(components: Iterable[Any]) -> Iterator[str]:
    """Yield the custom ids of a message's buttons. Discord sends the message, so a client cannot forge them."""
    for component in components:
        if custom_id := getattr(component, "custom_id", None):
            yield custom_id
        yield from _custom_ids(getattr(component, "children", ()))


def ephemeral_token(place: str) -> InteractionToken:
    return InteractionToken.parse(Place.parse(place).token)


def channel_of(place: str) -> str:
    """Return the channel of a place, or ``@user`` for a private chat, whose channel differs for each application."""
    where = Place.parse(place)
    return where.part or where.chat.removeprefix(GUEST) or f"@{where.person}"


def is_guest(place: str) -> bool:
    return Place.parse(place).is_guest
