"""The browsers that take a person's notifications.

A browser's address is a secret of its person: anyone who has it could send messages there. It is never logged.
"""

import json
import re
import time
from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import Any, NamedTuple, get_args
from urllib.parse import urlsplit

from bot.features.web_push import keys
from bot.features.web_push.encryption import AUTH_BYTES, decode_base64, is_public_key
from bot.notification import NotificationKind

KINDS: tuple[NotificationKind, ...] = get_args(NotificationKind)
MAX_BROWSERS = 10  # browsers of one person; a new one replaces the oldest
LONGEST_ENDPOINT = 1024  # characters
LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"  # RFC 1035
# The push services of all browsers. The bot sends to no other address, so nobody can make it send requests elsewhere.
SERVICES = re.compile(
    r"(?:fcm|android)\.googleapis\.com|web\.push\.apple\.com"
    rf"|(?:{LABEL}\.){{1,3}}(?:push\.services\.mozilla|notify\.windows)\.com"
)


class BadSubscription(ValueError):
    """No browser sends such a subscription."""


class Subscription(NamedTuple):
    """A browser: its address, its keys in base64url, the chosen kinds, and the time of creation in Unix seconds."""

    endpoint: str
    p256dh: str
    auth: str
    kinds: tuple[str, ...]
    made: int

    @property
    def id(self) -> str:
        return subscription_id(self.endpoint)


def subscription_id(endpoint: str) -> str:
    return sha256(endpoint.encode()).hexdigest()[:16]


def is_service(endpoint: str) -> bool:
    """Return whether an address belongs to a browser's push service."""
    try:
        address = urlsplit(endpoint)
        is_usual = address.scheme == "https" and address.port in (None, 443) and "@" not in address.netloc
    except ValueError:
        return False
    return is_usual and bool(SERVICES.fullmatch(address.hostname or ""))


class Subscriptions:
    """The stored browsers. Every method can raise a store error."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def choose(self, person: str, endpoint: str, browser_keys: Mapping[str, str], kinds: Collection[str]) -> None:
        """Store which kinds a browser wants; without any it is deleted. Raise BadSubscription for impossible values."""
        if len(endpoint) > LONGEST_ENDPOINT or not is_service(endpoint) or not set(kinds) <= set(KINDS):
            raise BadSubscription()
        if not kinds:
            await self.delete(person, subscription_id(endpoint))
            return
        p256dh, auth = browser_keys.get("p256dh", ""), browser_keys.get("auth", "")
        try:
            is_usable = is_public_key(decode_base64(p256dh)) and len(decode_base64(auth)) == AUTH_BYTES
        except ValueError:
            is_usable = False
        if not is_usable:
            raise BadSubscription()
        subscription = Subscription(
            endpoint, p256dh, auth, tuple(kind for kind in KINDS if kind in kinds), int(time.time())
        )
        other_browsers = [other for other in await self.of(person) if other.id != subscription.id]
        for oldest in other_browsers[: max(0, len(other_browsers) - MAX_BROWSERS + 1)]:
            await self.delete(person, oldest.id)
        await self._client.hset(keys.subscriptions(person), subscription.id, json.dumps(subscription._asdict()))

    async def of(self, person: str) -> list[Subscription]:
        """Return a person's browsers, the oldest first."""
        texts = await self._client.hgetall(keys.subscriptions(person))
        return sorted(map(_parse, texts.values()), key=lambda subscription: subscription.made)

    async def get(self, person: str, id_: str) -> Subscription | None:
        text = await self._client.hget(keys.subscriptions(person), id_)
        return _parse(text) if text else None

    async def delete(self, person: str, id_: str) -> None:
        await self._client.hdel(keys.subscriptions(person), id_)

    async def forget(self, person: str) -> None:
        await self._client.delete(keys.subscriptions(person))


def _parse(text: bytes) -> Subscription:
    fields = json.loads(text)
    return Subscription(**fields | {"kinds": tuple(fields["kinds"])})
