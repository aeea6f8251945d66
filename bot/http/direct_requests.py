"""Requests with a ready body, written to an aiohttp session's connections.

aiohttp's session spends most of a request on what the platforms' APIs never need: cookies, redirects, traces, several
copies of the headers, a parsed address, a task that writes the body. Connections, TLS and the parser of responses are
still aiohttp's (`TCPConnector`, `ResponseHandler`).
"""

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

import aiohttp
from aiohttp import ClientRequest
from aiohttp.http import HttpProcessingError
from yarl import URL

ACCEPTED = "".join(f"{name}: {value}\r\n" for name, value in ClientRequest.DEFAULT_HEADERS.items())


class Response(NamedTuple):
    """A response, read to its end. It has what a library needs of aiohttp's `ClientResponse`."""

    status: int
    reason: str
    headers: Mapping[str, str]
    content: bytes

    async def text(self, encoding: str = "utf-8") -> str:
        return self.content.decode(encoding)


class _Server(NamedTuple):
    """A server, and a request that tells the connector how to connect to it."""

    host: str
    connecting: ClientRequest


class DirectRequests:
    """Sends requests over a session's connections. It follows no redirects, and never sends a request twice."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._servers: dict[str, _Server] = {}  # by origin

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, timeout: aiohttp.ClientTimeout
    ) -> Response:
        """Send a request and return its response.

        Raises aiohttp's errors, TimeoutError, ValueError for an invalid header, and RuntimeError if the session is
        closed.
        """
        if self._session.closed or self._session.connector is None:
            raise RuntimeError("Session is closed")
        scheme, _, rest = url.partition("://")
        host, _, path = rest.partition("/")
        server = self._server(f"{scheme}://{host}")
        lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        start = f"{method} /{path} HTTP/1.1\r\nHost: {server.host}\r\n{ACCEPTED}"
        head = f"{start}{lines}Content-Length: {len(body)}\r\n\r\n"
        _check_lines(head, len(headers) + len(ClientRequest.DEFAULT_HEADERS) + 4)
        async with asyncio.timeout(timeout.total):
            try:
                connection = await self._session.connector.connect(server.connecting, [], timeout)
            except TimeoutError:
                raise aiohttp.ConnectionTimeoutError(f"Connection timeout to host {server.host}") from None
            try:
                response = await _exchange(connection, head.encode("latin-1") + body, timeout.sock_read)
            except BaseException:
                connection.close()
                raise
            connection.release()
        return response

    def _server(self, origin: str) -> _Server:
        if (known := self._servers.get(origin)) is None:
            loop = asyncio.get_running_loop()
            connecting = ClientRequest("POST", URL(origin), session=self._session, loop=loop)
            known = self._servers[origin] = _Server(connecting.headers["Host"], connecting)
        return known


def _check_lines(head: str, count: int) -> None:
    """Raise ValueError if a value in the head of a request breaks its line, and so adds a header."""
    if not head.count("\n") == head.count("\r") == head.count("\r\n") == count:
        raise ValueError("a header with a line break")


async def _exchange(connection: Any, request: bytes, read_seconds: float | None) -> Response:
    """Write a request to a connection and read the response. Its parts can be ``read_seconds`` apart."""
    protocol = connection.protocol
    protocol.set_response_params(read_until_eof=True, read_timeout=read_seconds)
    try:
        protocol.transport.write(request)
        protocol.start_timeout()
        message, content = await protocol.read()
        while 100 <= message.code < 200:
            # Interim responses come before the response.
            message, content = await protocol.read()
    except HttpProcessingError as error:
        raise aiohttp.ClientPayloadError(f"an unreadable response: {type(error).__name__}") from None
    return Response(message.code, message.reason, message.headers, await content.read())
