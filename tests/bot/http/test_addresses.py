"""Addresses of pages and health checks."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from adapters.web import site
from adapters.web.site import Site
from bot.cli import doctor, health
from bot.cli.health import health_url
from bot.handlers import Dispatcher
from bot.settings import Settings
from bot.store import Store
from bot.worker import Worker


@pytest.mark.parametrize(
    ("host", "linked_host"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "[::1]"),
        ("10.8.0.1", "10.8.0.1"),
        ("fd00::8", "[fd00::8]"),
        ("0.0.0.0", "192.168.1.2"),  # noqa: S104 - nothing is bound
        ("", "192.168.1.2"),
        ("::", "[fd00::2]"),
    ],
)
async def test_links_use_the_playground_address(
    store: Store, monkeypatch: pytest.MonkeyPatch, host: str, linked_host: str
) -> None:
    own_addresses = {"192.0.2.1": "192.168.1.2", "2001:db8::1": "fd00::2"}
    monkeypatch.setattr(site, "_own_address", own_addresses.__getitem__)
    settings = Settings(_env_file=None, playground_host=host, playground_port=8765, public_url=None)
    assert Site(Dispatcher(Worker(store, settings))).url == f"http://{linked_host}:8765"


@pytest.mark.parametrize(
    ("host", "requested_host"),
    [
        ("", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),  # noqa: S104 - nothing is bound
        ("::", "[::1]"),
        ("::1", "[::1]"),
        ("10.8.0.1", "10.8.0.1"),
        ("fd00::8", "[fd00::8]"),
    ],
)
def test_health_url_uses_the_listening_address(host: str, requested_host: str) -> None:
    assert health_url(host, 8765) == f"http://{requested_host}:8765/healthz"


@pytest.fixture
def port_behind_proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Return the port of a fake bot, on a machine whose proxy settings lead nowhere."""

    class HealthHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"healthy":true,"store":"up","adapters":{}}')

        def log_message(self, *_: object) -> None:
            pass

    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), HealthHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("BUONGIOCO_PLAYGROUND_PORT", str(server.server_port))
        yield server.server_port
        server.shutdown()


def test_local_health_check_bypasses_proxies(port_behind_proxy: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert health.main() == 0
    assert "healthy" in capsys.readouterr().out
    assert doctor._is_bot("127.0.0.1", port_behind_proxy)
