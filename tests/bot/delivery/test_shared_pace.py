"""All workers share the pace of a chat, and a restart does not forget it."""

from redis.asyncio import Redis
from redis.exceptions import RedisError

from bot.delivery.send_limiter import SendLimiter
from bot.delivery.shared_pace import SharedPace
from bot.rate_limits import RateLimit
from bot.store import Store, keys
from tests.kills.bot_process import free_port

GROUP, OTHER_GROUP = "x:9", "x:10"
LIMIT = RateLimit(burst=3, interval=3600.0, is_of_chat=True)


def limiter_of(store: Store, limit: RateLimit = LIMIT) -> SendLimiter:
    """The limiter of a worker that has just started."""
    return SendLimiter(lambda _place: limit, shared=SharedPace(store.client, store.outage.begin))


async def sent_at_once(limiter: SendLimiter, place: str) -> int:
    count = 0
    while limiter.take_turn(place) <= 0 and await limiter.claim_shared(place) <= 0:
        count += 1
    return count


async def test_restart_does_not_forget_recent_messages(store: Store) -> None:
    assert await sent_at_once(limiter_of(store), GROUP) == 3
    assert await sent_at_once(limiter_of(store), GROUP) == 0
    assert await sent_at_once(limiter_of(store), OTHER_GROUP) == 3


async def test_workers_share_the_turns_of_a_chat(store: Store) -> None:
    one, other = limiter_of(store), limiter_of(store)
    assert one.take_turn(GROUP) == 0
    assert await one.claim_shared(GROUP) == 0
    assert await sent_at_once(other, GROUP) == 2
    assert one.take_turn(GROUP) == 0, "the worker's own count leaves a turn"
    assert await one.claim_shared(GROUP) > 3000
    assert one.wait_seconds(GROUP) > 3000, "the worker must wait as long as the others"
    assert not await store.client.exists(keys.pace(OTHER_GROUP))


async def test_refused_turn_is_given_back(store: Store) -> None:
    one = limiter_of(store)
    await sent_at_once(limiter_of(store), GROUP)
    for _ in range(10):
        one._blocked.clear()
        assert one.take_turn(GROUP) == 0
        assert await one.claim_shared(GROUP) > 0


async def test_places_that_count_alone_are_not_shared(store: Store) -> None:
    limiter = limiter_of(store, LIMIT._replace(is_of_chat=False))
    assert await sent_at_once(limiter, GROUP) == 3
    assert not await store.client.exists(keys.pace(GROUP))


async def test_store_clock_set_back_closes_no_chat(store: Store) -> None:
    await store.client.set(keys.pace(GROUP), 10**14)
    assert await SharedPace(store.client, store.outage.begin).take(GROUP, LIMIT) <= LIMIT.interval


async def test_each_worker_counts_alone_while_the_store_is_away() -> None:
    errors: list[Exception] = []
    client = Redis(port=free_port())
    try:
        limiter = SendLimiter(lambda _place: LIMIT, shared=SharedPace(client, errors.append))
        assert await sent_at_once(limiter, GROUP) == 3
    finally:
        await client.aclose()
    assert errors
    assert all(isinstance(error, RedisError) for error in errors)
