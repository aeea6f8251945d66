"""Private chats: which channel is whose."""

from typing import Any

from cachetools import LRUCache

from adapters.discord.errors import Meaning
from adapters.discord.reading import PLATFORM
from adapters.discord.rest import Rest
from bot.platform import NotDone, Trouble, private_place
from bot.privacy.kept import Kept

KNOWN = "discord:private"
"""A hash: channels by user."""

REMEMBERED = 50_000


def kept_of(person: str) -> list[Kept]:
    """What is kept of a person: the channel of their private chat."""
    return [Kept(KNOWN, person.partition(":")[2])]


class PrivateChats:
    """Channels of private chats, asked for once each: Discord does not like it to be asked often."""

    def __init__(self, rest: Rest, client: Any) -> None:
        self._rest, self._client = rest, client
        self._remembered: LRUCache[str, str] = LRUCache(REMEMBERED)

    async def channel(self, user: str, wrong: str = "") -> str:
        """The channel of somebody's private chat. It says nothing about whether they take messages there.

        ``wrong`` is the one that was known so far, if Discord knows no such channel or does not show it to the bot.
        """
        channel = self._remembered.get(user, wrong)
        if channel == wrong:
            stored = (await self._client.hget(KNOWN, user) or b"").decode()
            if stored not in ("", wrong):
                channel = stored
            else:
                channel = await self._open(user)
                await self._client.hset(KNOWN, user, channel)
            self._remembered[user] = channel
        return channel

    async def _open(self, user: str) -> str:
        try:
            with Meaning(private_place(f"{PLATFORM}:{user}")):
                return await self._rest.private_channel(user)
        except NotDone:
            raise
        except Trouble as error:
            # There was nowhere yet to send anything to.
            raise NotDone(str(error)) from None
