"""The playground's adapter, which turns panels into messages."""

import asyncio

from adapters.web.playground.chat_store import PLATFORM, ChatStore
from adapters.web.playground.server import Server
from adapters.web.site import Site, SiteAdapter
from bot.panel import Panel
from bot.places import Place
from bot.platform import NotDelivered, SentMessage
from bot.rate_limiter import RateLimit


class Playground(SiteAdapter):
    """The adapter. ``chat_store`` is the platform's state, ``server`` serves the page's WebSockets."""

    platform = PLATFORM
    shows_pictures = True

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.chat_store = ChatStore(site.card_room.redis)
        self.server = Server(self.chat_store, site)
        site.routes += self.server.routes
        self._loaded = False

    async def start(self) -> None:
        await self.chat_store.load()
        self._loaded = True

    async def serve(self) -> None:
        """Serve the whole site until cancelled."""
        async with self.server.open():
            await asyncio.Event().wait()

    def rate_limit(self, place: str) -> RateLimit:
        return RateLimit()

    def invitation_url(self, code: str, place: str, message: str) -> str:
        return self.server.invitation(code)

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        return SentMessage(str(await self.chat_store.send(self._chat_id(place), panel, key)))

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        await self.chat_store.edit(self._chat_id(place), int(sent.message), panel)
        return sent

    async def delete(self, place: str, message: str) -> None:
        await self.chat_store.delete(self._chat_id(place), int(message))

    def _chat_id(self, place: str) -> str:
        if not self._loaded:
            raise NotDelivered("the playground has not started yet")
        parsed = Place.parse(place)
        return f"@{parsed.person}" if parsed.is_private else parsed.chat
