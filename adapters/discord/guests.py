"""Channels that the bot is not a member of. It writes there with interaction tokens, valid for a quarter of an hour."""

from typing import Any

from adapters.discord.reading import TOKEN_SECONDS, InteractionToken, channel_of
from bot.platform import ChatGone, MessageGone

PREFIX = "discord:pass"  # keys of tokens, by channel, and by channel and message


class GuestTokens:
    """The valid tokens, in the store, so that every worker can use them."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def keep(self, place: str, token: InteractionToken, message: str = "") -> bool:
        """Keep a token for a channel, and for a message pressed or sent with it. Return whether the channel had one."""
        keys = [self._key(place), *([self._key(place, message)] if message else [])]
        had = await self._client.exists(keys[0])
        for key in keys:
            await self._client.set(key, str(token), ex=int(TOKEN_SECONDS))
        return bool(had)

    async def get_for_channel(self, place: str) -> InteractionToken:
        return await self._get(self._key(place), ChatGone("nobody has spoken to the bot there of late"))

    async def get_for_message(self, place: str, message: str) -> InteractionToken:
        return await self._get(self._key(place, message), MessageGone("its token is good no more"))

    async def _get(self, key: str, error: Exception) -> InteractionToken:
        kept = await self._client.get(key)
        if kept is None:
            raise error
        return InteractionToken.parse(kept.decode())

    @staticmethod
    def _key(place: str, message: str = "") -> str:
        return f"{PREFIX}:{channel_of(place)}" + (f":{message}" if message else "")
