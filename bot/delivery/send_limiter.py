"""Rate limits of places and platforms, and pauses that a platform asks for."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Self

from bot.delivery.shared_pace import SharedPace
from bot.platform import Adapter, chat_of, is_inline, is_private, platform_of
from bot.rate_limiter import RateLimit, RateLimiter

PLACES_CACHED = 10_000
BOARDS_SHARE = 3  # boards use 1 / BOARDS_SHARE of a platform's burst, so hands never wait behind them
ANSWERS_SHARE = 3  # while answers wait, they get 1 / ANSWERS_SHARE of a place's rate limit

UNLIMITED = RateLimit()


class SendLimiter:
    """Gives each place its turns, after any pause that the platform asked for.

    ``rate_limit_of`` returns the limit of a place (None if it has none now), ``overall_of`` that of a platform, by its
    name. ``shared`` keeps the limits of whole chats in the store. All workers share them, and they survive restarts.
    """

    def __init__(
        self,
        rate_limit_of: Callable[[str], RateLimit | None],
        overall_of: Callable[[str], RateLimit] = lambda _platform: RateLimit(),
        shared: SharedPace | None = None,
    ) -> None:
        self._rate_limit_of, self._overall_of, self._shared = rate_limit_of, overall_of, shared
        self._turns = RateLimiter(_now, PLACES_CACHED)
        self._answers_waiting: Counter[str] = Counter()
        self._blocked: dict[str, float] = {}  # loop time at which each key is free again

    @classmethod
    def for_adapters(cls, adapters: Mapping[str, Adapter], shared: SharedPace) -> Self:
        """Return the limiter of these platforms. Platforms without an adapter have the default limits."""

        def rate_limit_of(place: str) -> RateLimit | None:
            adapter = adapters.get(platform_of(place))
            return adapter.rate_limit(place) if adapter else RateLimit()

        def overall_of(platform: str) -> RateLimit:
            adapter = adapters.get(platform)
            return adapter.overall_rate_limit() if adapter else RateLimit()

        return cls(rate_limit_of, overall_of, shared)

    def wait_seconds(self, place: str) -> float:
        """Return the seconds until the place's rate limit and its platform's pauses allow a message; 0 if now."""
        rate_limit, count_key = self._limit_and_key(place)
        limit = self._limit_for_surfaces(count_key, rate_limit) if rate_limit else UNLIMITED
        return max(self._turns.wait_seconds(count_key, limit), self._blocked_for(count_key), 0.0)

    def is_free(self, place: str) -> bool:
        return self.wait_seconds(place) <= 0

    async def wait_for_turn(self, place: str, *, answer: bool = False) -> bool:
        """Wait until a message to the place is allowed, and count it. Return whether there was a wait.

        An ``answer`` leaves one message of the place's burst to boards and hands. While it waits, it gets one turn in
        three, even if boards and hands always want the next turn.
        """
        wait = self.take_turn(place, answer=answer)
        if wait <= 0 and (wait := await self.claim_shared(place, answer=answer)) <= 0:
            return False
        _rate_limit, count_key = self._limit_and_key(place)
        self._answers_waiting[count_key] += answer
        try:
            while wait > 0:
                await asyncio.sleep(wait)
                # The platform might have asked for a pause in the meantime.
                wait = self.take_turn(place, answer=answer)
                if wait <= 0:
                    wait = await self.claim_shared(place, answer=answer)
        finally:
            self._answers_waiting[count_key] -= answer
            if not self._answers_waiting[count_key]:
                del self._answers_waiting[count_key]
        return True

    def take_turn(self, place: str, *, answer: bool = False) -> float:
        """Count a message to a place if it is allowed now. Otherwise return the seconds to wait.

        This is only this worker's count. `claim_shared` must count it for all workers before the message is sent.
        """
        rate_limit, count_key = self._limit_and_key(place)
        if (blocked_seconds := self._blocked_for(count_key)) > 0:
            return blocked_seconds
        limits = self._limits(place, rate_limit, count_key, answer=answer)
        wait = max([self._turns.wait_seconds(key, rate_limit) for key, rate_limit in limits])
        if wait > 0:
            return wait
        for key, rate_limit in limits:
            self._turns.count(key, rate_limit)
        return 0.0

    async def claim_shared(self, place: str, *, answer: bool = False) -> float:
        """Count a message for all workers, after `take_turn` has counted it here. Return the seconds to wait, or 0.

        A message that must wait gives its turn back, and the place is blocked for that time.
        """
        rate_limit, count_key = self._limit_and_key(place)
        if self._shared is None or rate_limit is None or not (rate_limit.per_chat and rate_limit.interval):
            return 0.0
        if (wait := await self._shared.take(count_key, rate_limit)) > 0:
            for key, limit in self._limits(place, rate_limit, count_key, answer=answer):
                self._turns.refund(key, limit)
            self.block(place, wait)
        return wait

    def _limits(
        self, place: str, rate_limit: RateLimit | None, count_key: str, *, answer: bool
    ) -> list[tuple[str, RateLimit]]:
        if rate_limit is None:
            return [("", UNLIMITED)]
        platform = platform_of(place)
        overall = self._overall_of(platform)
        if not is_private(place):
            overall = RateLimit(max(1, overall.burst // BOARDS_SHARE), overall.interval)
        limits = [(count_key, self._limit_for_surfaces(count_key, rate_limit)), (platform, overall)]
        if answer:
            answer_limit = rate_limit if self._answers_waiting[count_key] else _limit_for_answer(rate_limit)
            limits = [_limit_for_all_answers(count_key, rate_limit), (count_key, answer_limit), (platform, overall)]
        return limits

    def _limit_for_surfaces(self, count_key: str, rate_limit: RateLimit) -> RateLimit:
        """Return the rate limit of boards and hands, which leave the next turn to a waiting answer."""
        if (
            not self._answers_waiting.get(count_key)
            or self._turns.wait_seconds(*_limit_for_all_answers(count_key, rate_limit)) > 0
        ):
            return rate_limit
        return rate_limit._replace(burst=rate_limit.burst - 1)

    def block(self, place: str, seconds: float) -> None:
        """Block a place for the seconds that its platform asks for."""
        (_rate_limit, count_key), now = self._limit_and_key(place), _now()
        if len(self._blocked) >= PLACES_CACHED:
            self._blocked = {key: free_at for key, free_at in self._blocked.items() if free_at > now}
        self._blocked[count_key] = max(self._blocked.get(count_key, 0.0), now + seconds)

    def _blocked_for(self, count_key: str) -> float:
        free_at = self._blocked.get(count_key)
        if free_at is None:
            return 0.0
        if (remaining_seconds := free_at - _now()) <= 0:
            del self._blocked[count_key]
        return max(0.0, remaining_seconds)

    def _limit_and_key(self, place: str) -> tuple[RateLimit | None, str]:
        """Return a place's rate limit, and the key that counts its messages.

        The key is the chat if the platform counts by chat. Inline messages are counted by chat too, because each of
        them is a place.
        """
        rate_limit = self._rate_limit_of(place)
        is_counted_by_chat = is_inline(place) or (rate_limit and rate_limit.per_chat)
        return rate_limit, chat_of(place) if is_counted_by_chat else place


def _limit_for_answer(rate_limit: RateLimit) -> RateLimit:
    """Return the limit of an answer that has not waited: it leaves one message of the burst to boards and hands."""
    return rate_limit._replace(burst=max(1, rate_limit.burst - 1))


def _limit_for_all_answers(count_key: str, rate_limit: RateLimit) -> tuple[str, RateLimit]:
    """Return the key and the rate limit of all answers to a place."""
    return f"answers {count_key}", RateLimit(_limit_for_answer(rate_limit).burst, ANSWERS_SHARE * rate_limit.interval)


def _now() -> float:
    """Return the loop's time, which sleeps use."""
    return asyncio.get_running_loop().time()
