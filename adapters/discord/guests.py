"""Tokens for channels where the bot is not a member.

With a token the bot can write there for a while after an interaction.
"""

from typing import Any

from adapters.discord.limits import TOKEN_SECONDS
from adapters.discord.places import InteractionToken, channel_of
from bot.platform import ChatGone, MessageGone

PREFIX = "discord:pass"  # start of the keys in the store; a channel follows, and sometimes a message


class GuestTokens:
    """The valid tokens, in the store, so that every worker can use them."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def keep(self, place: str, token: InteractionToken, message: str = "") -> bool:
        """Keep a token for a channel, and for ``message``, which was pressed or was sent with the token.

        Return whether the channel already had a token.
        """
        channel_key = self._key(place)
        had_token = await self._client.exists(channel_key)
        for key in (channel_key, self._key(place, message)) if message else (channel_key,):
            await self._client.set(key, str(token), ex=int(TOKEN_SECONDS))
        return bool(had_token)

    async def get(self, place: str, message: str = "") -> InteractionToken:
        """Return the token of a channel or a message. Raise ChatGone or MessageGone if it has none."""
        if token := await self._client.get(self._key(place, message)):
            return InteractionToken.parse(token.decode())
        raise MessageGone("its token has expired") if message else ChatGone("no recent interaction there")

    @staticmethod
    def _key(place: str, message: str = "") -> str:
        return f"{PREFIX}:{channel_of(place)}" + (f":{message}" if message else "")
