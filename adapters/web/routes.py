"""The addresses of the site's pages.

`table_socket` adds ``/t/{code}/live``, `playground.server` the chat's ``/ticket`` and ``/ws``, `api.server` ``/api/v1``
and `bot.running.monitoring` ``/healthz`` and ``/metrics``.
"""

from functools import partial

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef

from adapters.web import (
    app_sharing,
    block_pages,
    duel_pages,
    feature_pages,
    find_pages,
    installing,
    link_previews,
    lobby_pages,
    other_addresses,
    pages,
    player_pages,
    push,
    replay_pages,
    sign_in,
    table_pages,
    tournament_pages,
    watch_pages,
)
from adapters.web.site import COOKIE_CHECK, Site

ROUTES = (
    # Tables. A watch id would match the route of a code too, so it comes first.
    (web.get, "/", table_pages.home),
    (web.post, "/play", table_pages.play),
    (web.get, "/t/{watch_id:[A-Z0-9]+-[A-Z0-9]+}", watch_pages.show),
    (web.get, "/t/{watch_id:[A-Z0-9]+-[A-Z0-9]+}/log", watch_pages.show_log),
    (web.get, "/t/{watch_id:[A-Z0-9]+-[A-Z0-9]+}/rematch", watch_pages.find_rematch),
    (web.get, "/t/{code}", table_pages.table),
    (web.post, "/t/{code}", table_pages.sit),
    (web.post, "/t/{code}/anyone", lobby_pages.choose_openness),
    (web.post, "/t/{code}/decline", lobby_pages.decline),
    (web.post, "/challenge", lobby_pages.challenge),
    (web.get, "/lobby", lobby_pages.show),
    (web.get, "/blocks", block_pages.show),
    (web.post, "/blocks", block_pages.change),
    # Features
    (web.get, "/daily", feature_pages.show_daily),
    (web.post, "/daily", feature_pages.play_daily),
    (web.get, "/duel", duel_pages.show_all),
    (web.post, "/duel", duel_pages.open_duel),
    (web.get, "/match/{code}", duel_pages.show_match),
    (web.get, "/duel/{code}", duel_pages.show),
    (web.post, "/duel/{code}", duel_pages.play),
    (web.get, "/puzzle", feature_pages.show_puzzle),
    (web.post, "/puzzle", feature_pages.answer_puzzle),
    (web.get, "/learn", feature_pages.show_courses),
    (web.get, "/learn/{course}", feature_pages.show_lesson),
    (web.post, "/learn/{course}", feature_pages.tap_lesson),
    (web.get, "/tournaments", tournament_pages.show_all),
    (web.get, "/tournament/{code}", tournament_pages.show),
    (web.post, "/tournament/{code}", tournament_pages.change),
    (web.get, "/tournament/live/{code}", tournament_pages.show),
    (web.get, "/find", find_pages.show),
    (web.post, "/find", find_pages.stop),
    (web.get, "/find/state", find_pages.state),
    (web.get, "/leaderboard", player_pages.leaderboard),
    (web.get, "/p/{player_id}", player_pages.player),
    (web.get, "/settings", feature_pages.show_settings),
    (web.post, "/settings", feature_pages.choose_settings),
    (web.post, "/push", push.choose),
    # Signing in
    (web.get, "/in", sign_in.show_link),
    (web.post, "/in", sign_in.enter_by_link),
    (web.post, "/out", sign_in.sign_out),
    (web.get, "/app/{platform}", sign_in.show_app),
    (web.post, "/app/{platform}", sign_in.enter_by_app),
    (web.post, "/app/{platform}/share", app_sharing.prepare),
    (web.get, COOKIE_CHECK, sign_in.check_cookie),
    # The installed site
    (web.get, "/manifest.webmanifest", installing.manifest),
    (web.get, "/icon/{name}.png", installing.show_icon),
    (web.get, "/sw.js", installing.service_worker),
    (web.get, installing.OFFLINE, installing.offline),
    # Other pages
    (web.get, "/g/{game_id}", replay_pages.show),
    (web.get, "/g/{game_id}/costliest", replay_pages.costliest),
    (web.post, "/g/{game_id}/costliest", replay_pages.costliest),
    (web.get, "/picture/{language}/{kind}/{id}.png", link_previews.show_picture),
    (web.get, "/chat", pages.chat),
    (web.get, "/go", pages.go),
    (web.get, "/notice", pages.notice),
    (web.get, "/how-to-play", pages.how_to_play),
    (web.get, "/safety", pages.safety),
    (web.get, "/rules", pages.rules),
    (web.get, "/rules/{topic}", pages.rules),
)


def page_routes(site: Site) -> list[AbstractRouteDef]:
    return [
        *(method(path, partial(handler, site)) for method, path, handler in ROUTES),
        *(
            web.get(path, partial(other_addresses.redirect, site))
            for word, _page in other_addresses.other_addresses()
            for path in (f"/{word}", f"/{word}/{{rest:.+}}")
        ),
        web.get("/static/{version}/{name:.+}", site.assets.file),
        web.get("/cards/{version}/{deck}.svg", site.assets.cards),
    ]
