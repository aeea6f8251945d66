"""What those who watch machines ask a worker over HTTP: /healthz and /metrics."""

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from bot.house import House


def add_watching(app: web.Application, house: House) -> None:
    """Serve both: 200 and JSON while the worker does well, otherwise 503; and counts, for Prometheus."""

    async def healthz(_request: web.Request) -> web.Response:
        health = await house.healthy()
        return web.json_response(health, status=200 if health["healthy"] else 503)

    async def metrics(_request: web.Request) -> web.Response:
        house.measure()
        return web.Response(body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    app.router.add_get("/healthz", healthz)
    app.router.add_get("/metrics", metrics)
