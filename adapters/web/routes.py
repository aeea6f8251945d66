"""What stands where.

| address | what |
|---|---|
| ``/`` | the first page: play now, or with a friend; one's tables (`tables`) |
| ``/play`` | POST: a table is opened |
| ``/daily`` | the deal of the day, to be played by a POST; with ``?yesterday`` how the last one went |
| ``/t/{code}`` | a table, for who sits there or wants to sit down (POST); live at ``/t/{code}/live``, a WebSocket |
| ``/chat`` | the playground's chat; its tickets and WebSockets at ``/ticket`` and ``/ws`` (`playground.server`) |
| ``/puzzle`` | an ending to solve, to be answered by a POST (`puzzle_pages`) |
| ``/cookies`` | leads on whoever has kept a new cookie, and tells others that theirs is missing (`cookie_check`) |
| ``/settings`` | in which language one reads, and how one's cards look (`own_settings`) |
| ``/in``, ``/out`` | a browser becomes its person's own, and no more (`entrance`) |
| ``/app/{platform}`` | what a chat platform's own app opens (`app_pages`) |
| ``/go`` | leads to what a code or link stands for that somebody was given |
| ``/rules``, ``/rules/{game}`` | how a game is played |
| ``/static/{version}/{name}`` | scripts and styles, for ever |
| ``/cards/{version}/{deck}.svg`` | a deck's cards, for ever |
| ``/g/{game_id}`` | a finished game, step by step (`replays`) |
| ``/t/{watch_id}`` | a table, for those who do not sit there (`watch`) |
| ``/leaderboard``, ``/p/{player_id}`` | who is best, and how somebody has played (`players`) |
| ``/api/v1`` | the interface for programs (`api.operations`) |
| ``/healthz``, ``/metrics`` | for who watches machines (`bot.monitoring`) |
"""

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef

from adapters.web.pages import Pages
from adapters.web.site import Site


def common_routes(site: Site) -> list[AbstractRouteDef]:
    """What is the same for everybody; the others stand in `Tables.routes` and `playground.server.Server.routes`."""
    pages = Pages(site)
    return [
        web.get("/chat", pages.chat),
        web.get("/go", pages.go),
        web.get("/rules", pages.rules),
        web.get("/rules/{about}", pages.rules),
        web.get("/static/{version}/{name:.+}", site.assets.file),
        web.get("/cards/{version}/{deck}.svg", site.assets.cards),
    ]
