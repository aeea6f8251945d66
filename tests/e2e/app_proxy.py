"""A chat platform's web page that shows the site in a frame, with TLS."""

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

HOP = {"host", "connection", "upgrade", "transfer-encoding", "content-length", "content-encoding"}


class AppProxy:
    """A chat platform's web page at the name ``client``, and a proxy with TLS in front of the site at all others."""

    def __init__(self, port: int, client: str, page: str) -> None:
        self._site, self._client, self._page = f"http://127.0.0.1:{port}", client, page

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.host == self._client:
            return web.Response(text=self._page, content_type="text/html")
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP}
        headers = {name: value for name, value in headers.items() if not name.lower().startswith("sec-websocket")}
        headers |= {"Host": "cards.example.org", "X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7"}
        url = f"{self._site}{request.path_qs}"
        async with aiohttp.ClientSession() as session:
            if request.headers.get("Upgrade", "").lower() == "websocket":
                return await self._join(request, session, url, headers)
            options: dict[str, Any] = {"headers": headers, "data": await request.read(), "allow_redirects": False}
            async with session.request(request.method, url, **options) as answer:
                kept_headers = [(name, value) for name, value in answer.headers.items() if name.lower() not in HOP]
                return web.Response(body=await answer.read(), status=answer.status, headers=kept_headers)

    @staticmethod
    async def _join(
        request: web.Request, session: aiohttp.ClientSession, url: str, headers: dict[str, str]
    ) -> web.WebSocketResponse:
        browser = web.WebSocketResponse()
        await browser.prepare(request)

        async def copy(source: Any, target: Any) -> None:
            async for message in source:
                await target.send_str(message.data)
            await target.close()

        async with session.ws_connect(url, headers=headers) as site:
            await asyncio.gather(copy(browser, site), copy(site, browser))
        return browser

    @asynccontextmanager
    async def serve(self, folder: Path) -> AsyncIterator[int]:
        certificate, key = folder / "cert.pem", folder / "key.pem"
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        command += ["-keyout", str(key), "-out", str(certificate), "-subj", "/CN=discord.com"]
        subprocess.run(command, check=True, capture_output=True)
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(certificate, key)
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.handle)
        runner = web.AppRunner(app, shutdown_timeout=0.2)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        try:
            yield runner.addresses[0][1]
        finally:
            await runner.cleanup()
