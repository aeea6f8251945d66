"""Rate limits: bursts, refills and bounded memory."""

from bot.rate_limiter import RateLimit, RateLimiter


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_key_gets_a_burst_then_one_turn_per_interval() -> None:
    clock = Clock()
    limiter, rate_limit = RateLimiter(clock), RateLimit(burst=3, interval=2.0)
    assert [limiter.take("a", rate_limit) for _ in range(5)] == [0.0, 0.0, 0.0, 2.0, 2.0]
    assert limiter.take("b", rate_limit) == 0.0
    clock.now += 1.5
    assert limiter.take("a", rate_limit) == 0.5
    clock.now += 0.5
    assert limiter.take("a", rate_limit) == 0.0
    assert limiter.take("a", rate_limit) == 2.0
    clock.now += 60
    assert [limiter.take("a", rate_limit) for _ in range(4)] == [0.0, 0.0, 0.0, 2.0]


def test_number_of_keys_is_bounded() -> None:
    clock = Clock()
    limiter, rate_limit = RateLimiter(clock, max_keys=100), RateLimit(burst=1, interval=60.0)
    for number in range(1000):
        assert limiter.take(number, rate_limit) == 0.0
        assert len(limiter) <= 100
    assert len(limiter) > 80
    assert limiter.take(999, rate_limit) == 60.0


def test_longest_waiting_keys_are_kept() -> None:
    clock = Clock()
    limiter, rate_limit = RateLimiter(clock, max_keys=100), RateLimit(burst=20, interval=60.0)
    assert [limiter.take("a", rate_limit) for _ in range(21)] == [*[0.0] * 20, 60.0]
    for number in range(1000):
        clock.now += 0.01
        assert limiter.take(number, rate_limit) == 0.0
    assert 49.0 < limiter.take("a", rate_limit) < 51.0
    # Keys without a wait are dropped first.
    clock.now += 1200
    for number in range(1000, 1090):
        limiter.take(number, rate_limit)
    assert all(limiter.wait_seconds(number, RateLimit(1, 60.0)) > 0 for number in range(1000, 1090))
