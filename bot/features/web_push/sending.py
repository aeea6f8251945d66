"""Sends notifications to push services (RFC 8030), in a loop that delays no message and no press.

A message stays in the store until it is delivered or given up. A crash in between can send it again: its topic and its
tag are then the same, so services and browsers show it once.
"""

import asyncio
import json
import random
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from hashlib import sha256
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import aiohttp
import structlog
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

from bot.features.web_push import keys
from bot.features.web_push.encryption import (
    decode_base64,
    encode_base64,
    encrypt,
    load_private_key,
    new_private_key,
    public_bytes,
    sign,
)
from bot.features.web_push.subscriptions import Subscription, Subscriptions
from bot.metrics import PUSHES
from bot.notification import Notification, NotificationKind
from bot.store import STORE_ERRORS

KEPT_SECONDS: Mapping[NotificationKind, int] = {
    "turn": 24 * 3600,
    "challenge": 24 * 3600,
    "daily": 8 * 3600,
    "tournament": 8 * 3600,
}
"""How long a service keeps a message for a phone that is off."""

MAX_DUE, MAX_DUE_EACH = 10_000, 20  # messages of all people and of one person; more are dropped and counted
AT_ONCE = 50  # messages sent together
TIMEOUT_SECONDS = 10.0
RETRY_SECONDS = (30, 120, 600, 3600)  # pauses before the second and each later attempt
LONGEST_PAUSE = 6 * 3600  # longest pause that a service can ask for
SIGNED_SECONDS = 12 * 3600  # lifetime of a signature; services accept at most 24 hours
TOPIC_BYTES = 24  # 32 characters, the most that a topic can have

log = structlog.get_logger()


class Due(NamedTuple):
    """A message for a browser (an id), with the number of attempts so far."""

    person: str
    browser: str
    kind: NotificationKind
    text: str
    path: str
    tries: int = 0
    people: tuple[str, ...] = ()

    @property
    def as_json(self) -> str:
        return json.dumps(self, ensure_ascii=False, separators=(",", ":"))

    @property
    def content(self) -> bytes:
        return json.dumps({"kind": self.kind, "text": self.text, "path": self.path}, ensure_ascii=False).encode()

    @property
    def topic(self) -> str:
        """A service replaces an older message with the same topic."""
        return encode_base64(sha256(f"{self.kind} {self.path}".encode()).digest()[:TOPIC_BYTES])


class Sender:
    """Queues notifications and sends them. ``contact`` is the host's address for push services, or empty."""

    def __init__(self, client: Any, subscriptions: Subscriptions, contact: str) -> None:
        self._client, self._subscriptions, self._contact = client, subscriptions, contact
        self._key: EllipticCurvePrivateKey | None = None

    async def public_key(self) -> str:
        """Return the key that browsers subscribe with, in base64url."""
        return encode_base64(public_bytes((await self._private_key()).public_key()))

    async def queue(self, person: str, notification: Notification) -> None:
        """Queue a notification for those of a person's browsers that want its kind. Can raise a store error."""
        browsers = [browser for browser in await self._subscriptions.of(person) if notification.kind in browser.kinds]
        if not browsers:
            return
        if await self._client.zcard(keys.DUE) >= MAX_DUE or len(await self._due_of(person)) >= MAX_DUE_EACH:
            PUSHES.labels("dropped").inc(len(browsers))
            return
        now = time.time()
        kind, text, path, people = notification
        scores = {Due(person, browser.id, kind, text, path, people=people).as_json: now for browser in browsers}
        await self._client.zadd(keys.DUE, scores, nx=True)

    async def send_due(self) -> None:
        """Send due messages, at most `AT_ONCE`."""
        messages = await self._client.zrangebyscore(keys.DUE, "-inf", time.time(), 0, AT_ONCE)
        if not messages:
            return
        timeout = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session:
            results = await asyncio.gather(
                *(self._deliver(session, Due(*json.loads(message))) for message in messages), return_exceptions=True
            )
        store_errors = [error for error in results if isinstance(error, STORE_ERRORS)]
        for stored, error in zip(messages, results, strict=True):
            if error and error not in store_errors:
                # Remove the message, so that it does not block the others. Its error can name the secret address.
                log.warning("push_failed", error=type(error).__name__)
                PUSHES.labels("failed").inc()
                await self._client.zrem(keys.DUE, stored)
        for error in store_errors:
            raise error

    async def forget(self, person: str) -> None:
        """Delete the queued messages to a person, and those that name them."""
        messages = [message async for message, _due_at in self._client.zscan_iter(keys.DUE, count=1000)]
        dues = {message: Due(*json.loads(message)) for message in messages}
        if deleted_messages := [message for message, due in dues.items() if person in (due.person, *due.people)]:
            await self._client.zrem(keys.DUE, *deleted_messages)

    async def _due_of(self, person: str) -> list[bytes]:
        """Return a person's queued messages. The store selects them by their beginning (`Due.as_json`)."""
        messages = self._client.zscan_iter(keys.DUE, match=f'[[]"{person}",*', count=1000)
        return [message async for message, _due_at in messages]

    async def _deliver(self, session: aiohttp.ClientSession, due: Due) -> None:
        browser = await self._subscriptions.get(due.person, due.browser)
        if browser is None or due.kind not in browser.kinds:
            await self._client.zrem(keys.DUE, due.as_json)
            return
        status, pause = await self._post(session, browser, due)
        if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
            await self._subscriptions.delete(due.person, due.browser)
            outcome = "gone"
        elif HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            outcome = "sent"
        elif status and status != HTTPStatus.TOO_MANY_REQUESTS and status < HTTPStatus.INTERNAL_SERVER_ERROR:
            log.warning("push_refused", service=urlsplit(browser.endpoint).hostname, status=status)
            outcome = "refused"
        elif due.tries < len(RETRY_SECONDS):
            await self._retry(due, pause)
            outcome = "retried"
        else:
            outcome = "failed"
        PUSHES.labels(outcome).inc()
        if outcome != "retried":
            await self._client.zrem(keys.DUE, due.as_json)

    async def _post(self, session: aiohttp.ClientSession, browser: Subscription, due: Due) -> tuple[int, float]:
        """Post a message. Return the status, 0 without an answer, and the pause that the service asks for."""
        address, key = urlsplit(browser.endpoint), await self._private_key()
        headers = {
            "Authorization": sign(
                key, f"{address.scheme}://{address.netloc}", int(time.time()) + SIGNED_SECONDS, self._contact
            ),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(KEPT_SECONDS[due.kind]),
            "Topic": due.topic,
            "Urgency": "normal",
        }
        body = encrypt(due.content, decode_base64(browser.p256dh), decode_base64(browser.auth))
        try:
            async with session.post(browser.endpoint, data=body, headers=headers, allow_redirects=False) as answer:
                return answer.status, _parse_pause(answer.headers.get("Retry-After", ""))
        except (aiohttp.ClientError, TimeoutError):
            # The error's text names the address, which is the person's secret. The metric counts it.
            return 0, 0.0

    async def _retry(self, due: Due, pause: float) -> None:
        usual_pause = RETRY_SECONDS[due.tries] * random.uniform(0.8, 1.2)
        due_at = time.time() + max(usual_pause, min(pause, LONGEST_PAUSE))
        async with self._client.pipeline(transaction=True) as pipe:
            pipe.zrem(keys.DUE, due.as_json)
            pipe.zadd(keys.DUE, {due._replace(tries=due.tries + 1).as_json: due_at}, nx=True)
            await pipe.execute()

    async def _private_key(self) -> EllipticCurvePrivateKey:
        """Return the bot's key. The first worker that needs it makes it."""
        if self._key is None:
            await self._client.set(keys.KEY, new_private_key(), nx=True)
            self._key = load_private_key(await self._client.get(keys.KEY))
        return self._key


def _parse_pause(retry_after: str) -> float:
    """Return the pause in seconds that a `Retry-After` asks for, as a number or a date; 0.0 for anything else."""
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return 0.0
