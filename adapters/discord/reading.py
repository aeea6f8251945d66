"""What Discord's interactions mean to the card room.

Places: a server's channel is ``discord:server/channel``, so that a server with all its channels is one chat; the
private chat is ``discord:@user``. Where the bot is no member, because somebody uses it who has it installed for
themselves, a channel is ``discord:guest<channel>``: there it can only speak as long as an interaction's token lives.
"""

import re
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import discord

from bot.places import GUEST, Place
from bot.platform import Person, Press

PLATFORM = "discord"

TOKEN_SECONDS = 14.5 * 60
"""An interaction's token lives for 15 minutes; ours are given up a little earlier."""

ANSWER_SECONDS = 4
"""Within three an interaction is answered, or never."""

CUSTOM_ID = re.compile(r"(?P<payload>1[mtp].*?)(?:~[0-9]+)?", re.DOTALL)
"""What a button carries: a payload, and a number behind it where one panel has the same payload twice."""

Interaction = discord.Interaction[discord.Client]


class InteractionToken(NamedTuple):
    """Leave to speak where an interaction came from: its id and token, and when it was given, Unix seconds."""

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
        """Whether the interaction may still be waiting for its answer."""
        return self._age < ANSWER_SECONDS

    @property
    def is_valid(self) -> bool:
        return self._age < TOKEN_SECONDS

    @property
    def _age(self) -> float:
        # From the future come tokens from before the clock was set back, and those of another worker a moment ago.
        return abs(time.time() - self.since)


def is_complete(interaction: Interaction) -> bool:
    """Whether it says who did something, where, and by which token it is answered; the library looks at none of it."""
    token: object = interaction.token
    has_token = isinstance(token, str) and token.isascii()
    is_somewhere = is_private_chat(interaction) or interaction.channel_id is not None
    return has_token and hasattr(interaction.user, "id") and is_somewhere


def person_of(user: discord.User | discord.Member, language: str = "") -> Person:
    # The library does not look whether a name is a text.
    return Person(f"{PLATFORM}:{user.id}", str(user.display_name), str(user.name), language)


def presser_of(interaction: Interaction) -> Person:
    return person_of(interaction.user, locale_of(interaction))


def locale_of(interaction: Interaction) -> str:
    """What the client speaks. A locale that the library does not know may have any value."""
    return str(interaction.locale.value)


def token_of(interaction: Interaction) -> InteractionToken:
    return InteractionToken(str(interaction.id), interaction.token, int(time.time()))


def place_of(interaction: Interaction) -> str:
    """The channel where somebody did something, whether they alone see it or not."""
    if is_private_chat(interaction):
        return str(Place(PLATFORM, person=str(interaction.user.id)))
    if interaction.guild_id and interaction.client.get_guild(interaction.guild_id):
        return str(Place(PLATFORM, str(interaction.guild_id), str(interaction.channel_id)))
    return str(Place(PLATFORM, f"{GUEST}{interaction.channel_id}"))


def server_name_of(interaction: Interaction) -> str:
    """What the server is called where somebody did something; empty where there is none, or the bot is no member."""
    guild = interaction.client.get_guild(interaction.guild_id) if interaction.guild_id else None
    return str(guild.name or "") if guild else ""


def is_private_chat(interaction: Interaction) -> bool:
    """Whether it came from the private chat with the bot, and not from one among people."""
    return interaction.guild_id is None and bool(interaction.context.dm_channel)


def ephemeral_place_of(interaction: Interaction) -> str:
    """The place beside a channel where this person can be shown something alone; empty in the private chat."""
    if is_private_chat(interaction):
        return ""
    user, token = str(interaction.user.id), str(token_of(interaction))
    return str(Place(PLATFORM, str(interaction.channel_id), person=user, token=token))


def parse_press(interaction: Interaction) -> Press | None:
    """The press that an interaction is; None if the button is none of ours. AttributeError, TypeError or ValueError if
    the message that it was on cannot be read.
    """
    data: Any = interaction.data or {}
    custom_id = str(data.get("custom_id", ""))
    found = CUSTOM_ID.fullmatch(custom_id)
    if interaction.message is None or found is None:
        return None
    ephemeral = ephemeral_place_of(interaction)
    place = ephemeral if ephemeral and interaction.message.flags.ephemeral else place_of(interaction)
    key, payload = f"dc{interaction.id}", found["payload"]
    genuine = custom_id in _custom_ids(interaction.message.components)
    message, is_admin = str(interaction.message.id), is_admin_of(interaction)
    return Press(key, presser_of(interaction), place, message, payload, ephemeral, genuine, is_admin)


def is_admin_of(interaction: Interaction) -> bool | None:
    """Return whether somebody may manage the server where they did something; None if they were in no server.

    Discord tells each member's permissions in the channel, overwrites included
    (discord.com/developers/docs/resources/guild, "permissions" of a guild member in an interaction).
    """
    if interaction.guild_id is None:
        return None
    granted = interaction.permissions
    return granted.manage_guild or granted.administrator


def _custom_ids(components: Iterable[Any]) -> Iterator[str]:
    """What the buttons of a message carry. Discord tells of the message, and no client can make that up."""
    for one in components:
        if custom_id := getattr(one, "custom_id", None):
            yield custom_id
        yield from _custom_ids(getattr(one, "children", ()))


def ephemeral_token(place: str) -> InteractionToken:
    """The token of an ephemeral place."""
    return InteractionToken.parse(Place.parse(place).token)


def channel_of(place: str) -> str:
    """The channel of a place that is no private chat."""
    where = Place.parse(place)
    return where.part or where.chat.removeprefix(GUEST)


def message_url(place: str, message: str) -> str:
    """Where a message in a server's channel is, for whoever may see that channel, as the library's ``jump_url`` has it;
    empty elsewhere: of a channel where the bot is no member it does not know in which server it is.
    """
    where = Place.parse(place)
    if where.is_private or is_guest(place):
        return ""
    return f"https://discord.com/channels/{where.chat}/{where.part}/{message}"


def is_guest(place: str) -> bool:
    """Whether the bot is no member there."""
    return Place.parse(place).is_guest


def user_of(place: str) -> str:
    """Whose private chat a place is."""
    return Place.parse(place).person
