"""Malformed requests to each server log a few lines, without tracebacks or warnings."""

import asyncio
import gzip
import logging
import os
import struct
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from structlog.testing import capture_logs

from adapters.telegram.webhook import SECRET_HEADER, secret_of
from bot.handlers import Dispatcher
from bot.http.server import request_log_filter
from bot.identity.programs import Programs
from bot.rate_limiter import LOG_LINES, LogLimiter
from bot.running.monitoring import monitoring
from bot.settings import Settings
from bot.store import EmbeddedStore, Store
from bot.worker import Worker
from tests.kills.bot_process import free_port
from tests.long import long
from tests.open_playground import OpenPlayground
from tests.telegram.players import on_telegram, until
from tests.telegram.server import TOKEN, TelegramServer

SHORT_RUN = 150  # requests of each kind in a short run
CONCURRENT_REQUESTS = 100
ANSWER_SECONDS = 1.0  # many requests are incomplete and get no answer
MUTATED_REQUESTS = int(os.environ.get("BUONGIOCO_FUZZ_HEADS", "400"))


class Server(NamedTuple):
    """A server under test: its port, its paths and the headers that authorize requests."""

    port: int
    paths: list[str]
    headers: list[str]

    @property
    def host(self) -> str:
        return f"Host: 127.0.0.1:{self.port}"


@pytest.fixture
async def site(tmp_path: Path, empty_valkey: EmbeddedStore) -> AsyncIterator[Server]:
    playground = OpenPlayground(tmp_path / "data", valkey=empty_valkey)
    await playground.start()
    _program, token = await Programs(playground.worker.store.client).add("Odd")
    origin = f"Origin: {playground.url.rstrip('/')}"
    paths = ["/", "/play", "/ticket", "/ws", "/chat", "/nowhere", "/t/ABCDEF", "/t/ABCDEF/live", "/rules", "/healthz"]
    paths += [
        "/api/v1/me/tables",
        "/api/v1/me/tables/ABCDEF/moves",
        "/api/nowhere",
        "/static/x/y.js",
        "/in",
        "/settings",
    ]
    yield Server(playground.port, paths, [origin, f"Authorization: Bearer {token}", "Idempotency-Key: 12345678"])
    await playground.stop()


@pytest.fixture
async def webhook(store: Store) -> AsyncIterator[Server]:
    telegram, port = TelegramServer(), free_port()
    await telegram.start()
    settings: dict[str, Any] = {
        "telegram_webhook_url": f"https://127.0.0.1:{port}/cards",
        "telegram_webhook_port": port,
    }
    async with on_telegram(store, telegram, **settings) as adapter:
        await until(lambda: adapter.healthy)
        yield Server(port, ["/cards", "/", "/healthz", "/metrics"], [f"{SECRET_HEADER}: {secret_of(TOKEN)}"])
    await telegram.stop()


@pytest.fixture
async def monitored(store: Store) -> AsyncIterator[Server]:
    port = free_port()
    async with monitoring(Dispatcher(Worker(store, Settings(_env_file=None, monitoring_port=port)))):
        yield Server(port, ["/healthz", "/metrics", "/nowhere"], [])


@pytest.fixture(params=["site", "webhook", "monitored"])
def server(request: pytest.FixtureRequest) -> Server:
    fixture: Server = request.getfixturevalue(request.param)
    return fixture


def build_request(server: Server, method: str, path: str, *header_lines: str, body: bytes = b"") -> bytes:
    head = [f"{method} {path} HTTP/1.1", server.host, *server.headers, *header_lines, "", ""]
    return "\r\n".join(head).encode("latin-1") + body


def iter_malformed_bodies(server: Server) -> Iterator[bytes]:
    """Yield requests with bodies that do not match their headers."""
    chunked, kinds = "Transfer-Encoding: chunked", ("application/json", "application/x-www-form-urlencoded")
    for path in server.paths:
        for method in ("GET", "POST"):
            for encoding in ("gzip", "deflate", "br", "zstd", "x"):
                for body in (b"no gzip", gzip.compress(b"x" * 10_000)[:-9], b"\x1f\x8b" + b"\0" * 30):
                    header_lines = [f"Content-Encoding: {encoding}", f"Content-Type: {kinds[len(body) % 2]}"]
                    yield build_request(server, method, path, *header_lines, f"Content-Length: {len(body)}", body=body)
                    yield build_request(
                        server, method, path, *header_lines, chunked, body=b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
                    )
        for body in (
            b"zz\r\n",
            b"-1\r\n",
            b"5\r\nab",
            b"f" * 40 + b"\r\n",
            b"2\r\nabcd\r\n",
            b"0\r\nx: \xff\r\n\r\n",
            b"\n\n",
        ):
            yield build_request(server, "POST", path, chunked, body=body)
        for length in ("-1", "x", "9" * 50, "1, 2"):
            yield build_request(server, "POST", path, f"Content-Length: {length}", body=b"x")
        yield build_request(server, "POST", path, chunked, "Content-Length: 3", body=b"abc")
        yield build_request(
            server, "POST", path, "Content-Length: 3", "Content-Type: a/\xff; charset=\xfe", body=b"\xff\xfe\0"
        )
        yield build_request(server, "POST", path, "Expect: nonsense", "Content-Length: 3", body=b"abc")
        yield build_request(
            server, "POST", path, "Content-Type: multipart/form-data; boundary=x", "Content-Length: 3", body=b"--x"
        )


def iter_malformed_heads(server: Server) -> Iterator[bytes]:
    for path in server.paths:
        for odd in (
            "%ff",
            "%c0%af",
            "%ed%a0%80",
            "%00",
            "%",
            "%zz",
            "\xff",
            "\xed\xa0\x80",
            "{",
            "?key=%ff&t=%ed%a0%80",
        ):
            yield build_request(server, "GET", path + odd)
            yield build_request(server, "POST", f"{path}/{odd}", "Content-Length: 0")
        yield build_request(server, "GET", path, "X: " + "y" * 20_000)
        yield build_request(server, "GET", path, *(f"X{number}: y" for number in range(300)))
        yield build_request(
            server, "GET", path, "Cookie: buongioco=\xff.\xfe; buongioco_session=\xed\xa0\x80; =;;=\xff"
        )
        yield build_request(server, "GET", path, "Accept-Language: \xff, x" * 100, "If-None-Match: \xff")
        yield build_request(server, "GET", path, "Accept-Encoding: \xff", "Range: bytes=9-1", "If-Modified-Since: x")
        yield build_request(server, "\xff", path)
        yield build_request(server, "A" * 5000, path)


def iter_websocket_frames(server: Server) -> Iterator[bytes]:
    """Yield WebSocket handshakes followed by malformed frames."""
    for path in server.paths:
        upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
        key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
        yield build_request(server, "GET", path, *upgrade)
        yield build_request(server, "GET", path, *upgrade, "Sec-WebSocket-Key: x")
        yield build_request(server, "GET", path, *upgrade[:2], "Sec-WebSocket-Version: 99", key)
        deflate = "Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=99"
        for first in (0x81, 0x83, 0x8F, 0xC1, 0x88, 0x89, 0x01, 0x80, 0xF1):
            masked = bytes((first, 0x84, 0, 0, 0, 0)) + b"\xff\xfe\x00{"
            for frame in (masked, bytes((first, 4)) + b"abcd", struct.pack("!BBQ", first, 0xFF, 2**62), b"\xff" * 64):
                yield build_request(server, "GET", path, *upgrade, key, body=frame)
                yield build_request(server, "GET", path, *upgrade, key, deflate, body=frame)


def iter_mutated_requests(server: Server) -> Iterator[bytes]:
    """Yield malformed requests with random changes."""
    random = Random(35)
    requests = [*iter_malformed_bodies(server), *iter_malformed_heads(server), *iter_websocket_frames(server)]
    for _ in range(MUTATED_REQUESTS):
        data = bytearray(random.choice(requests))
        for _ in range(random.randrange(1, 6)):
            start = random.randrange(len(data))
            data[start : start + random.randrange(3)] = random.randbytes(random.randrange(3))
        yield bytes(data[: random.randrange(len(data))] if random.random() < 0.2 else data)


async def send(server: Server, data: bytes, timeout: float = ANSWER_SECONDS) -> bytes:
    """Send bytes on a new connection; return the start of the answer, or nothing if it is late."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    answer = b""
    with suppress(ConnectionError, TimeoutError):
        writer.write(data)
        async with asyncio.timeout(timeout):
            answer = await reader.read(1 << 16)
            # aiohttp logs errors in a body after the answer.
            answer += await reader.read(1 << 16)
    writer.close()
    return answer


@pytest.mark.parametrize("max_requests", [SHORT_RUN, long(1_000_000)])
@pytest.mark.parametrize(
    "iter_requests", [iter_malformed_bodies, iter_malformed_heads, iter_websocket_frames, iter_mutated_requests]
)
async def test_malformed_requests_log_few_lines_and_no_traceback(
    server: Server,
    iter_requests: Callable[[Server], Iterator[bytes]],
    max_requests: int,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(request_log_filter, "log_limiter", LogLimiter())
    caplog.set_level(logging.INFO)
    pending = list(iter_requests(server))
    pending = Random(35).sample(pending, min(max_requests, len(pending)))
    answers: set[bytes] = set()
    began = time.monotonic()
    with capture_logs() as logs:
        for begin in range(0, len(pending), CONCURRENT_REQUESTS):
            replies = await asyncio.gather(
                *(send(server, data) for data in pending[begin : begin + CONCURRENT_REQUESTS])
            )
            answers |= {answer.split(b" ", 2)[1] for answer in replies if answer.startswith(b"HTTP/1.1 ")}
        # A slow machine can still be busy with the earlier requests.
        assert await send(server, build_request(server, "GET", "/healthz", "Connection: close"), timeout=60)
    assert answers, "no request was answered"
    assert b"500" not in answers
    # The bot warns that the tests' store is less durable than a real one.
    logs = [line for line in logs if line["event"] != "store_may_lose_data"]
    records = [record for record in caplog.records if record.name != "asyncio" or record.levelno >= logging.WARNING]
    assert [record.getMessage() for record in records if record.levelno >= logging.WARNING or record.exc_info] == []
    assert [line for line in logs if line["log_level"] != "info" or "exception" in line or "exc_info" in line] == []
    minutes = 1 + (time.monotonic() - began) / 60
    assert len(logs) + len(records) <= 2 * (LOG_LINES.burst + minutes)
