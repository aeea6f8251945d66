"""Opens the channels of private chats, and remembers them."""

import asyncio
from typing import Any

from cachetools import LRUCache

from adapters.discord.errors import delivery_errors
from adapters.discord.places import PLATFORM
from adapters.discord.rest import Rest
from bot.identity.adapter_data import StoredField
from bot.platform import NotDelivered, PlatformFailure, private_place

CHANNELS_KEY = "discord:private"  # a hash: channels by user
CHANNELS_KEPT = 50_000


def list_stored_fields(person: str) -> list[StoredField]:
    return [StoredField(CHANNELS_KEY, person.partition(":")[2])]


class PrivateChats:
    """Opens each private chat once, because Discord limits how often a bot can do so."""

    def __init__(self, rest: Rest, client: Any) -> None:
        self._rest, self._client = rest, client
        self._channels: LRUCache[str, str] = LRUCache(CHANNELS_KEPT)
        self._loading: dict[tuple[str, str], asyncio.Task[str]] = {}

    async def channel(self, user: str, wrong_channel: str = "") -> str:
        """Return the channel of a person's private chat.

        ``wrong_channel`` is a stored channel to which the bot has no access. Raises a delivery error if Discord does
        not open the chat.
        """
        channel = self._channels.get(user, wrong_channel)
        if channel != wrong_channel:
            return channel
        # Several of a person's tables can need the channel at once.
        loading = self._loading.get((user, wrong_channel))
        if loading is None:
            loading = self._loading[user, wrong_channel] = asyncio.create_task(self._load(user, wrong_channel))
            loading.add_done_callback(lambda _done: self._loading.pop((user, wrong_channel)))
        return await asyncio.shield(loading)

    async def _load(self, user: str, wrong: str) -> str:
        self._channels.pop(user, None)
        channel = (await self._client.hget(CHANNELS_KEY, user) or b"").decode()
        if channel and channel == wrong:
            # Delete the wrong channel now, because opening another one can fail.
            await self._client.hdel(CHANNELS_KEY, user)
            channel = ""
        if not channel:
            try:
                with delivery_errors(private_place(f"{PLATFORM}:{user}")):
                    channel = await self._rest.open_private_chat(user)
            except NotDelivered:
                raise
            except PlatformFailure as error:
                # There was no channel yet, so nothing was sent.
                raise NotDelivered(str(error)) from None
            await self._client.hset(CHANNELS_KEY, user, channel)
        self._channels[user] = channel
        return channel
