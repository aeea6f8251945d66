"""Web pages and the playground, a chat platform of our own, served at one address (`site`, `routes`)."""

from collections.abc import Sequence

from adapters.web.adapter import Web
from adapters.web.api.server import Api
from adapters.web.playground.adapter import Playground
from adapters.web.routes import page_routes
from adapters.web.site import Site
from bot.card_room import CardRoom
from bot.platform import Adapter


def make(card_room: CardRoom) -> Sequence[Adapter]:
    """Build the web adapters; none if the host has turned the playground off."""
    if not card_room.settings.playground:
        return []
    site = Site(card_room)
    api = Api(site)
    site.routes += [*page_routes(site), *api.routes]
    site.on_closing.append(api.close)
    return [Playground(site), Web(site)]
