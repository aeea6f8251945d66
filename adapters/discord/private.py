"""Private chats: which channel is whose."""

import asyncio
from typing import Any

from cachetools import LRUCache

from adapters.discord.errors import delivery_errors
from adapters.discord.reading import PLATFORM
from adapters.discord.rest import Rest
from bot.adapter_data import StoredField
from bot.platform import NotDelivered, PlatformFailure, private_place

CHANNELS_KEY = "discord:private"
"""A hash: channels by user."""

REMEMBERED = 50_000


def kept_of(person: str) -> list[StoredField]:
    """What is kept of a person: the channel of their private chat."""
    return [StoredField(CHANNELS_KEY, person.partition(":")[2])]


class PrivateChats:
    """Channels of private chats, asked for once each: Discord does not like it to be asked often."""

    def __init__(self, rest: Rest, client: Any) -> None:
        self._rest, self._client = rest, client
        self._remembered: LRUCache[str, str] = LRUCache(REMEMBERED)
        self._asking: dict[tuple[str, str], asyncio.Task[str]] = {}

    async def channel(self, user: str, wrong: str = "") -> str:
        """The channel of somebody's private chat. It says nothing about whether they take messages there.

        ``wrong`` is the one that was known so far, if Discord knows no such channel or does not show it to the bot.
        """
        channel = self._remembered.get(user, wrong)
        if channel != wrong:
            return channel
        # The hands of one person at several tables ask together.
        asking = self._asking.get((user, wrong))
        if asking is None:
            asking = self._asking[user, wrong] = asyncio.create_task(self._load(user, wrong))
            asking.add_done_callback(lambda _done: self._asking.pop((user, wrong)))
        return await asyncio.shield(asking)

    async def _load(self, user: str, wrong: str) -> str:
        self._remembered.pop(user, None)
        channel = (await self._client.hget(CHANNELS_KEY, user) or b"").decode()
        if channel and channel == wrong:
            # Opening may be refused, and then it need not be tried again.
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
            # There was nowhere yet to send anything to.
            raise NotDelivered(str(error)) from None
