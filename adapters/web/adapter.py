"""The web pages as a platform: table pages are live, so a message only notifies a person's browsers."""

from adapters.web.people import PLATFORM
from adapters.web.site import Site, SiteAdapter
from adapters.web.table_socket import TableSockets
from bot.features.web_push.feature import WebPushFeature
from bot.panel import Panel
from bot.platform import NotDelivered, SentMessage, is_private, person_of
from bot.rate_limiter import RateLimit
from bot.store import STORE_ERRORS

PAGE = "page"  # the id of the only message a player has here: their table's page


class Web(SiteAdapter):
    platform = PLATFORM
    shows_pictures = False

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        site.routes += TableSockets(site).routes

    async def start(self) -> None:
        """Do nothing: the playground's adapter opens the site."""

    async def serve(self) -> None:
        """Wait, because the playground's adapter serves the site. Raise the error if it cannot listen."""
        await self.site.wait_for_failure()

    def rate_limit(self, place: str) -> RateLimit | None:
        return None

    def invitation_url(self, code: str, place: str, message: str) -> str:
        return f"{self.site.url}/t/{code}"

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        """Queue a notification for the person's browsers. The table's page shows the message itself."""
        if panel.notification and not silent and is_private(place):
            push = self.site.card_room.feature(WebPushFeature).sender
            try:
                await push.queue(person_of(place), panel.notification)
            except STORE_ERRORS as error:
                raise NotDelivered("the store is away") from error
        return SentMessage(PAGE)

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        return sent

    async def delete(self, place: str, message: str) -> None:
        """Do nothing: there are no messages."""
