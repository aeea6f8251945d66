"""The playground's adapter: panels become its messages. `requests` handles what people do."""

from adapters.web.playground.chat_store import PLATFORM, ChatStore
from adapters.web.playground.server import Server
from adapters.web.site import Site, until_cancelled
from bot.card_room import CardRoom
from bot.panel import Panel
from bot.places import Place
from bot.platform import NotDelivered, RateLimit, SentMessage


class Playground:
    """The adapter: ``chat_store`` is the platform's state, ``server`` serves its page's WebSockets."""

    platform = PLATFORM
    has_ephemeral = False
    shows_pictures = True

    def __init__(self, card_room: CardRoom, site: Site) -> None:
        self.chat_store = ChatStore(card_room.redis)
        self.site = site
        self.server = Server(self.chat_store, card_room, site)
        site.add(self.server.routes)
        self._loaded = False

    async def start(self) -> None:
        await self.chat_store.load()
        self._loaded = True

    async def close(self) -> None:
        """Do nothing: the card room closes the store."""

    async def serve(self) -> None:
        """Serve the whole site until cancelled."""
        async with self.server.open():
            await until_cancelled()

    @property
    def pages_url(self) -> str:
        return self.site.url

    @property
    def healthy(self) -> bool:
        return self.site.listening

    def rate_limit(self, place: str) -> RateLimit:
        return RateLimit()

    def overall_rate_limit(self) -> RateLimit:
        return RateLimit()

    def invitation_url(self, code: str, place: str, message: str) -> str:
        return self.server.invitation(code)

    def has_admins(self, place: str) -> bool:
        return False

    async def is_admin(self, place: str, person: str) -> bool:
        raise NotDelivered("the playground's groups have no administrators")

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
