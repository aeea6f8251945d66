"""Rate limits of places: which messages wait, how long, and which turns they leave to others."""

import asyncio
from collections.abc import Callable

import pytest

from bot.delivery import send_limiter
from bot.delivery.send_limiter import SendLimiter
from bot.rate_limiter import RateLimit

PRIVATE, OTHER_PRIVATE = "x:@1", "x:@2"
NO_LIMIT = RateLimit()


class Clock:
    """Time that passes only during sleeps."""

    def __init__(self) -> None:
        self.time = 100.0

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(send_limiter, "_now", clock.now)
    monkeypatch.setattr(asyncio, "sleep", clock.sleep)
    return clock


def create_limiter(limit: RateLimit, overall: RateLimit = NO_LIMIT) -> SendLimiter:
    return SendLimiter(lambda _place: limit, lambda _place: overall)


def take_free_turns(limiter: SendLimiter, places: Callable[[int], str], *, answer: bool = False) -> int:
    """Take turns until none is free; return their number. `places` maps a message's number to its place."""
    count = 0
    while limiter.take_turn(places(count), answer=answer) <= 0:
        count += 1
    return count


async def test_place_gets_a_burst_then_one_message_per_interval(clock: Clock) -> None:
    limiter, waits = create_limiter(RateLimit(burst=3, interval=5.0)), []
    for _ in range(5):
        started = clock.time
        has_waited = await limiter.wait_for_turn("x:1")
        waits.append(clock.time - started)
        assert has_waited == (waits[-1] > 0)
    assert waits == pytest.approx([0, 0, 0, 5, 5])
    assert limiter.take_turn("x:2") == 0, "another place must have its own turns"


async def test_is_free_uses_no_turn(clock: Clock) -> None:
    limiter = create_limiter(RateLimit(burst=2, interval=5.0))
    for _ in range(2):
        assert limiter.is_free("x:1")
        assert not await limiter.wait_for_turn("x:1")
    assert not limiter.is_free("x:1")
    assert limiter.is_free("x:2")
    assert limiter.wait_seconds("x:1") == 5.0
    clock.time += 5.0
    assert limiter.is_free("x:1")
    assert not await limiter.wait_for_turn("x:1"), "is_free must not take the turn"


async def test_unlimited_place_waits_only_if_the_platform_asks(clock: Clock) -> None:
    limiter = SendLimiter(lambda _place: None, lambda _place: RateLimit(burst=1, interval=60.0))
    assert [limiter.take_turn("x:1") for _ in range(5)] == [0] * 5
    limiter.block("x:1", 3.0)
    assert limiter.take_turn("x:1") == 3.0


@pytest.mark.parametrize("answer", [False, True])
async def test_wait_requested_by_the_platform_applies_to_all(clock: Clock, answer: bool) -> None:
    limiter = create_limiter(NO_LIMIT)
    limiter.block("x:1", 30.0)
    assert not limiter.is_free("x:1")
    assert limiter.is_free("x:2")
    clock.time += 10.0
    assert limiter.take_turn("x:1", answer=answer) == 20.0
    # A shorter wait does not replace a longer one, but a longer one does.
    limiter.block("x:1", 5.0)
    assert limiter.take_turn("x:1", answer=answer) == 20.0
    limiter.block("x:1", 40.0)
    assert await limiter.wait_for_turn("x:1", answer=answer)
    assert clock.time == 150.0
    assert limiter.is_free("x:1")
    assert not await limiter.wait_for_turn("x:1", answer=answer)
    limiter.block("x:1", 7.0)
    assert limiter.wait_seconds("x:1") == 7.0


async def test_platform_wait_extends_a_pending_turn(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    limiter = create_limiter(RateLimit(burst=1, interval=5.0))
    await limiter.wait_for_turn("x:1")

    async def block_and_sleep(seconds: float) -> None:
        if clock.time == 100.0:
            limiter.block("x:1", 60.0)
        await clock.sleep(seconds)

    monkeypatch.setattr(asyncio, "sleep", block_and_sleep)
    assert await limiter.wait_for_turn("x:1")
    assert clock.time == 160.0


async def test_waiting_for_the_platform_uses_no_turn_of_the_place(clock: Clock) -> None:
    limiter = create_limiter(RateLimit(burst=1, interval=3600.0), RateLimit(burst=1, interval=5.0))
    assert limiter.take_turn(PRIVATE) == 0
    assert limiter.take_turn(OTHER_PRIVATE) == 5.0
    assert limiter.is_free(OTHER_PRIVATE)
    assert await limiter.wait_for_turn(OTHER_PRIVATE)


@pytest.mark.parametrize(("burst", "boards"), [(9, 3), (8, 2), (2, 1)])
async def test_boards_leave_platform_turns_to_hands(clock: Clock, burst: int, boards: int) -> None:
    limiter = create_limiter(NO_LIMIT, RateLimit(burst, 5.0))
    assert take_free_turns(limiter, "x:{}".format) == boards
    assert take_free_turns(limiter, "x:@{}".format) == burst - boards
    # Hands get the rest of the platform's turns, and boards come after them.
    clock.time += 5.0
    assert limiter.take_turn("x:99") > 0
    assert limiter.take_turn("x:@99") == 0
    assert limiter.take_turn("y:99") == 0, "another platform must have its own turns"


async def test_answers_leave_turns_of_a_place_to_boards(clock: Clock) -> None:
    limiter = create_limiter(RateLimit(burst=3, interval=5.0))
    assert take_free_turns(limiter, lambda _count: "x:1", answer=True) == 2
    # Turns that answers used delay no board.
    assert take_free_turns(limiter, lambda _count: "x:1") == 1
    clock.time += 5.0
    assert limiter.take_turn("x:1") == 0
    # Answers get one turn in three.
    assert await limiter.wait_for_turn("x:1", answer=True)
    assert clock.time == 115.0
    assert await limiter.wait_for_turn("x:1", answer=True)
    assert clock.time == 130.0


@pytest.mark.parametrize("burst", [1, 2, 10])
async def test_waiting_answer_gets_one_turn_in_three(clock: Clock, monkeypatch: pytest.MonkeyPatch, burst: int) -> None:
    """Hands try to take every turn while the answers sleep."""
    limiter, order = create_limiter(RateLimit(burst, 1.0)), []

    async def send_hands(_seconds: float) -> None:
        clock.time += 0.25
        while limiter.take_turn(PRIVATE) <= 0:
            order.append("hand")

    monkeypatch.setattr(asyncio, "sleep", send_hands)
    take_free_turns(limiter, lambda _count: PRIVATE)
    take_free_turns(limiter, lambda _count: PRIVATE, answer=True)
    for _ in range(3 * burst + 3):
        await limiter.wait_for_turn(PRIVATE, answer=True)
        order.append("answer")
    # The answers' remaining burst comes first.
    assert order[-9:] == ["hand", "hand", "answer"] * 3


async def test_answer_can_use_a_burst_of_one(clock: Clock) -> None:
    limiter = create_limiter(RateLimit(burst=1, interval=5.0))
    assert take_free_turns(limiter, lambda _count: "x:1", answer=True) == 1


async def test_answers_count_towards_the_platform_limit(clock: Clock) -> None:
    limiter = create_limiter(NO_LIMIT, RateLimit(burst=2, interval=5.0))
    assert take_free_turns(limiter, "x:@{}".format, answer=True) == 2


async def test_inline_messages_of_a_chat_share_its_turns(clock: Clock) -> None:
    limiter = create_limiter(RateLimit(burst=4, interval=3.0))
    assert take_free_turns(limiter, lambda number: f"x:~7/{number}") == 4
    assert not limiter.is_free("x:~7/new")
    assert take_free_turns(limiter, lambda number: f"x:~8/{number}") == 4
    assert take_free_turns(limiter, lambda number: f"x:9/{number % 2}") == 8
    clock.time += 100.0
    limiter.block("x:~7/1", 5.0)
    assert not limiter.is_free("x:~7/2")
    assert limiter.is_free("x:~8/1")


async def test_parts_of_a_chat_share_turns_if_its_limit_says_so(clock: Clock) -> None:
    """Telegram counts all topics of a forum together; Discord counts each channel alone."""
    limiter = create_limiter(RateLimit(burst=4, interval=3.0, per_chat=True))
    assert take_free_turns(limiter, lambda number: f"x:9/{number % 2}") == 4
    assert not limiter.is_free("x:9/new")
    assert limiter.is_free("x:10/1")
    limiter.block("x:10/1", 30.0)
    assert limiter.wait_seconds("x:10/2") == 30.0
