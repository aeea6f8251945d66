"""The web pages as a platform: table pages are live, so no messages are sent."""

from adapters.web.live import Live
from adapters.web.people import PLATFORM
from adapters.web.site import Site
from adapters.web.tables import Tables
from bot.card_room import CardRoom
from bot.panel import Panel
from bot.platform import NotDelivered, RateLimit, SentMessage

PAGE = "page"  # the id of the only message a player has here: their table's page


class Web:
    """The adapter: `Tables` serves its pages, `Live` their WebSockets."""

    platform = PLATFORM
    has_ephemeral = False
    shows_pictures = False

    def __init__(self, card_room: CardRoom, site: Site) -> None:
        self._site = site
        self.tables = Tables(site, card_room)
        site.add(self.tables.routes)
        site.add(Live(site, card_room).routes)

    async def start(self) -> None:
        """Do nothing: the site is created before."""

    async def close(self) -> None:
        """Do nothing: the card room closes the store."""

    async def serve(self) -> None:
        """Wait: the playground adapter serves the site."""
        await self._site.wait_for_failure()

    @property
    def pages_url(self) -> str:
        return self._site.url

    @property
    def healthy(self) -> bool:
        return self._site.listening

    def rate_limit(self, place: str) -> RateLimit | None:
        return None

    def overall_rate_limit(self) -> RateLimit:
        return RateLimit()

    def invitation_url(self, code: str, place: str, message: str) -> str:
        return f"{self._site.url}/t/{code}"

    def has_admins(self, place: str) -> bool:
        return False

    async def is_admin(self, place: str, person: str) -> bool:
        raise NotDelivered("the web pages have no groups and no administrators")

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        """Send nothing: the table's page shows it."""
        return SentMessage(PAGE)

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        return sent

    async def delete(self, place: str, message: str) -> None:
        """Do nothing: there are no messages."""
