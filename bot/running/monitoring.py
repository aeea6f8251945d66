"""The HTTP endpoints /healthz and /metrics of a worker."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from bot.card_room import CardRoom
from bot.http.addresses import LOOPBACK, host_name, is_forwarded, is_own_name
from bot.http.connections import Connections, connection_limit
from bot.http.server import listen
from bot.settings import MONITORING_REMEDY

PATHS = ("/healthz", "/metrics")
SHARE_OF_FILES = 0.05  # maximum of connections, as a share of the files that the process can open

log = structlog.get_logger()


def add_monitoring(app: web.Application, card_room: CardRoom, host: str) -> None:
    """Serve both endpoints on an app that listens on ``host``.

    /healthz returns JSON, with status 200 while the worker is healthy and 503 otherwise. /metrics is for Prometheus.
    Requests through a reverse proxy are refused. The name in the request must be this machine's or permitted by the
    host. Any other name could belong to another site (DNS rebinding).
    """
    is_networked, permitted_names = host not in LOOPBACK, card_room.settings.permitted_monitoring_names

    def refuse_strangers(request: web.Request) -> None:
        if is_forwarded(request.headers, request.version):
            raise web.HTTPForbidden(text="Not available through a proxy: ask the worker itself.")
        hosts = request.headers.getall("Host", [])
        if len(hosts) != 1 or not is_own_name(host_name(hosts[0]), is_networked, permitted_names):
            raise web.HTTPForbidden(text="Not available under this name: add it to BUONGIOCO_MONITORING_NAMES.")

    async def healthz(request: web.Request) -> web.Response:
        refuse_strangers(request)
        health = await card_room.check_health()
        return web.json_response(health, status=200 if health["healthy"] else 503)

    async def metrics(request: web.Request) -> web.Response:
        refuse_strangers(request)
        await card_room.update_metrics()
        return web.Response(body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    app.router.add_get(PATHS[0], healthz)
    app.router.add_get(PATHS[1], metrics)


@asynccontextmanager
async def monitoring(card_room: CardRoom) -> AsyncIterator[None]:
    """Serve both endpoints on their own port if the settings name one. Raise BadSetting if the port cannot be used."""
    host, port = card_room.settings.monitoring_host, card_room.settings.monitoring_port
    if port is None:
        yield
        return
    app = web.Application(client_max_size=1024)
    add_monitoring(app, card_room, host)
    connections = Connections(connection_limit(SHARE_OF_FILES))
    runner = await listen(app, host, port, "Monitoring", MONITORING_REMEDY, connections)
    try:
        log.info("monitoring_started", host=host, port=runner.addresses[0][1])
        yield
    finally:
        await runner.cleanup()
