"""The web pages as a platform: table pages are live, so no messages are sent."""

from adapters.web.people import PLATFORM
from adapters.web.site import Site, SiteAdapter
from adapters.web.table_socket import Live
from bot.panel import Panel
from bot.platform import SentMessage
from bot.rate_limiter import RateLimit

PAGE = "page"  # the id of the only message a player has here: their table's page


class Web(SiteAdapter):
    platform = PLATFORM
    shows_pictures = False

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        site.routes += Live(site).routes

    async def start(self) -> None:
        """Do nothing: the site is created before."""

    async def serve(self) -> None:
        """Wait: the playground adapter serves the site."""
        await self.site.wait_for_failure()

    def rate_limit(self, place: str) -> RateLimit | None:
        return None

    def invitation_url(self, code: str, place: str, message: str) -> str:
        return f"{self.site.url}/t/{code}"

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        """Send nothing: the table's page shows it."""
        return SentMessage(PAGE)

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        return sent

    async def delete(self, place: str, message: str) -> None:
        """Do nothing: there are no messages."""
