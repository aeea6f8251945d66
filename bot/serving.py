"""What the bot's web servers have in common: how they listen, what they log, and whether a proxy stands before them."""

import errno
import logging
import os
import secrets
from collections.abc import Mapping
from hashlib import sha256

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from bot.settings import BadSetting

FORWARDED = ("forwarded", "via", "cdn-loop", "cf-connecting-ip", "true-client-ip", "x-real-ip", "x-client-ip")
FORWARDED_PREFIXES = ("x-forwarded", "x-original-", "x-cluster-client")
"""Headers, in lower case, that a reverse proxy adds, whichever it is, and that no browser sends by itself."""


class _OneLine(logging.Filter):
    """Requests that are no HTTP are one line, without the traceback, for that repeats what was sent: perhaps a secret
    link. Everybody can send them, so they are worth no warning.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, HttpProcessingError):
            record.exc_info = None
            record.levelno, record.levelname = logging.INFO, "INFO"
            record.msg, record.args = f"no HTTP request: {type(error).__name__}", ()
            return logging.getLogger().isEnabledFor(logging.INFO)
        return True


log = logging.getLogger("buongioco.http")
log.addFilter(_OneLine())


def is_forwarded(headers: Mapping[str, str], version: tuple[int, int]) -> bool:
    """Whether a proxy passes this request on for somebody else; ``version`` is that of HTTP.

    No browser speaks HTTP/1.0 any more; a proxy that was told nothing else does, and adds no header.
    """
    return version < (1, 1) or any(
        name.lower() in FORWARDED or name.lower().startswith(FORWARDED_PREFIXES) for name in headers
    )


def is_same_secret(one: str, other: str) -> bool:
    """Whether what came over HTTP, in whatever bytes, is a secret, in a time that does not tell how near it is."""
    return secrets.compare_digest(one.encode("utf-8", "surrogateescape"), other.encode())


def digest_of(token: str) -> str:
    """What is kept of a token that we have given away, so that whoever reads the store has none."""
    return sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def is_token_of(token: str, digest: str) -> bool:
    """Whether what came over HTTP is the token of which this is kept."""
    return is_same_secret(digest_of(token), digest)


async def listen(app: web.Application, host: str, port: int, what: str, remedy: str) -> web.AppRunner:
    """Serve; the caller has the runner cleaned up. BadSetting says that ``what`` cannot listen there, and a remedy."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0, logger=log)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
    except BaseException as error:
        await runner.cleanup()
        if not isinstance(error, OSError):
            raise
        # asyncio repeats the address within the reason.
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise BadSetting(
            f"{what} cannot listen on {host}, port {port} ({reason}): {remedy}.",
            "port taken" if error.errno == errno.EADDRINUSE else "cannot listen",
        ) from None
    return runner
