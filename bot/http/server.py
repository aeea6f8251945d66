"""Common parts of the bot's web servers: listening, logging, secrets and timeouts for bodies."""

import asyncio
import errno
import logging
import os
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256

import structlog
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from bot.http.connections import KEEPALIVE_SECONDS, Connection, Connections
from bot.rate_limiter import LogLimiter
from bot.settings import BadSetting

SENT_SECONDS = 10.0  # time limit for a body, because a client could occupy a connection with a byte now and then
BACKLOG = 128  # connections that the system queues until they are accepted

MALFORMED = (HttpProcessingError, web.RequestPayloadError)
"""aiohttp's errors for requests that are not HTTP, or whose body does not match the headers."""

log = structlog.get_logger()


class RequestLogFilter(logging.Filter):
    """Limits aiohttp's log lines about requests, because clients can cause any number of them.

    A malformed request gets one line at level info, without the traceback, which repeats the request, perhaps with a
    secret link. Any other error keeps its traceback. The number of lines of each kind is limited.
    """

    def __init__(self) -> None:
        super().__init__()
        self.log_limiter = LogLimiter()

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, (*MALFORMED, ConnectionError)):
            # A client that disconnects during its request is not our error either.
            event = "request_malformed" if isinstance(error, MALFORMED) else "request_aborted"
            skipped_count = self.log_limiter.take(event)
            if skipped_count is not None:
                log.info(event, why=type(error).__name__, left_out=skipped_count)
            return False
        skipped_count = self.log_limiter.take(f"{record.msg} {type(error).__name__}")
        if skipped_count:
            record.msg = f"{record.msg} ({skipped_count} similar lines were left out)"
        return skipped_count is not None


request_log_filter = RequestLogFilter()
http_log = logging.getLogger("buongioco.http")
http_log.addFilter(request_log_filter)


def equals_secret(text: str, secret: str) -> bool:
    """Compare text from HTTP with a secret in constant time."""
    return secrets.compare_digest(text.encode("utf-8", "surrogateescape"), secret.encode())


def token_digest(token: str) -> str:
    """Return the stored form of a token: readers of the store cannot use it."""
    return sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def matches_digest(token: str, digest: str) -> bool:
    """Return whether text from HTTP is the token with this digest."""
    return equals_secret(token_digest(token), digest)


@asynccontextmanager
async def body_timeout() -> AsyncIterator[None]:
    """Answer 408 if the body read in this context does not arrive in time, and 400 if its encoding is invalid."""
    try:
        async with asyncio.timeout(SENT_SECONDS):
            yield
    except (TimeoutError, ConnectionError):
        raise web.HTTPRequestTimeout() from None
    except web.RequestPayloadError:
        raise web.HTTPBadRequest() from None


class _Site(web.BaseSite):
    """Listens with a `Connection` between the system's socket and aiohttp."""

    def __init__(self, runner: web.AppRunner, host: str, port: int, connections: Connections) -> None:
        super().__init__(runner)
        self._host, self._port, self._connections = host, port, connections

    @property
    def name(self) -> str:
        return f"http://{self._host}:{self._port}"

    async def start(self) -> None:
        await super().start()
        aiohttp_server = self._runner.server
        assert aiohttp_server
        # asyncio accepts as many connections at once as the backlog. When files run out, it logs and retries for each
        # of them, more and more often. With a backlog of one it logs and retries once a second.
        server = await asyncio.get_running_loop().create_server(
            lambda: Connection(self._connections, aiohttp_server), self._host, self._port, backlog=1
        )
        self._server = server
        for listening in server.sockets:
            with socket.socket(fileno=os.dup(listening.fileno())) as same_socket:
                same_socket.listen(BACKLOG)


async def listen(
    app: web.Application, host: str, port: int, server_name: str, remedy: str, connections: Connections
) -> web.AppRunner:
    """Serve an app. The caller must clean up the returned runner.

    Raise BadSetting with the ``server_name`` and the ``remedy`` if the system does not allow it to listen there.
    """
    connections.install(app)
    runner = web.AppRunner(
        app, access_log=None, shutdown_timeout=2.0, logger=http_log, keepalive_timeout=KEEPALIVE_SECONDS
    )
    await runner.setup()
    try:
        await _Site(runner, host, port, connections).start()
    except BaseException as error:
        await runner.cleanup()
        if not isinstance(error, OSError):
            raise
        # asyncio's own text repeats the address.
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise BadSetting(
            f"{server_name} cannot listen on {host}, port {port} ({reason}): {remedy}.",
            "port taken" if error.errno == errno.EADDRINUSE else "cannot listen",
        ) from None
    return runner
