"""The session of the library: which requests go through aiohttp's own session."""

import aiohttp
import pytest
from aiohttp import web

from adapters.discord.session import RequestBody, Session

URL = "http://discord.test/channels/1/messages"


@pytest.mark.parametrize("body", [RequestBody(b"{}"), RequestBody(b"a form", "multipart/form-data; boundary=x")])
async def test_requests_go_through_the_proxy(body: RequestBody) -> None:
    got: list[tuple[str, bytes, str | None]] = []

    async def handle(request: web.BaseRequest) -> web.Response:
        got.append((str(request.url), await request.read(), request.headers.get("Content-Type")))
        return web.json_response({"id": "1"})

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    proxy = f"http://127.0.0.1:{runner.addresses[0][1]}"
    inner = aiohttp.ClientSession()
    try:
        async with Session(inner).request("POST", URL, data=body, headers={}, proxy=proxy) as response:
            assert await response.json() == {"id": "1"}
    finally:
        await inner.close()
        await runner.cleanup()
    assert got == [(URL, body.content, body.content_type)]
