"""Let playing time pass, or the store's clock jump, without waiting.

Scripts in the store use its clock, TIME, only for differences from stored times: each shard's ``at`` and the workers'
scores. So moving all stored times back by an hour is the same as a jump of TIME by an hour. It also equals an
hour without any activity.
"""

from bot.store import Store, keys
from bot.worker import Worker

SHARDS = range(keys.SHARDS)


async def pass_time(store: Store, seconds: float) -> None:
    """Let playing time pass, as if workers had held all shards."""
    async with store.client.pipeline(transaction=True) as pipe:
        for shard in SHARDS:
            pipe.hincrbyfloat(keys.attended(shard), "played", seconds)
        await pipe.execute()


async def step_clock(store: Store, seconds: float) -> None:
    """Step the store's clock forwards or back. A step forwards is also that much time without activity."""
    attended = [shard for shard in SHARDS if await store.client.hexists(keys.attended(shard), "at")]
    workers = await store.client.zrange(keys.WORKERS, 0, -1)
    async with store.client.pipeline(transaction=True) as pipe:
        for shard in attended:
            pipe.hincrbyfloat(keys.attended(shard), "at", -seconds)
        for worker in workers:
            pipe.zincrby(keys.WORKERS, -seconds, worker)
        await pipe.execute()


async def ring_clocks(worker: Worker, seconds: float) -> None:
    """Let playing time pass, ring the clocks that are due and wait for delivery."""
    await pass_time(worker.store, seconds)
    for _ in range(3):
        await worker.alarms.poll()
        await worker.alarms.wait_until_idle()
        await worker.wait_until_idle()
