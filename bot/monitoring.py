"""What those who watch machines ask a worker over HTTP: /healthz and /metrics."""

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from bot.platform import CardRoom
from bot.serving import is_forwarded

PATHS = ("/healthz", "/metrics")


def add_monitoring(app: web.Application, card_room: CardRoom) -> None:
    """Serve both: 200 and JSON while the worker does well, otherwise 503; and counts, for Prometheus.

    Whoever asks through a reverse proxy is refused: they are for those who reach the worker itself.
    """

    def refuse_strangers(request: web.Request) -> None:
        if is_forwarded(request.headers, request.version):
            raise web.HTTPForbidden(text="This is not shown through a proxy.")

    async def healthz(request: web.Request) -> web.Response:
        refuse_strangers(request)
        health = await card_room.healthy()
        return web.json_response(health, status=200 if health["healthy"] else 503)

    async def metrics(request: web.Request) -> web.Response:
        refuse_strangers(request)
        card_room.measure()
        return web.Response(body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    app.router.add_get(PATHS[0], healthz)
    app.router.add_get(PATHS[1], metrics)
