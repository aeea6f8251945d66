"""The playground behind nginx and Caddy, with the configurations in dist/."""

import asyncio
import json
import re
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from playwright.async_api import expect
from structlog.testing import capture_logs

from bot.http.server import request_log_filter
from bot.rate_limiter import LOG_LINES, LogLimiter
from tests.browser import PHONE, find_tool, launch_browser
from tests.e2e.test_browser import SHOTS
from tests.kills.bot_process import free_port
from tests.long import mostly_long
from tests.open_playground import OpenPlayground
from tests.paths import ROOT

CONFIGURATIONS = {"nginx": ROOT / "dist" / "nginx.conf", "caddy": ROOT / "dist" / "Caddyfile"}
NAME = "cards.example.org"
PUBLIC = f"https://{NAME}"

NGINX = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
events {{}}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/1;
    proxy_temp_path {folder}/2;
    fastcgi_temp_path {folder}/3;
    uwsgi_temp_path {folder}/4;
    scgi_temp_path {folder}/5;
    {block}
}}
"""

CADDY = """
{{
    admin off
    auto_https disable_redirects
    skip_install_trust
    log {{
        output file {folder}/error.log
        level debug
    }}
}}
{block}
"""


def replace_all(text: str, *changes: tuple[str, str]) -> str:
    """Replace old texts with new ones: tests cannot use ports below 1024 or Let's Encrypt certificates."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def configure_nginx(folder: Path, port: int, upstream: int, block: str | None = None) -> list[str]:
    block = replace_all(
        block or CONFIGURATIONS["nginx"].read_text(),
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        (f"/etc/letsencrypt/live/{NAME}/fullchain.pem", f"{folder}/cert.pem"),
        (f"/etc/letsencrypt/live/{NAME}/privkey.pem", f"{folder}/key.pem"),
        ("127.0.0.1:8765", f"127.0.0.1:{upstream}"),
    )
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, block=block), encoding="utf-8")
    error_log = str(folder / "error.log")
    tool = find_tool("nginx", "/usr/sbin/nginx", package="nginx-light")
    return [tool, "-p", str(folder), "-e", error_log, "-c", str(folder / "nginx.conf")]


def configure_caddy(folder: Path, port: int, upstream: int, block: str | None = None) -> list[str]:
    block = replace_all(
        block or CONFIGURATIONS["caddy"].read_text(),
        (f"{NAME} {{", f"{NAME}:{port} {{\n    tls {folder}/cert.pem {folder}/key.pem\n    log {{\n"
         f"        output file {folder}/access.log\n    }}"),
        ("127.0.0.1:8765", f"127.0.0.1:{upstream}"),
    )  # fmt: skip
    (folder / "Caddyfile").write_text(CADDY.format(folder=folder, block=block), encoding="utf-8")
    return [find_tool("caddy", package="caddy"), "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


PROXIES = {"nginx": configure_nginx, "caddy": configure_caddy}


def create_certificate(folder: Path) -> None:
    """Create a self-signed certificate for the name."""
    request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    names = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    openssl = find_tool("openssl", package="openssl")
    subprocess.run([openssl, *request, *files, *names], check=True, capture_output=True)


class Proxy:
    """A running proxy that listens on ``port`` instead of 443."""

    def __init__(self, folder: Path, port: int, session: aiohttp.ClientSession, trust: ssl.SSLContext) -> None:
        self.folder, self.port, self._session, self._trust = folder, port, session, trust

    def _request(self, path: str, headers: dict[str, str]) -> dict[str, Any]:
        return {
            "url": f"https://127.0.0.1:{self.port}{path}",
            "headers": {"Host": NAME, **headers},
            "ssl": self._trust,
            "server_hostname": NAME,
        }

    async def get(self, path: str, **headers: str) -> tuple[int, str]:
        async with self._session.get(**self._request(path, headers)) as answer:
            return answer.status, await answer.text()

    async def post(self, path: str, data: bytes, **headers: str) -> int:
        async with self._session.post(data=data, **self._request(path, headers)) as answer:
            return answer.status

    @asynccontextmanager
    async def open_tab(self, key: str = "", **headers: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        headers = {"Origin": PUBLIC, **headers}
        async with self._session.post(data=key, **self._request("/ticket", headers)) as answer:
            ticket = await answer.text() if answer.status == 200 else ""
        async with self._session.ws_connect(**self._request(f"/ws?ticket={ticket}", headers)) as socket:
            yield socket

    async def check_refused(self, key: str = "", **headers: str) -> None:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
            async with self.open_tab(key, **headers):
                pass
        # Caddy answers unknown names with an empty response.
        assert refusal.value.status in (403, 200)

    @property
    def log(self) -> str:
        return "".join(path.read_text() for path in self.folder.glob("*.log"))

    async def wait_for_log(self, path: str) -> str:
        """Wait until the log has a request for this path; return the log. Connections are logged when they close."""
        async with asyncio.timeout(60):
            while path not in (log := self.log):
                await asyncio.sleep(0.05)
        return log


class LocalResolver(aiohttp.abc.AbstractResolver):
    """A resolver that returns this machine for every name."""

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[Any]:
        return [{"hostname": host, "host": "127.0.0.1", "port": port, "family": 2, "proto": 0, "flags": 0}]

    async def close(self) -> None:
        pass


@contextmanager
def run_proxy(command: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    environment = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with (folder / "output.log").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@asynccontextmanager
async def open_proxy(kind: str, folder: Path, upstream: int, block: str | None = None) -> AsyncIterator[Proxy]:
    folder.mkdir()
    create_certificate(folder)
    port = free_port()
    command = PROXIES[kind](folder, port, upstream, block)
    trust = ssl.create_default_context(cafile=str(folder / "cert.pem"))
    connector = aiohttp.TCPConnector(resolver=LocalResolver())
    with run_proxy(command, folder) as process:
        async with aiohttp.ClientSession(connector=connector) as session:
            proxy = Proxy(folder, port, session, trust)
            while True:
                assert process.poll() is None, proxy.log
                try:
                    await proxy.get("/icon.svg")
                    break
                except aiohttp.ClientConnectionError:
                    await asyncio.sleep(0.05)
            yield proxy


@pytest.fixture
async def public(tmp_path: Path) -> AsyncIterator[OpenPlayground]:
    playground = OpenPlayground(tmp_path / "data", public_url=PUBLIC)
    await playground.start()
    yield playground
    await playground.stop()


@pytest.fixture(params=list(PROXIES))
async def proxy(request: pytest.FixtureRequest, tmp_path: Path, public: OpenPlayground) -> AsyncIterator[Proxy]:
    async with open_proxy(request.param, tmp_path / "proxy", public.port) as running:
        yield running


async def test_personal_link_acts_only_as_its_person(proxy: Proxy, public: OpenPlayground) -> None:
    status, page = await proxy.get("/")
    assert (status, "<title>Buongioco</title>" in page) == (200, True)
    anna = public.playground.chat_store.people["1"]
    async with proxy.open_tab(anna.token) as socket:
        hello = await socket.receive_json()
        assert (hello["me"], hello["switching"]) == ("1", False)
        await socket.send_str(json.dumps({"n": "name1", "do": "say", "chat": "1", "text": "Buongiorno", "as": "2"}))
        messages = [await socket.receive_json(timeout=60) for _ in range(2)]
        assert {answer["type"] for answer in messages} == {"message", "done"}
    [message] = public.playground.chat_store.chats["1"].messages.values()
    assert (message["by"], message["text"]) == ("1", "Buongiorno")
    assert anna.token not in await proxy.wait_for_log("/ws")


async def test_missing_link_other_host_and_other_origin_are_refused(proxy: Proxy, public: OpenPlayground) -> None:
    key = public.playground.chat_store.people["1"].token
    await proxy.check_refused()
    await proxy.check_refused("wrong")
    for name in ("evil.example", "127.0.0.1", f"127.0.0.1:{public.port}", f"{NAME}:8443"):
        await proxy.check_refused(key, Host=name)
    for origin in ("https://evil.example", f"http://{NAME}", f"https://{NAME}:8443", "null"):
        await proxy.check_refused(key, Origin=origin)
    for path in ("/healthz", "/metrics"):
        for host in (NAME, "127.0.0.1", "localhost"):
            status, text = await proxy.get(path, Host=host)
            assert status == 403 or not text


async def test_malformed_bodies_through_a_proxy_log_few_lines(
    proxy: Proxy, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_log_filter, "log_limiter", LogLimiter())
    with capture_logs() as logs:
        for _ in range(30):
            assert await proxy.post("/nowhere", b"no gzip", **{"Content-Encoding": "gzip"}) in (400, 404)
    assert [record.getMessage() for record in caplog.records] == []
    assert {(line["event"], line["log_level"]) for line in logs} == {("request_malformed", "info")}
    assert len(logs) <= LOG_LINES.burst


@pytest.mark.parametrize("kind", list(PROXIES))
async def test_local_playground_refuses_visitors_from_a_proxy(kind: str, tmp_path: Path) -> None:
    playground = OpenPlayground(tmp_path / "data")
    await playground.start()
    try:
        async with open_proxy(kind, tmp_path / "proxy", playground.port) as proxy:
            local = {"Host": "127.0.0.1", "Origin": "http://127.0.0.1"}
            for headers in ({}, local, {"Host": "localhost"}, {"Host": f"127.0.0.1:{playground.port}"}):
                await proxy.check_refused(**headers)
            for path in ("/", "/healthz", "/metrics"):
                assert (await proxy.get(path))[0] == 403
        assert not playground.playground.server.tabs.open
    finally:
        await playground.stop()


async def test_local_playground_refuses_nginx_without_headers(tmp_path: Path) -> None:
    """With only `proxy_pass`, the host is 127.0.0.1 and no headers are forwarded."""
    bare = re.sub(r"^ *proxy_(?!pass).*\n", "", CONFIGURATIONS["nginx"].read_text(), flags=re.MULTILINE)
    assert re.findall(r"^ *(proxy_\w+)", bare, re.MULTILINE) == ["proxy_pass"]
    playground = OpenPlayground(tmp_path / "data")
    await playground.start()
    try:
        async with open_proxy("nginx", tmp_path / "proxy", playground.port, bare) as proxy:
            for path in ("/", "/healthz", "/metrics"):
                assert (await proxy.get(path))[0] == 403
            await proxy.check_refused()
    finally:
        await playground.stop()


@pytest.mark.long
@pytest.mark.parametrize("proxy", mostly_long(PROXIES, "nginx"), indirect=True)
async def test_page_opens_in_a_browser_at_its_public_address(proxy: Proxy, public: OpenPlayground) -> None:
    flags = [f"--host-resolver-rules=MAP {NAME}:443 127.0.0.1:{proxy.port}", "--ignore-certificate-errors"]
    anna = public.playground.chat_store.people["1"]
    async with launch_browser(*flags) as browser:
        page = await browser.new_page(viewport=PHONE, ignore_https_errors=True)  # type: ignore[arg-type]
        page.on("pageerror", lambda error: pytest.fail(f"the page failed: {error}"))
        await page.goto(f"{PUBLIC}/#key={public.playground.server._host_key}")
        link = page.locator("#links a").first
        await expect(link).to_have_attribute("href", f"{PUBLIC}/chat#key={anna.token}")
        if SHOTS:
            await page.screenshot(path=str(Path(SHOTS) / "links.png"))
        # The link opens in the same tab: only the part after # changes.
        await link.click()
        await expect(page.locator("#people [aria-selected=true]")).to_have_text("Anna")
        await page.fill("#text", "/challenge testa")
        await page.press("#text", "Enter")
        await expect(page.locator("#messages")).to_contain_text("Anna")
        await expect(page.locator(".row button").first).to_be_visible()
        if SHOTS:
            await page.screenshot(path=str(Path(SHOTS) / "behind_a_proxy.png"))
    log = await proxy.wait_for_log("/ws")
    assert anna.token not in log
    assert public.playground.server._host_key not in log
