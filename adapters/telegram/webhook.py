"""A webhook: Telegram brings what has happened, to any of several workers behind one address."""

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

from adapters.telegram.errors import LIBRARY_ERRORS, error_name, slow_down_error
from adapters.telegram.polling import ALLOWED_UPDATES, FIRST_PAUSE, LONGEST_PAUSE, HandleUpdate
from adapters.telegram.reading import PLATFORM
from adapters.telegram.updates import update_of
from bot.card_room import CardRoom
from bot.connections import Connections, connection_limit
from bot.monitoring import add_monitoring
from bot.store import WorkDropped
from bot.web_server import body_timeout, equals_secret, listen

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105
CONNECTIONS = 100
"""How many updates Telegram may bring at a time."""

SHARE_OF_FILES = 0.1
"""The share of the process's open files that its connections may have: several times `CONNECTIONS`."""

CHECK_SECONDS = 60.0
"""How often Telegram is asked whether it reaches us."""

REMEDY = "set BUONGIOCO_TELEGRAM_WEBHOOK_PORT or BUONGIOCO_TELEGRAM_WEBHOOK_HOST"

log = structlog.get_logger()


def secret_of(token: str) -> str:
    """What Telegram must say with each update: the same for all workers of a bot, and no way back to its token."""
    return hmac.new(token.encode(), b"buongioco webhook", hashlib.sha256).hexdigest()


class Webhook:
    """Listens, tells Telegram where, and has each update heard before it is acknowledged.

    Telegram brings an update again that was not acknowledged, to whichever worker; what was done already is not done
    twice. ``hears`` while Telegram knows the address, and answered when it was last asked. ``/healthz`` and
    ``/metrics`` are served at the same port.
    """

    def __init__(self, bot: Bot, hear: HandleUpdate, card_room: CardRoom) -> None:
        settings = card_room.settings
        assert settings.telegram_webhook_url
        self._bot, self._handle, self._card_room = bot, hear, card_room
        self._url = settings.telegram_webhook_url
        self._host, self._port = settings.telegram_webhook_host, settings.telegram_webhook_port
        self._secret = secret_of(bot.token)
        self._began_at = int(time.time())
        self._last_error_at: int | None = None
        """When Telegram last failed to reach us, of which the host has been told; None before the first look."""
        self._is_set = self.is_receiving = False

    @property
    def port(self) -> int:
        return self._port

    async def run(self) -> None:
        """Serve until cancelled; the webhook stays set, for other workers and for the next start."""
        app = web.Application()
        app.router.add_post(urlsplit(self._url).path or "/", self._receive)
        add_monitoring(app, self._card_room, self._host)
        connections = Connections(connection_limit(SHARE_OF_FILES), behind_proxy=True)
        runner = await listen(app, self._host, self._port, "Telegram's webhook", REMEDY, connections)
        try:
            self._port = runner.addresses[0][1]
            log.info("telegram_webhook_open", host=self._host, port=self._port, url=self._url)
            pause = FIRST_PAUSE
            while True:
                try:
                    await self._check()
                    pause = FIRST_PAUSE
                except InvalidToken:
                    raise
                except RetryAfter as error:
                    # It is there: of several workers that set the webhook at once it hears one a second.
                    await asyncio.sleep(slow_down_error(error).seconds)
                    continue
                except LIBRARY_ERRORS as error:
                    self.is_receiving = False
                    self._card_room.report_platform_outage(PLATFORM, error_name(error))
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, LONGEST_PAUSE)
                    continue
                await asyncio.sleep(CHECK_SECONDS)
        finally:
            self._is_set = self.is_receiving = False
            await runner.cleanup()

    async def _check(self) -> None:
        """Set the webhook if it is not, and say what Telegram says about reaching it."""
        try:
            info = await self._bot.get_webhook_info()
        except InvalidToken:
            # The token has been taken back; otherwise it is the method that this server does not have.
            await self._bot.get_me()
            info = None
        if not self._is_set or (info and info.url != self._url):
            # Set at every start: whether the secret is still ours cannot be asked.
            await self._bot.set_webhook(
                self._url, max_connections=CONNECTIONS, allowed_updates=ALLOWED_UPDATES, secret_token=self._secret
            )
            self._is_set = True
        self.is_receiving = True
        if info is None:
            return
        if self._last_error_at is None:
            # Telegram remembers its last error for ever: an old one matters where something still waits for it.
            self._last_error_at = 0 if info.pending_update_count else self._began_at - 1
        troubled_at = int(info.last_error_date.timestamp()) if info.last_error_date else 0
        if troubled_at > self._last_error_at:
            self._last_error_at = troubled_at
            log.warning("telegram_cannot_reach_us", why=info.last_error_message, waiting=info.pending_update_count)

    async def _receive(self, request: web.Request) -> web.Response:
        if not equals_secret(request.headers.get(SECRET_HEADER, ""), self._secret):
            raise web.HTTPForbidden(text="This is for Telegram alone.")
        try:
            # Whatever charset the header names: JSON has only one.
            async with body_timeout():
                body = json.loads(await request.read())
        except (ValueError, RecursionError):
            raise web.HTTPBadRequest(text="This is not JSON.") from None
        try:
            update = update_of(body, self._bot)
        except LIBRARY_ERRORS as error:
            # Refused, it would come again and again, and hold up what comes after it.
            log.warning("telegram_update_unreadable", why=error_name(error))
        else:
            try:
                await self._handle(update)
            except WorkDropped:
                # Telegram brings it again, and gives up after a reasonable number of tries.
                raise web.HTTPServiceUnavailable(text="Too much waits.") from None
        return web.Response()
