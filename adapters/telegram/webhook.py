"""The webhook, with which Telegram sends updates to several workers behind one address."""

import asyncio
import hashlib
import hmac
import json
import time
from urllib.parse import urlsplit

import structlog
from aiohttp import web
from telegram import Bot
from telegram.error import InvalidToken, RetryAfter

from adapters.telegram.errors import LIBRARY_ERRORS, error_name
from adapters.telegram.limits import slow_down_error
from adapters.telegram.polling import FIRST_PAUSE, LONGEST_PAUSE, HandleUpdate, update_kinds
from adapters.telegram.raw_updates import build_update
from adapters.telegram.reading import PLATFORM
from bot.card_room import CardRoom
from bot.concurrency.backoff import Backoff
from bot.http.connections import Connections, connection_limit
from bot.http.server import body_timeout, equals_secret, listen
from bot.running.monitoring import add_monitoring
from bot.store import WorkDropped

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105
CONNECTIONS = 100  # concurrent connections that Telegram opens
# Maximum of connections, as a share of the files that the process can open; usually far more than `CONNECTIONS`.
SHARE_OF_FILES = 0.1
CHECK_SECONDS = 60.0  # time between checks that Telegram can reach the bot

log = structlog.get_logger()


def secret_of(token: str) -> str:
    """Return the secret that Telegram sends with each update. It is the same for all workers of a bot."""
    return hmac.new(token.encode(), b"buongioco webhook", hashlib.sha256).hexdigest()


class Webhook:
    """Sets the webhook at Telegram, and acknowledges each update after handling it.

    Telegram sends an unacknowledged update again, to any worker. A handled update has no effect the second time.
    ``is_receiving`` is true while the webhook is set and the last check succeeded. The port also serves ``/healthz``
    and ``/metrics``.
    """

    def __init__(self, bot: Bot, handle: HandleUpdate, card_room: CardRoom) -> None:
        settings = card_room.settings
        assert settings.telegram_webhook_url
        self._bot, self._handle, self._card_room = bot, handle, card_room
        self._url = settings.telegram_webhook_url
        self._kinds = update_kinds(settings)
        self._host, self.port = settings.telegram_webhook_host, settings.telegram_webhook_port
        self._secret = secret_of(bot.token)
        self._began_at = int(time.time())
        self._last_error_at: int | None = None  # Unix time of the latest known error; None before the first check
        self._is_set = self.is_receiving = False

    async def run(self) -> None:
        """Serve until cancelled; the webhook stays set, for other workers and for the next start."""
        app = web.Application()
        app.router.add_post(urlsplit(self._url).path or "/", self._receive)
        add_monitoring(app, self._card_room, self._host)
        connections = Connections(connection_limit(SHARE_OF_FILES), behind_proxy=True)
        remedy = "set BUONGIOCO_TELEGRAM_WEBHOOK_PORT or BUONGIOCO_TELEGRAM_WEBHOOK_HOST"
        runner = await listen(app, self._host, self.port, "Telegram's webhook", remedy, connections)
        try:
            self.port = runner.addresses[0][1]
            log.info("telegram_webhook_opened", host=self._host, port=self.port, url=self._url)
            backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
            while True:
                pause = CHECK_SECONDS
                try:
                    await self._check()
                    backoff.reset()
                except InvalidToken:
                    raise
                except RetryAfter as error:
                    # Telegram allows one call a second, and another worker has just set the webhook.
                    pause = slow_down_error(error).seconds
                except LIBRARY_ERRORS as error:
                    self.is_receiving = False
                    self._card_room.report_platform_outage(PLATFORM, error_name(error))
                    pause = backoff.next_pause()
                await asyncio.sleep(pause)
        finally:
            self._is_set = self.is_receiving = False
            await runner.cleanup()

    async def _check(self) -> None:
        """Set the webhook if needed, and log Telegram's latest error in calling it."""
        try:
            webhook = await self._bot.get_webhook_info()
        except InvalidToken:
            # This raises if the token was revoked. Otherwise the server lacks the method.
            await self._bot.get_me()
            webhook = None
        if not self._is_set or (webhook and webhook.url != self._url):
            # Set the webhook at every start, because Telegram does not return the secret.
            await self._bot.set_webhook(
                self._url, max_connections=CONNECTIONS, allowed_updates=self._kinds, secret_token=self._secret
            )
            self._is_set = True
        self.is_receiving = True
        if webhook is None:
            return
        if self._last_error_at is None:
            # Telegram never forgets its last error. An old error matters only if updates are still waiting.
            self._last_error_at = 0 if webhook.pending_update_count else self._began_at - 1
        error_at = int(webhook.last_error_date.timestamp()) if webhook.last_error_date else 0
        if error_at > self._last_error_at:
            self._last_error_at = error_at
            log.warning(
                "telegram_webhook_unreachable", why=webhook.last_error_message, waiting=webhook.pending_update_count
            )

    async def _receive(self, request: web.Request) -> web.Response:
        if not equals_secret(request.headers.get(SECRET_HEADER, ""), self._secret):
            raise web.HTTPForbidden(text="Only Telegram can send updates here.")
        try:
            # The header's charset is ignored because JSON has only one.
            async with body_timeout():
                body = json.loads(await request.read())
        except (ValueError, RecursionError):
            raise web.HTTPBadRequest(text="The body is not JSON.") from None
        try:
            update = build_update(body, self._bot)
        except LIBRARY_ERRORS as error:
            # If the bot refused the update, Telegram would repeat it and hold back later ones.
            log.warning("telegram_update_unreadable", why=error_name(error))
        else:
            try:
                await self._handle(update)
            except WorkDropped:
                # Telegram sends the update again, but only a few times.
                raise web.HTTPServiceUnavailable(text="Too many updates are waiting.") from None
        return web.Response()
