"""Half-open, slow and excessive connections to our servers, and their log lines."""

import asyncio
import errno
import logging
import os
import resource
import subprocess
import sys
from asyncio import constants
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from structlog.testing import capture_logs

from bot.http import connections as connections_module
from bot.http import server as server_module
from bot.http.connections import Connections, connection_limit, handle_loop_error
from bot.http.server import body_timeout, listen, request_log_filter
from bot.rate_limiter import LOG_LINES, LogLimiter
from tests.bot.command import environment
from tests.kills.bot_process import free_port
from tests.paths import ROOT

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@pytest.fixture(autouse=True)
def _reset_log_limiters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_log_filter, "log_limiter", LogLimiter())
    monkeypatch.setattr(connections_module, "_log_limiter", LogLimiter())


async def send_hello(_request: web.Request) -> web.Response:
    return web.Response(text="hello")


async def send_large(_request: web.Request) -> web.Response:
    return web.Response(body=bytes(50_000_000))


async def read_body(request: web.Request) -> web.Response:
    async with body_timeout():
        await request.read()
    return web.Response()


async def send_lines(request: web.Request) -> web.StreamResponse:
    """Send a line at once and another when the test ends the stream."""
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(b"begin\n")
    await request.app[ENDING].wait()
    await response.write(b"end\n")
    return response


async def echo(request: web.Request) -> web.WebSocketResponse:
    response = web.WebSocketResponse()
    await response.prepare(request)
    async for message in response:
        await response.send_str(message.data)
    return response


async def fail(_request: web.Request) -> web.Response:
    raise LookupError("an unexpected error")


HANDLERS = {"/hello": send_hello, "/large": send_large, "/stream": send_lines, "/socket": echo, "/fail": fail}

ENDING: web.AppKey[asyncio.Event] = web.AppKey("ending", asyncio.Event)


@asynccontextmanager
async def run_server(connections: Connections) -> AsyncIterator[tuple[int, asyncio.Event]]:
    app = web.Application()
    app.add_routes([web.get(path, handler) for path, handler in HANDLERS.items()])
    app.add_routes([web.post("/body", read_body)])
    app[ENDING] = ending = asyncio.Event()
    port = free_port()
    runner = await listen(app, "127.0.0.1", port, "It", "nothing helps", connections)
    try:
        yield port, ending
    finally:
        ending.set()
        await runner.cleanup()


async def ask(
    port: int, path: str = "hello", *headers: str, connection: Connection | None = None
) -> tuple[bytes, Connection]:
    """Send a request; return the first line of the answer and the connection, which stays open."""
    reader, writer = connection or await asyncio.open_connection("127.0.0.1", port)
    writer.write("\r\n".join([f"GET /{path} HTTP/1.1", "Host: a", *headers, "", ""]).encode())
    try:
        async with asyncio.timeout(60):
            return await reader.readline(), (reader, writer)
    except ConnectionError:
        return b"", (reader, writer)


async def wait_until_closed(connection: Connection) -> None:
    async with asyncio.timeout(60):
        with suppress(ConnectionError):
            await connection[0].read()


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("sent", [b"", b"GET /hello HT", b"GET /hello HTTP/1.1\r\nHost: a\r\n", b"\r\n\r\n"])
async def test_half_open_requests_are_closed(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(connections_module, "HEAD_SECONDS", 0.2)
    connections = Connections(1000)
    async with run_server(connections) as (port, _ending):
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(100)]
        for _reader, writer in opened:
            writer.write(sent)
        await asyncio.gather(*map(wait_until_closed, opened))
        await wait_until(lambda: not len(connections))


async def test_slow_request_head_closes_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections_module, "HEAD_SECONDS", 0.2)
    async with run_server(Connections(10)) as (port, _ending):
        connection = await asyncio.open_connection("127.0.0.1", port)

        async def trickle() -> None:
            connection[1].write(b"GET /hello HTTP/1.1\r\nX: ")
            while True:
                connection[1].write(b"y")
                await asyncio.sleep(0.02)

        trickling = asyncio.create_task(trickle())
        await wait_until_closed(connection)
        trickling.cancel()


async def test_slow_request_body_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "SENT_SECONDS", 0.2)
    async with run_server(Connections(10)) as (port, _ending):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx")
        async with asyncio.timeout(60):
            assert (await reader.readline()).split()[1] == b"408"


@pytest.mark.parametrize(("path", "encoding", "closes"), [("x", "gzip", True), ("x", "x", True), ("body", "x", False)])
async def test_answer_to_an_unread_body_closes_the_connection(path: str, encoding: str, closes: bool) -> None:
    async with run_server(Connections(10)) as (port, _ending), aiohttp.ClientSession() as session:
        headers = {"Content-Encoding": encoding}
        async with session.post(f"http://127.0.0.1:{port}/{path}", data=b"no gzip", headers=headers) as answer:
            assert (answer.headers.get("Connection") == "close") is closes


async def test_only_idle_connections_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "KEEPALIVE_SECONDS", 0.3)
    monkeypatch.setattr(connections_module, "HEAD_SECONDS", 0.3)
    connections = Connections(100)
    async with run_server(connections) as (port, ending), aiohttp.ClientSession() as session:
        status, streaming = await ask(port, "stream")
        assert b" 200 " in status
        async with session.ws_connect(f"http://127.0.0.1:{port}/socket") as connection:
            _status, idle = await ask(port)
            await wait_until_closed(idle)
            # This takes longer than the limit for idle connections.
            _status, another = await ask(port)
            await wait_until_closed(another)
            await connection.send_str("still here")
            assert await connection.receive_str(timeout=60) == "still here"
            ending.set()
            async with asyncio.timeout(60):
                assert (await streaming[0].readuntil(b"end\n")).endswith(b"end\n")


async def test_unread_answer_closes_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections_module, "WRITE_SECONDS", 0.2)
    connections = Connections(10)
    async with run_server(connections) as (port, _ending):
        _reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        await wait_until(lambda: len(connections) == 1)
        await wait_until(lambda: not len(connections))
        writer.close()


async def test_connections_per_address_are_limited() -> None:
    connections = Connections(100, per_address=3)
    async with run_server(connections) as (port, _ending):
        opened = [(await ask(port))[1] for _ in range(3)]
        with capture_logs() as logs:
            for _ in range(50):
                status, _connection = await ask(port)
                assert status in (b"", b"HTTP/1.1 503 Service Unavailable\r\n")
        assert len(connections) == 3
        assert {entry["event"] for entry in logs} == {"connections_refused"}
        assert len(logs) == LOG_LINES.burst
        opened[0][1].close()
        await wait_until(lambda: len(connections) < 3)
        assert b" 200 " in (await ask(port))[0]
        # The other connections still work.
        reader, _writer = opened[1]
        await reader.readuntil(b"hello")
        assert b" 200 " in (await ask(port, connection=opened[1]))[0]


async def test_forwarded_connections_do_not_count_for_the_proxy() -> None:
    async with run_server(Connections(100, per_address=3, behind_proxy=True)) as (port, _ending):
        forwarded = [await ask(port, "hello", "X-Forwarded-For: 192.0.2.1") for _ in range(20)]
        assert all(b" 200 " in status for status, _connection in forwarded)
        # Connections that bypass the proxy are counted.
        direct = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        assert b" 200 " not in (await ask(port))[0]
        for _reader, writer in direct:
            writer.close()
    async with run_server(Connections(100, per_address=3)) as (port, _ending):
        forwarded = [await ask(port, "hello", "X-Forwarded-For: 192.0.2.1") for _ in range(20)]
        assert sum(b" 200 " in status for status, _connection in forwarded) == 3


async def test_full_server_closes_the_longest_idle_connection() -> None:
    async with run_server(Connections(3)) as (port, ending):
        _status, streaming = await ask(port, "stream")
        idle = [(await ask(port))[1] for _ in range(2)]
        status, third = await ask(port)
        assert b" 200 " in status
        await wait_until_closed(idle[0])
        status, _fourth = await ask(port)
        assert b" 200 " in status
        await wait_until_closed(idle[1])
        ending.set()
        async with asyncio.timeout(60):
            assert (await streaming[0].readuntil(b"end\n")).endswith(b"end\n")
        assert not third[0].at_eof()


async def test_full_server_with_busy_connections_refuses() -> None:
    async with run_server(Connections(3)) as (port, _ending):
        busy = [await ask(port, "stream") for _ in range(3)]
        assert all(b" 200 " in status for status, _connection in busy)
        assert b" 200 " not in (await ask(port))[0]


def test_connection_limits_leave_files_for_other_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    for soft in (0, 256, 1024, 4096, 100_000, resource.RLIM_INFINITY):
        monkeypatch.setattr(resource, "getrlimit", lambda _which, soft=soft: (soft, soft))
        shares = [connection_limit(share) for share in (0.8, 0.1, 0.05)]
        assert min(shares) >= 16
        if soft > 1000:
            assert sum(shares) < soft - 100


async def test_handler_errors_log_few_tracebacks(caplog: pytest.LogCaptureFixture) -> None:
    async with run_server(Connections(10)) as (port, _ending):
        for _ in range(40):
            status, _connection = await ask(port, "fail")
            assert b" 500 " in status
    assert len(caplog.records) == LOG_LINES.burst
    assert all(record.levelno == logging.ERROR and record.exc_info for record in caplog.records)


async def test_failed_accepts_log_few_lines() -> None:
    loop = asyncio.get_running_loop()
    context = {
        "message": "socket.accept() out of system resource",
        "exception": OSError(errno.EMFILE, os.strerror(errno.EMFILE)),
    }
    with capture_logs() as logs:
        for _ in range(10_000):
            handle_loop_error(loop, context)
    assert [entry["event"] for entry in logs] == ["connection_not_accepted"] * LOG_LINES.burst


async def test_other_loop_errors_are_logged_as_usual(caplog: pytest.LogCaptureFixture) -> None:
    handle_loop_error(asyncio.get_running_loop(), {"message": "Task was destroyed but it is pending!"})
    assert [record.getMessage() for record in caplog.records] == ["Task was destroyed but it is pending!"]


FEW_FILES_SERVER = """
import asyncio, resource, sys
from aiohttp import web
from bot.running import logs
from bot.http.connections import Connections, handle_loop_error
from bot.http.server import listen

failed_at = []

def handle(loop, context):
    failed_at.append(loop.time())
    handle_loop_error(loop, context)
    if len(failed_at) == 3:
        print(failed_at[2] - failed_at[0], flush=True)

async def main():
    asyncio.get_running_loop().set_exception_handler(handle)
    runner = await listen(web.Application(), "127.0.0.1", 0, "It", "nothing", Connections(10**6, 10**6))
    print(runner.addresses[0][1], flush=True)
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()

logs.set_up("info")
asyncio.run(main())
"""


@pytest.mark.long
async def test_running_out_of_files_logs_little_and_recovers(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as log_file:
        process = subprocess.Popen(
            [sys.executable, "-c", FEW_FILES_SERVER],
            env=environment(tmp_path),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log_file,
        )
    assert process.stdout
    assert process.stdin
    port = int(await asyncio.to_thread(process.stdout.readline))
    try:
        connections = [await asyncio.open_connection("127.0.0.1", port) for _ in range(100)]
        seconds = float(await asyncio.to_thread(process.stdout.readline))
        assert seconds > 2 * 0.9 * constants.ACCEPT_RETRY_DELAY, "the loop must wait a second between failed accepts"
        assert log.read_bytes().count(b"connection_not_accepted") == 3
        assert len(log.read_bytes()) < 1000
        for _reader, writer in connections:
            writer.close()
        status, _connection = await ask(port)
        assert b" 404 " in status
    finally:
        process.stdin.close()
        process.wait(60)
