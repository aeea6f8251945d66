"""People on our pages as a platform: what stands at their tables they see live, so nothing is sent to them."""

from adapters.web.live import Live
from adapters.web.people import PLATFORM
from adapters.web.site import Site
from adapters.web.tables import Tables
from bot.card_room import CardRoom
from bot.panel import Panel
from bot.platform import NotDelivered, RateLimit, SentMessage

PAGE = "page"
"""What the only message is called that people have here: the page of a table."""


class Web:
    """The adapter. `Tables` are its pages, `Live` their WebSockets."""

    platform = PLATFORM
    has_ephemeral = False
    shows_pictures = False

    def __init__(self, card_room: CardRoom, site: Site) -> None:
        self._site = site
        self.tables = Tables(site, card_room)
        site.add(self.tables.routes)
        site.add(Live(site, card_room).routes)

    async def start(self) -> None:
        """Nothing: the site is there."""

    async def close(self) -> None:
        """Nothing: the store is not ours."""

    async def serve(self) -> None:
        """Wait: the playground serves the site."""
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
        raise NotDelivered("nobody administers groups here")

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        """Nothing is sent: who looks at the table's page has seen it already, and who comes to it will."""
        return SentMessage(PAGE)

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        return sent

    async def delete(self, place: str, message: str) -> None:
        """Nothing stands there."""
