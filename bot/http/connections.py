"""Limits on the number of connections to the bot's web servers, and on their idle time.

aiohttp lacks them: it gives a new connection an hour to send its first request.
"""

import asyncio
import errno
import resource
from collections import Counter
from typing import Any

import structlog
from aiohttp import web

from bot.http.addresses import NETWORK_FACTOR, Visitor, is_forwarded
from bot.rate_limiter import LogLimiter

HEAD_SECONDS = 15.0  # time limit for the head of a connection's first request

KEEPALIVE_SECONDS = 75.0
"""Time a connection can wait for its next request. nginx keeps its own connections to us for 60 seconds."""

# Time limit of a client that reads nothing of a response. Streams and WebSockets have their own limits.
WRITE_SECONDS = 60.0

OPEN_FILES, RESERVED_FILES = 12_000, 300
"""File limit that the bot requests, and files reserved for the store, pictures and platforms."""

PER_ADDRESS = 400
"""Connections per address: enough for a school with open pages, streams and browsers' spare connections."""

IDLE_CHECKED = 16  # connections checked, longest idle first, when one must be closed
REFUSAL = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 30\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
OUT_OF_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

log = structlog.get_logger()
_log_limiter = LogLimiter()


def connection_limit(share: float) -> int:
    """Return the connection limit of a server that gets this share of the process's open files."""
    soft_limit, _hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = OPEN_FILES if soft_limit == resource.RLIM_INFINITY else min(soft_limit, OPEN_FILES)
    return max(16, int(share * (files - RESERVED_FILES)))


def raise_file_limit(count: int = OPEN_FILES) -> None:
    """Raise the limit of open files: most systems start with 1,024 and grant more on request."""
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    new_limit = count if hard_limit == resource.RLIM_INFINITY else min(hard_limit, count)
    if soft_limit != resource.RLIM_INFINITY and soft_limit < new_limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (new_limit, hard_limit))


class Connections:
    """The connections of one server.

    ``limit`` is their maximum in all, ``per_address`` the maximum for one address. A network can have `NETWORK_FACTOR`
    times as many as an address. With ``behind_proxy``, a connection stops counting for its address once it carries a
    forwarded request: a proxy's connections serve many visitors.
    """

    def __init__(self, limit: int, per_address: int = PER_ADDRESS, *, behind_proxy: bool = False) -> None:
        self._limit, self._per_address, self._behind_proxy = limit, per_address, behind_proxy
        self._open: set[Connection] = set()
        self._idle: dict[Connection, None] = {}  # without a request, the longest idle first
        self._counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def install(self, app: web.Application) -> None:
        """Count the requests of an app, before any other middleware and for every path."""
        app.middlewares.insert(0, self._middleware)
        app.on_response_prepare.append(self._mark_stream)

    def admit(self, connection: "Connection", address: str) -> bool:
        """Count a new connection; return False if there are too many.

        If there are too many in all, a connection that has long been idle is closed to make room.
        """
        visitor = Visitor.from_address(address)
        counts = self._counts
        is_too_many = counts[visitor.address] >= self._per_address
        if is_too_many or counts[visitor.network] >= NETWORK_FACTOR * self._per_address:
            self._warn("connections_refused", "too many from one address or network")
            return False
        if len(self._open) >= self._limit and not self._close_idle():
            self._warn("connections_refused", "too many in all")
            return False
        connection.visitor = visitor
        counts.update(visitor)
        self._open.add(connection)
        self._idle[connection] = None
        return True

    def forget(self, connection: "Connection") -> None:
        """Forget a closed connection. Safe to call twice."""
        self._open.discard(connection)
        self._idle.pop(connection, None)
        self._release(connection)

    def _release(self, connection: "Connection") -> None:
        if connection.visitor is None:
            return
        for key in connection.visitor:
            self._counts[key] -= 1
            if not self._counts[key]:
                del self._counts[key]
        connection.visitor = None

    def _close_idle(self) -> bool:
        for connection in list(self._idle)[:IDLE_CHECKED]:
            if connection.is_flushed:
                self._warn("connections_closed", "too many in all: the longest idle one was closed")
                connection.abort()
                return True
        return False

    @staticmethod
    def _warn(event: str, reason: str) -> None:
        skipped_count = _log_limiter.take(f"{event} {reason}")
        if skipped_count is not None:
            log.warning(event, why=reason, left_out=skipped_count)

    @web.middleware
    async def _middleware(self, request: web.Request, handler: Any) -> web.StreamResponse:
        connection = request.transport.get_protocol() if request.transport else None
        if not isinstance(connection, Connection):
            response: web.StreamResponse = await handler(request)
            return response
        if self._behind_proxy and is_forwarded(request.headers, request.version):
            self._release(connection)
        connection.begin_request()
        self._idle.pop(connection, None)
        try:
            response = await handler(request)
        except web.HTTPException as answer:
            _close_if_unread(request, answer)
            raise
        finally:
            if connection in self._open:
                self._idle[connection] = None
        _close_if_unread(request, response)
        return response

    @staticmethod
    async def _mark_stream(request: web.Request, response: web.StreamResponse) -> None:
        connection = request.transport.get_protocol() if request.transport else None
        if isinstance(connection, Connection):
            connection.is_stream = not isinstance(response, web.Response)


def _close_if_unread(request: web.Request, response: web.StreamResponse) -> None:
    """Announce the end of the connection if the request has an unread body.

    aiohttp closes such a connection if the body is malformed. Without the announcement a proxy could already have sent
    another visitor's request on it.
    """
    if request.body_exists and not request.content.at_eof() and not response.prepared:
        response.force_close()


class Connection(asyncio.Protocol):
    """A connection between the system's socket and aiohttp's protocol, which ``make`` creates."""

    def __init__(self, connections: Connections, server: web.Server) -> None:
        self._connections, self._make = connections, server
        self._protocol: asyncio.Protocol | None = None
        self._transport: asyncio.Transport | None = None
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self.visitor: Visitor | None = None  # None while it does not count for an address
        self.is_stream = False  # True for a stream or a WebSocket

    @property
    def is_flushed(self) -> bool:
        """True if the system has taken all data to send."""
        return self._transport is None or not self._transport.get_write_buffer_size()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        peer = transport.get_extra_info("peername")
        if not self._connections.admit(self, str(peer[0]) if peer else ""):
            transport.write(REFUSAL)
            transport.close()
            return
        self._head_timer = asyncio.get_running_loop().call_later(HEAD_SECONDS, self.abort)
        self._protocol = self._make()
        self._protocol.connection_made(transport)

    def begin_request(self) -> None:
        self.is_stream = False
        if self._head_timer:
            self._head_timer.cancel()
            self._head_timer = None

    def abort(self) -> None:
        self._connections.forget(self)
        if self._transport:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._protocol:
            self._protocol.data_received(data)

    def eof_received(self) -> bool | None:
        return self._protocol.eof_received() if self._protocol else None

    def pause_writing(self) -> None:
        if self._protocol:
            self._protocol.pause_writing()
            self._write_timer = asyncio.get_running_loop().call_later(WRITE_SECONDS, self._end_stalled)

    def resume_writing(self) -> None:
        if self._write_timer:
            self._write_timer.cancel()
            self._write_timer = None
        if self._protocol:
            self._protocol.resume_writing()

    def _end_stalled(self) -> None:
        if not self.is_stream:
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._head_timer, self._write_timer):
            if timer:
                timer.cancel()
        self._connections.forget(self)
        if self._protocol:
            self._protocol.connection_lost(exc)


def handle_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log errors that asyncio cannot handle. Failures to accept a socket are logged only now and then."""
    error = context.get("exception")
    if isinstance(error, OSError) and error.errno in OUT_OF_FILES and "accept" in context.get("message", ""):
        skipped_count = _log_limiter.take("accept")
        if skipped_count is not None:
            log.error("connection_not_accepted", why=error.strerror, left_out=skipped_count)
        return
    loop.default_exception_handler(context)
