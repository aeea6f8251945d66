"""Time that passes, and time that does not, without waiting for it.

The store's scripts use its clock, TIME, in no other way than by its difference from what they noted of it: a shard's
``at``, and the workers' scores. So what happens when TIME jumps ahead by an hour is exactly what happens when all of
those are an hour earlier; and an hour in which nobody did anything cannot be told from that either.
"""

from bot.store import Store, keys
from bot.worker import Worker

SHARDS = range(keys.SHARDS)


async def pass_time(store: Store, seconds: float) -> None:
    """Let so much playing time pass, as if the shards had been attended all the while."""
    async with store.client.pipeline(transaction=True) as pipe:
        for shard in SHARDS:
            pipe.hincrbyfloat(keys.attended(shard), "played", seconds)
        await pipe.execute()


async def step_clock(store: Store, seconds: float) -> None:
    """Step the store's clock forwards, or back; or let time pass in which nobody does anything."""
    attended = [shard for shard in SHARDS if await store.client.hexists(keys.attended(shard), "at")]
    workers = await store.client.zrange(keys.WORKERS, 0, -1)
    async with store.client.pipeline(transaction=True) as pipe:
        for shard in attended:
            pipe.hincrbyfloat(keys.attended(shard), "at", -seconds)
        for worker in workers:
            pipe.zincrby(keys.WORKERS, -seconds, worker)
        await pipe.execute()


async def ring_clocks(worker: Worker, seconds: float) -> None:
    """Let so much playing time pass, and everything that it brings happen."""
    await pass_time(worker.store, seconds)
    for _ in range(3):
        await worker.scheduler.poll()
        await worker.scheduler.settled()
        await worker.settled()
