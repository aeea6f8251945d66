"""The channels of private chats."""

import asyncio
from typing import Any

from cachetools import LRUCache

from adapters.discord.errors import delivery_errors
from adapters.discord.reading import PLATFORM
from adapters.discord.rest import Rest
from bot.identity.adapter_data import StoredField
from bot.platform import NotDelivered, PlatformFailure, private_place

CHANNELS_KEY = "discord:private"  # a hash: channels by user
REMEMBERED = 50_000


def kept_of(person: str) -> list[StoredField]:
    """Return a person's stored data: the channel of their private chat."""
    return [StoredField(CHANNELS_KEY, person.partition(":")[2])]


class PrivateChats:
    """Opens private chats, once each: Discord limits how often a bot can do so."""

    def __init__(self, rest: Rest, client: Any) -> None:
        self._rest, self._client = rest, client
        self._remembered: LRUCache[str, str] = LRUCache(REMEMBERED)
        self._asking: dict[tuple[str, str], asyncio.Task[str]] = {}

    async def channel(self, user: str, wrong: str = "") -> str:
        """Return the channel of a person's private chat. They can still refuse messages.

        ``wrong`` is a known channel that Discord denies to exist or to be visible to the bot.
        """
        channel = self._remembered.get(user, wrong)
        if channel != wrong:
            return channel
        # Several tables of one person can ask at once.
        asking = self._asking.get((user, wrong))
        if asking is None:
            asking = self._asking[user, wrong] = asyncio.create_task(self._load(user, wrong))
            asking.add_done_callback(lambda _done: self._asking.pop((user, wrong)))
        return await asyncio.shield(asking)

    async def _load(self, user: str, wrong: str) -> str:
        self._remembered.pop(user, None)
        channel = (await self._client.hget(CHANNELS_KEY, user) or b"").decode()
        if channel and channel == wrong:
            # Opening can be refused, and should not be tried again with the wrong channel.
            await self._client.hdel(CHANNELS_KEY, user)
            channel = ""
        if not channel:
            channel = await self._open(user)
            await self._client.hset(CHANNELS_KEY, user, channel)
        self._remembered[user] = channel
        return channel

    async def _open(self, user: str) -> str:
        try:
            with delivery_errors(private_place(f"{PLATFORM}:{user}")):
                return await self._rest.open_private_chat(user)
        except NotDelivered:
            raise
        except PlatformFailure as error:
            # There was no channel yet, so nothing was sent.
            raise NotDelivered(str(error)) from None
