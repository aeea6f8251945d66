"""Web pages and the playground, a chat platform of our own, served at one address (`site`, `routes`)."""

from collections.abc import Sequence

from adapters.web.adapter import Web
from adapters.web.api.server import Api
from adapters.web.app_pages import AppPages
from adapters.web.cookie_check import CookieCheck
from adapters.web.player_pages import PlayerPages
from adapters.web.playground.adapter import Playground
from adapters.web.puzzle_pages import PuzzlePages
from adapters.web.replay_pages import Replays
from adapters.web.routes import common_routes
from adapters.web.settings_pages import OwnSettings
from adapters.web.sign_in import Entrance
from adapters.web.site import Site
from adapters.web.watch_pages import WatchPages
from bot.card_room import CardRoom
from bot.platform import Adapter


def make(card_room: CardRoom) -> Sequence[Adapter]:
    """Build the web adapters; none if the host has turned the playground off."""
    if not card_room.settings.playground:
        return []
    site = Site(card_room)
    site.add(WatchPages(site, card_room).routes)
    site.add(common_routes(site))
    api = Api(site, card_room)
    site.add(api.routes)
    site.on_closing.append(api.close)
    site.add(Replays(site, card_room).routes)
    site.add(PlayerPages(site, card_room).routes)
    site.add(PuzzlePages(site, card_room).routes)
    site.add(Entrance(site, card_room).routes)
    site.add(OwnSettings(site, card_room).routes)
    site.add(AppPages(site, card_room).routes)
    site.add(CookieCheck(site).routes)
    return [Playground(card_room, site), Web(card_room, site)]


__all__ = ["make"]
