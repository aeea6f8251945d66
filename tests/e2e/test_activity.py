"""The Activity in Chromium: a page of Discord shows ours in a frame, through Discord's proxy."""

import asyncio
import json
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import aiohttp
from aiohttp import web

from bot.store import EmbeddedStore, open_store
from tests.browser import ONE_BROWSER, launch_browser
from tests.discord.players import seat_people, until
from tests.discord.server import BAR, CHANNEL, PATIENCE, DiscordServer
from tests.discord.test_activity import launch, with_activity

pytestmark = ONE_BROWSER

# The page of Discord's app. It answers the frame as github.com/discord/embedded-app-sdk (src/Discord.ts) expects it.
CLIENT = """
<!doctype html><style>body {{ margin: 0 }} iframe {{ border: 0; width: 100vw; height: 100vh }}</style>
<script>
const HANDSHAKE = 0, FRAME = 1, calls = [];
addEventListener("message", ({{ origin, source, data: [opcode, sent] }}) => {{
  if (origin !== "https://1000.discordsays.com") return;
  calls.push(sent);
  const answer = (content) => source.postMessage([FRAME, content], origin);
  if (opcode === HANDSHAKE && sent.v === 1 && sent.encoding === "json" && sent.client_id === "1000"
      && sent.frame_id === "frame")
    answer({{ cmd: "DISPATCH", evt: "READY", data: {{ v: 1, config: {{}} }}, nonce: null }});
  else if (sent.cmd === "AUTHORIZE" && sent.args.client_id === "1000" && sent.args.scope.join() === "identify")
    answer({{ cmd: "AUTHORIZE", evt: null, data: {{ code: {code} }}, nonce: sent.nonce }});
}});
</script>
<iframe src="https://1000.discordsays.com/?{query}"></iframe>
"""
HOP = {"host", "connection", "upgrade", "transfer-encoding", "content-length", "content-encoding"}


class DiscordProxy:
    """Discord's web page, and the proxy of discordsays.com in front of the site."""

    def __init__(self, port: int, page: str) -> None:
        self._site, self._page = f"http://127.0.0.1:{port}", page

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.host == "discord.com":
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
                kept = [(name, value) for name, value in answer.headers.items() if name.lower() not in HOP]
                return web.Response(body=await answer.read(), status=answer.status, headers=kept)

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


async def test_from_launch_to_the_first_card(tmp_path: Path) -> None:
    server = DiscordServer(seconds=PATIENCE)
    server.add_channel(CHANNEL, server.add_server(BAR))
    await server.start()
    valkey = EmbeddedStore(tmp_path)
    await valkey.start()
    try:
        async with open_store(valkey.url) as store, with_activity(store, server) as (adapter, site, _frame):
            people = await seat_people(server, "metamazzo")
            [table] = await adapter.worker.room.lists.tables_of("discord:1")
            code = table.code
            seat = table.game.turn if table.game else None
            assert seat is not None
            instance = await launch(people[seat], server)
            query = {"instance_id": instance, "frame_id": "frame", "platform": "mobile", "mobile_app_version": "260.1"}
            consent = json.dumps(server.activities.authorize(people[seat].number))
            proxy = DiscordProxy(site.port, CLIENT.format(code=consent, query=urlencode(query)))
            async with proxy.serve(tmp_path) as port:
                names = ",".join(f"MAP {name} 127.0.0.1:{port}" for name in ("discord.com", "*.discordsays.com"))
                async with launch_browser("--ignore-certificate-errors", f"--host-resolver-rules={names}") as browser:
                    context = await browser.new_context(
                        viewport={"width": 360, "height": 640}, has_touch=True, ignore_https_errors=True
                    )
                    page = await context.new_page()
                    await page.goto("https://discord.com/app")
                    frame = page.frame_locator("iframe")
                    card = frame.locator(".fan .tap.playable").first
                    await card.wait_for(timeout=30_000)
                    [shown] = [part for part in page.frames if part != page.main_frame]
                    assert shown.url == f"https://1000.discordsays.com/t/{code}"
                    played = str(await card.get_attribute("data-card"))
                    await page.screenshot(path=tmp_path / "activity.png")
                    await card.tap()

                    def is_played() -> bool:
                        current = adapter.worker.room.cached_table(code)
                        return bool(
                            current and current.game and any(played in move for _, move, *_ in current.game.history(0))
                        )

                    await until(is_played)
                    [cookie] = [entry for entry in await context.cookies() if entry["name"] == "buongioco_framed"]
                    assert cookie["sameSite"] == "None"
                    calls = await page.evaluate("calls")
                    assert [call.get("cmd", "handshake") for call in calls] == ["handshake", "AUTHORIZE"]
    finally:
        await valkey.stop()
        await server.stop()
