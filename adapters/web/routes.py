"""The addresses of the site.

| address | page |
|---|---|
| ``/`` | the first page: play now, or with a friend; the reader's tables (`tables`) |
| ``/play`` | POST: open a table |
| ``/daily`` | the deal of the day; POST: play it; with ``?yesterday`` the last one's result |
| ``/t/{code}`` | a table, or its invitation; POST: sit down; live at ``/t/{code}/live``, a WebSocket |
| ``/chat`` | the playground's chat; its tickets and WebSockets at ``/ticket`` and ``/ws`` (`playground.server`) |
| ``/puzzle`` | an ending to solve; POST: answer it (`puzzle_pages`) |
| ``/cookies`` | redirects if the browser kept a new cookie, else says that it is missing (`cookie_check`) |
| ``/settings`` | the reader's language and cards (`settings_pages`) |
| ``/in``, ``/out`` | sign in by a link from a chat; sign out (`sign_in`) |
| ``/app/{platform}`` | the page of a chat platform's own app (`app_pages`) |
| ``/go`` | redirects to the table or game of a pasted code or link |
| ``/rules``, ``/rules/{topic}`` | the rules of a game |
| ``/static/{version}/{name}`` | scripts and styles, cached for ever |
| ``/cards/{version}/{deck}.svg`` | a deck's cards, cached for ever |
| ``/g/{game_id}`` | a finished game, step by step (`replay_pages`) |
| ``/t/{watch_id}`` | a table to watch (`watch_pages`) |
| ``/leaderboard``, ``/p/{player_id}`` | a leaderboard; a player's ratings and games (`player_pages`) |
| ``/api/v1`` | the API for programs (`api.operations`) |
| ``/healthz``, ``/metrics`` | monitoring (`bot.running.monitoring`) |
"""

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef

from adapters.web.pages import Pages
from adapters.web.site import Site


def common_routes(site: Site) -> list[AbstractRouteDef]:
    """Return the routes of `Pages` and `Assets`; the other routes are the attribute ``routes`` of their classes."""
    pages = Pages(site)
    return [
        web.get("/chat", pages.chat),
        web.get("/go", pages.go),
        web.get("/rules", pages.rules),
        web.get("/rules/{topic}", pages.rules),
        web.get("/static/{version}/{name:.+}", site.assets.file),
        web.get("/cards/{version}/{deck}.svg", site.assets.cards),
    ]
