"""Requests that bypass aiohttp's session: what the server gets, and every response and failure as aiohttp's session."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from bot.http.direct_requests import DirectRequests, Response

HEADERS = {"User-Agent": "test", "Content-Type": "application/json"}
TIMEOUT = aiohttp.ClientTimeout(total=20, connect=5)
BODY = b'{"text": "\xc3\xa8"}'

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def raw_server(answer: Answer) -> AsyncIterator[str]:
    """Serve connections by hand. Yield the server's address."""
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def read_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    return head + await reader.readexactly(len(BODY))


def answer_with(*parts: bytes, closes: bool = False) -> Answer:
    """Return a server that answers each request with these parts, one after the other."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await read_request(reader):
                for part in parts:
                    writer.write(part)
                    await writer.drain()
                    await asyncio.sleep(0)
                if closes:
                    return
        except asyncio.IncompleteReadError:
            return
        finally:
            writer.close()

    return answer


async def send(url: str, timeout: aiohttp.ClientTimeout = TIMEOUT) -> Response:
    async with aiohttp.ClientSession() as session:
        return await DirectRequests(session).send("POST", f"{url}/path?q=1", HEADERS, BODY, timeout)


async def test_server_gets_the_request_on_one_connection() -> None:
    got: list[tuple[str, str, dict[str, str], bytes]] = []
    ports: set[object] = set()

    async def handle(request: web.BaseRequest) -> web.Response:
        got.append((request.method, request.path_qs, dict(request.headers), await request.read()))
        assert request.transport
        ports.add(request.transport.get_extra_info("peername"))
        return web.Response(status=201, body=b"made", headers={"X-Left": "3"})

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host = f"127.0.0.1:{runner.addresses[0][1]}"
    try:
        async with aiohttp.ClientSession() as session:
            requests = DirectRequests(session)
            for _ in range(2):
                response = await requests.send("PATCH", f"http://{host}/a/b%20c?q=1", HEADERS, BODY, TIMEOUT)
                assert (response.status, await response.text(), response.headers["x-left"]) == (201, "made", "3")
            async with session.patch(f"http://{host}/a/b%20c?q=1", data=BODY, headers=HEADERS):
                pass
    finally:
        await runner.cleanup()
    assert got[0] == got[1] == got[2], "aiohttp's session sends the same request"
    assert got[0][:2] == ("PATCH", "/a/b%20c?q=1")
    assert got[0][3] == BODY
    assert len(ports) == 1


COMPRESSED = gzip.compress(b"compressed")


@pytest.mark.parametrize(
    ("parts", "status", "content"),
    [
        ((b"HTTP/1.1 204 No Content\r\n\r\n",), 204, b""),
        ((b"HTTP/1.1 429 Too Many\r\nContent-Length: 4\r\n\r\nwa", b"it"), 429, b"wait"),
        (
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n", b"3\r\ntwo\r\n0\r\n\r\n"),
            200,
            b"onetwo",
        ),
        (
            (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(COMPRESSED), COMPRESSED),
            200,
            b"compressed",
        ),
        ((b"HTTP/1.1 103 Early Hints\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), 200, b"ok"),
        ((b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n",), 302, b""),
    ],
)
async def test_response_is_read_to_its_end(parts: tuple[bytes, ...], status: int, content: bytes) -> None:
    async with raw_server(answer_with(*parts)) as url:
        response = await send(url)
    assert (response.status, response.content) == (status, content)


async def test_response_can_end_with_its_connection() -> None:
    async with raw_server(answer_with(b"HTTP/1.0 200 OK\r\n\r\nall", closes=True)) as url:
        assert (await send(url)).content == b"all"


@pytest.mark.parametrize(
    "parts",
    [
        (),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",),
        (b"nonsense\r\n\r\n",),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnone",),
    ],
)
async def test_broken_response_raises_an_error_of_aiohttp(parts: tuple[bytes, ...]) -> None:
    async with raw_server(answer_with(*parts, closes=True)) as url:
        with pytest.raises(aiohttp.ClientError):
            await send(url)


async def test_request_is_never_sent_twice() -> None:
    received: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await read_request(reader))
        if len(received) == 1:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            received.append(await read_request(reader))
        writer.close()

    async with raw_server(answer) as url, aiohttp.ClientSession() as session:
        requests = DirectRequests(session)
        await requests.send("POST", f"{url}/", HEADERS, BODY, TIMEOUT)
        # The server closes the kept connection after it has read the second request.
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await requests.send("POST", f"{url}/", HEADERS, BODY, TIMEOUT)
    assert len(received) == 2


@pytest.mark.parametrize("timeout", [aiohttp.ClientTimeout(total=0.05), aiohttp.ClientTimeout(sock_read=0.05)])
async def test_late_response_ends_the_connection(timeout: aiohttp.ClientTimeout) -> None:
    ended = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nonly")
        assert await reader.read() == b""
        ended.set()
        writer.close()

    async with raw_server(answer) as url:
        with pytest.raises(TimeoutError):
            await send(url, timeout)
        await ended.wait()


async def test_unreachable_server_is_a_connector_error() -> None:
    async with raw_server(answer_with()) as url:
        pass
    with pytest.raises(aiohttp.ClientConnectorError):
        await send(url)


async def test_busy_connections_are_a_connection_timeout() -> None:
    """A bot that could not connect has sent nothing, so delivery can repeat the message."""
    held = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await held.wait()
        writer.close()

    async with (
        raw_server(answer) as url,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1)) as session,
    ):
        requests = DirectRequests(session)
        first = asyncio.create_task(requests.send("POST", f"{url}/", HEADERS, BODY, TIMEOUT))
        await asyncio.sleep(0)
        with pytest.raises(aiohttp.ConnectionTimeoutError):
            await requests.send("POST", f"{url}/", HEADERS, BODY, aiohttp.ClientTimeout(connect=0.05))
        held.set()
        with pytest.raises(aiohttp.ClientError):
            await first


@pytest.mark.parametrize("value", ["a\r\nX: 1", "a\nX: 1", "a\rX: 1"])
async def test_no_value_can_add_a_header(value: str) -> None:
    async with aiohttp.ClientSession() as session:
        requests = DirectRequests(session)
        with pytest.raises(ValueError, match="line break"):
            await requests.send("POST", "http://127.0.0.1:1/", {"Authorization": value}, BODY, TIMEOUT)
        with pytest.raises(ValueError, match="line break"):
            await requests.send("POST", f"http://127.0.0.1:1/{value}", HEADERS, BODY, TIMEOUT)


async def test_closed_session_sends_nothing() -> None:
    session = aiohttp.ClientSession()
    await session.close()
    with pytest.raises(RuntimeError):
        await DirectRequests(session).send("POST", "http://127.0.0.1:1/", HEADERS, BODY, TIMEOUT)
