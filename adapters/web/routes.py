"""The addresses of the site's pages.

`live` adds ``/t/{code}/live``, `playground.server` the chat's ``/ticket`` and ``/ws``, `api.server` ``/api/v1`` and
`bot.running.monitoring` ``/healthz`` and ``/metrics``.
"""

from functools import partial

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef

from adapters.web import (
    daily_pages,
    pages,
    player_pages,
    puzzle_pages,
    replay_pages,
    settings_pages,
    sign_in,
    table_pages,
    watch_pages,
)
from adapters.web.site import COOKIE_CHECK, Site

ROUTES = (
    # Tables. A watch id would match the route of a code too, so it comes first.
    (web.get, "/", table_pages.home),
    (web.post, "/play", table_pages.play),
    (web.get, "/t/{watch_id:[A-Z0-9]+-[A-Z0-9]+}", watch_pages.show),
    (web.get, "/t/{code}", table_pages.table),
    (web.post, "/t/{code}", table_pages.sit),
    # Features
    (web.get, "/daily", daily_pages.show),
    (web.post, "/daily", daily_pages.play),
    (web.get, "/puzzle", puzzle_pages.show),
    (web.post, "/puzzle", puzzle_pages.answer),
    (web.get, "/leaderboard", player_pages.leaderboard),
    (web.get, "/p/{player_id}", player_pages.player),
    (web.get, "/settings", settings_pages.show),
    (web.post, "/settings", settings_pages.choose),
    # Signing in
    (web.get, "/in", sign_in.show_link),
    (web.post, "/in", sign_in.enter_by_link),
    (web.post, "/out", sign_in.sign_out),
    (web.get, "/app/{platform}", sign_in.show_app),
    (web.post, "/app/{platform}", sign_in.enter_by_app),
    (web.get, COOKIE_CHECK, sign_in.check_cookie),
    # Other pages
    (web.get, "/g/{game_id}", replay_pages.show),
    (web.get, "/chat", pages.chat),
    (web.get, "/go", pages.go),
    (web.get, "/how-to-play", pages.how_to_play),
    (web.get, "/rules", pages.rules),
    (web.get, "/rules/{topic}", pages.rules),
)


def page_routes(site: Site) -> list[AbstractRouteDef]:
    return [
        *(method(path, partial(handler, site)) for method, path, handler in ROUTES),
        web.get("/static/{version}/{name:.+}", site.assets.file),
        web.get("/cards/{version}/{deck}.svg", site.assets.cards),
    ]
