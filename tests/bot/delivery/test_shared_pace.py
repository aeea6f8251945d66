"""All workers share the pace of a chat, and a restart does not forget it."""

import asyncio
from unittest.mock import AsyncMock

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from bot.delivery.send_limiter import SendLimiter
from bot.delivery.shared_pace import SharedPace
from bot.rate_limiter import RateLimit
from bot.store import Store, keys
from tests.kills.bot_process import free_port

GROUP, OTHER_GROUP = "x:9", "x:10"
LIMIT = RateLimit(burst=3, interval=3600.0, per_chat=True)


def create_limiter(store: Store, limit: RateLimit = LIMIT) -> SendLimiter:
    """Create the limiter of a newly started worker."""
    return SendLimiter(lambda _place: limit, shared=SharedPace(store.client, store.outage.begin))


async def take_free_turns(limiter: SendLimiter, place: str) -> int:
    """Take turns until none is free; return their number."""
    count = 0
    while limiter.take_turn(place) <= 0 and await limiter.claim_shared(place) <= 0:
        count += 1
    return count


async def test_restart_does_not_forget_recent_messages(store: Store) -> None:
    assert await take_free_turns(create_limiter(store), GROUP) == 3
    assert await take_free_turns(create_limiter(store), GROUP) == 0
    assert await take_free_turns(create_limiter(store), OTHER_GROUP) == 3


async def test_workers_share_the_turns_of_a_chat(store: Store) -> None:
    first, second = create_limiter(store), create_limiter(store)
    assert first.take_turn(GROUP) == 0
    assert await first.claim_shared(GROUP) == 0
    assert await take_free_turns(second, GROUP) == 2
    assert first.take_turn(GROUP) == 0, "the worker's own count must leave a turn"
    assert await first.claim_shared(GROUP) > 3000
    assert first.wait_seconds(GROUP) > 3000, "the worker must wait as long as the others"
    assert not await store.client.exists(keys.pace(OTHER_GROUP))


async def test_refused_turn_is_given_back(store: Store) -> None:
    limiter = create_limiter(store)
    await take_free_turns(create_limiter(store), GROUP)
    for _ in range(10):
        limiter._blocked.clear()
        assert limiter.take_turn(GROUP) == 0
        assert await limiter.claim_shared(GROUP) > 0


async def test_limits_of_single_places_are_not_shared(store: Store) -> None:
    limiter = create_limiter(store, LIMIT._replace(per_chat=False))
    assert await take_free_turns(limiter, GROUP) == 3
    assert not await store.client.exists(keys.pace(GROUP))


async def test_store_clock_set_back_blocks_no_chat(store: Store) -> None:
    await store.client.set(keys.pace(GROUP), 10**14)
    assert await SharedPace(store.client, store.outage.begin).take(GROUP, LIMIT) <= LIMIT.interval


async def test_message_sent_in_an_outage_counts_afterwards(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    limiter = create_limiter(store)
    with monkeypatch.context() as outage:
        outage.setattr(store.client.connection_pool, "get_connection", AsyncMock(side_effect=OSError))
        assert await take_free_turns(limiter, GROUP) == 1, "a chat must have no burst during an outage"
    limiter._blocked.clear()
    assert await take_free_turns(limiter, GROUP) == 2
    assert await take_free_turns(create_limiter(store), GROUP) == 0


async def test_messages_of_an_outage_are_counted_only_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    pace = SharedPace(store.client, store.outage.begin)
    for _ in range(2):
        assert await pace.take(GROUP, LIMIT) == 0
    with monkeypatch.context() as outage:
        outage.setattr(store.client.connection_pool, "get_connection", AsyncMock(side_effect=OSError))
        assert await pace.take(GROUP, LIMIT) == 0
    waits = [await pace.take(GROUP, LIMIT) for _ in range(2)]
    assert waits == pytest.approx([LIMIT.interval] * 2, rel=0.01)


async def fail_to_count(pace: SharedPace, pairs: int) -> None:
    """Send two messages at once, this many times, while the store is away and nothing limits them."""
    with pytest.MonkeyPatch.context() as outage:
        outage.setattr(pace._take._client.connection_pool, "get_connection", AsyncMock(side_effect=OSError))
        for _ in range(pairs):
            waits = await asyncio.gather(*[pace.take(GROUP, RateLimit(burst=9, per_chat=True)) for _ in range(2)])
            assert waits == [0, 0]


async def test_simultaneous_messages_in_an_outage_all_count(store: Store) -> None:
    pace = SharedPace(store.client, store.outage.begin)
    await fail_to_count(pace, 3)
    waits = [await pace.take(GROUP, LIMIT._replace(burst=8)) for _ in range(3)]
    assert waits == pytest.approx([0, 0, LIMIT.interval], rel=0.01)


async def test_long_outage_delays_a_chat_by_one_interval(store: Store) -> None:
    pace = SharedPace(store.client, store.outage.begin)
    await fail_to_count(pace, 20)
    assert await pace.take(GROUP, LIMIT) == pytest.approx(LIMIT.interval, rel=0.01)


@pytest.mark.long
async def test_each_worker_counts_alone_while_the_store_is_away() -> None:
    errors: list[Exception] = []
    client = Redis(port=free_port())
    try:
        limiter = SendLimiter(lambda _place: LIMIT, shared=SharedPace(client, errors.append))
        assert await take_free_turns(limiter, GROUP) == 1
        assert await take_free_turns(limiter, OTHER_GROUP) == 1
    finally:
        await client.aclose()
    assert errors
    assert all(isinstance(error, RedisError) for error in errors)
