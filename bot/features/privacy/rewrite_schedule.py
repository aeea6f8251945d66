"""Rewrites of the store's append-only file, so that data of forgotten people leaves the disk too.

A rewrite costs as much as writing the whole store once. So one rewrite serves all people forgotten within an hour.
Another follows after 27 hours, when all data with a lifetime of a day has expired (`bot.days.once_a_day`, ``tries:``,
``{find}:reported:``, ``gone:``).

| key | type | what |
|---|---|---|
| ``rewrites`` | sorted set | ``forgotten`` and ``expired``: when a rewrite is due, Unix seconds of the store's clock |
"""

import time

import structlog
from redis.exceptions import ResponseError

from bot.store import Store, keys
from bot.store.outage import describe_error
from bot.store.rewriting import RewriteFailed, rewrite_files

SPACING_SECONDS = 3600.0  # shortest time between rewrites, and longest wait for people who are still being forgotten
REWRITES_KEY = "rewrites"
ALL_EXPIRED_SECONDS = 27 * 3600  # a little longer than the lifetime of expiring data that /forget leaves
log = structlog.get_logger()


async def ask_for_rewrite(store: Store) -> None:
    now = await store.leases.current_time()
    await store.client.zadd(REWRITES_KEY, {"forgotten": now, "expired": now + ALL_EXPIRED_SECONDS})


async def rewrite_if_due(store: Store) -> bool:
    """Rewrite the file if a rewrite is due. Return whether it was rewritten. Raises the errors of `rewrite_files`."""
    now = await store.leases.current_time()
    if not await store.client.zcount(REWRITES_KEY, "-inf", now):
        return False
    is_done = await rewrite_files(store.client)
    # Requests since the start of the rewrite have later times, and stay.
    await store.client.zremrangebyscore(REWRITES_KEY, "-inf", now)
    return is_done


class Rewriter:
    """Rewrites the file of one store, one worker at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.spacing = SPACING_SECONDS
        self._last = self._due_since = 0.0
        self._has_warned = False

    async def work(self) -> None:
        """Rewrite the file if a rewrite is due and `SPACING_SECONDS` have passed since the last one."""
        client, now = self._store.client, time.monotonic()
        if not await client.zcount(REWRITES_KEY, "-inf", await self._store.leases.current_time()):
            self._due_since = 0.0
            return
        self._due_since = self._due_since or now
        if self._last and now - self._last < self.spacing:
            return
        # Wait for other forgettings, so that one rewrite serves all.
        if await client.hlen(keys.FORGETTING) and now - self._due_since < self.spacing:
            return
        self._last, self._due_since = now, 0.0
        try:
            if await rewrite_if_due(self._store):
                log.info("store_file_rewritten", seconds=round(time.monotonic() - now, 1))
        except (ResponseError, RewriteFailed) as error:
            if not self._has_warned:
                reason = describe_error(error)
                log.warning("store_file_not_rewritten", why=reason, see="docs/hosting-operate.md")
            self._has_warned = True
