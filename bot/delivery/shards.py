"""Which worker delivers which tables.

A shard of the store belongs to one worker at a time, which sends its tables' messages and minds their clocks; every
worker takes presses of every table. Workers share the shards evenly by a lease each: a worker that dies loses its
leases after a few seconds, and the others take its shards and look at every table that is marked as changed.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Callable
from typing import Any

import structlog
from redis.exceptions import RedisError

from bot.store import Store, keys

LEASE_SECONDS = 15
RENEW_SECONDS = 4.0

RENEW = """
local owner = redis.call('GET', KEYS[1])
if owner == ARGV[1] or (not owner and ARGV[3] == '1') or ARGV[3] == '2' then
  redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
  return 1
end
return 0
"""
RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

KEEP, TAKE, SEIZE = "0", "1", "2"

log = structlog.get_logger()


class Shards:
    """This worker's shards, and word to the others' owners."""

    def __init__(self, store: Store, *, alone: bool) -> None:
        """``alone`` when no other worker can be: a worker that was killed a moment ago holds nothing then."""
        self.store = store
        self.worker = secrets.token_hex(6)
        self.mine: set[int] = set()
        self.workers = 1
        """How many workers were alive when this one last looked."""
        self.on_taken: Callable[[int], None] = lambda _shard: None
        self.on_lost: Callable[[int], None] = lambda _shard: None
        self.on_poke: Callable[[dict[str, Any]], None] = lambda _poke: None
        self.on_forget: Callable[[str], None] = lambda _key: None
        self._alone = alone
        self._renew = store.client.register_script(RENEW)
        self._release = store.client.register_script(RELEASE)

    def owns(self, code: str) -> bool:
        return keys.shard_of(code) in self.mine

    async def start(self) -> None:
        await self._share_out(SEIZE if self._alone else TAKE)

    async def keep(self) -> None:
        """Renew leases, and take or give shards, until cancelled."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                await self._share_out(SEIZE if self._alone else TAKE)
            except (RedisError, OSError) as error:
                log.warning("store_away", why=type(error).__name__)

    async def stop(self) -> None:
        """Give every shard back at once."""
        for shard in list(self.mine):
            await self._release(keys=[keys.owner(shard)], args=[self.worker])
            self._lose(shard)
        await self.store.client.zrem(keys.WORKERS, self.worker)

    async def poke(self, word: dict[str, Any]) -> None:
        """Tell the owner of a table elsewhere; one who is not there finds the table marked as changed."""
        await self.store.client.publish(keys.POKES, json.dumps(word))

    async def listen(self) -> None:
        """Hear what others tell about tables of this worker's, until cancelled."""
        while True:
            try:
                async with self.store.client.pubsub() as line:
                    await line.subscribe(keys.POKES)
                    async for message in line.listen():
                        if message["type"] == "message":
                            self._hear(json.loads(message["data"]))
            except (RedisError, OSError) as error:
                log.warning("store_away", why=type(error).__name__)
                await asyncio.sleep(1)

    def _hear(self, word: dict[str, Any]) -> None:
        if "forget" in word:
            if word["by"] != self.worker:
                self.on_forget(word["forget"])
        elif self.owns(word["code"]):
            self.on_poke(word)

    async def _share_out(self, how: str) -> None:
        now = time.time()
        client = self.store.client
        await client.zadd(keys.WORKERS, {self.worker: now})
        await client.zremrangebyscore(keys.WORKERS, "-inf", now - LEASE_SECONDS)
        self.workers = 1 if self._alone else max(1, await client.zcard(keys.WORKERS))
        fair = -(-keys.SHARDS // self.workers)
        for shard in sorted(self.mine)[fair:]:
            await self._release(keys=[keys.owner(shard)], args=[self.worker])
            self._lose(shard)
        # Begin somewhere else than the others do, so that workers do not wait for the same shards.
        begin = int(self.worker, 16) % keys.SHARDS
        for step in range(keys.SHARDS):
            shard = (begin + step) % keys.SHARDS
            wants = shard in self.mine or len(self.mine) < fair
            if not wants:
                continue
            got = await self._renew(
                keys=[keys.owner(shard)], args=[self.worker, LEASE_SECONDS, KEEP if shard in self.mine else how]
            )
            if got and shard not in self.mine:
                self.mine.add(shard)
                self.on_taken(shard)
            elif not got and shard in self.mine:
                self._lose(shard)

    def _lose(self, shard: int) -> None:
        self.mine.discard(shard)
        self.on_lost(shard)
