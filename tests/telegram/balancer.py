"""A load balancer in front of several workers with a webhook."""

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web


@asynccontextmanager
async def run_balancer(ports: list[int]) -> AsyncIterator[int]:
    """Forward each request to the next worker that answers. Yield the balancer's port."""
    next_ports = itertools.cycle(ports)

    async def forward(request: web.Request) -> web.Response:
        body = await request.read()
        async with aiohttp.ClientSession() as session:
            for _ in ports:
                url = f"http://127.0.0.1:{next(next_ports)}{request.path}"
                headers = {name: value for name, value in request.headers.items() if name.startswith("X-")}
                try:
                    async with session.post(url, data=body, headers=headers) as answer:
                        return web.Response(status=answer.status)
                except aiohttp.ClientError:
                    continue
        return web.Response(status=502)

    app = web.Application()
    app.router.add_post("/{path:.*}", forward)
    runner = web.AppRunner(app, shutdown_timeout=0.2)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield int(runner.addresses[0][1])
    await runner.cleanup()
