"""Outages of platforms: one log line at the start and one at the end, however many calls fail."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog

from bot.platform import DeliveryError, MessageRefused, PlatformFailure, SlowDown

FAILURES_IN_A_ROW = 5  # consecutive failures that count as an outage

# Time without failures after which an outage is over. It doubles, up to the maximum, if outages soon follow each other.
QUIET_SECONDS, LONGEST_QUIET_SECONDS = 5.0, 160.0

STEADY_SECONDS = 300.0  # time after an outage until a platform counts as stable again

# Time without a failure after which an outage ends even without a successful call. It is longer than any pause between
# retries, except pauses that a platform requests.
FORGET_SECONDS = 150.0

log = structlog.get_logger()


@dataclass
class _PlatformState:
    """The state of a platform. Times are loop times.

    ``reason`` is empty while there is no outage. ``logged`` has the reasons that were logged. With ``needs_success``
    only a successful call ends the outage, because the adapter's health does not show the cause.
    """

    reason: str = ""
    logged: set[str] = field(default_factory=set)
    failures_in_a_row: int = 0
    begun_at: float = 0.0
    failed_at: float = 0.0
    ended_at: float = float("-inf")
    needs_success: bool = False
    quiet: float = QUIET_SECONDS
    watch: asyncio.Task[None] | None = None


class Outages:
    """The platforms' outages. ``is_healthy`` asks the adapter; ``on_over`` is called when a platform is back."""

    def __init__(self, is_healthy: Callable[[str], bool], on_over: Callable[[str], None]) -> None:
        self._is_healthy, self._on_over = is_healthy, on_over
        self._platforms: dict[str, _PlatformState] = {}

    def reason(self, platform: str) -> str:
        state = self._platforms.get(platform)
        return state.reason if state else ""

    def is_failing(self, platform: str) -> bool:
        """Return whether calls of a platform fail, even if its adapter says it is healthy."""
        state = self._platforms.get(platform)
        return state is not None and bool(state.reason) and state.needs_success

    def has_failed(self, platform: str, seconds: float) -> bool:
        """Return whether a platform has an outage or a call failed within this many seconds."""
        state = self._platforms.get(platform)
        if state is None or state.failed_at == 0.0:
            return False
        return bool(state.reason) or asyncio.get_running_loop().time() - state.failed_at < seconds

    @contextmanager
    def call(self, platform: str) -> Iterator[None]:
        """Record the result of a call. An error about a single message proves that the platform is up."""
        try:
            yield
        except BaseException as error:
            self._record_error(platform, error)
            raise
        else:
            self._record_answer(platform)

    def _record_answer(self, platform: str) -> None:
        if state := self._platforms.get(platform):
            state.failures_in_a_row, state.needs_success = 0, False

    def _record_error(self, platform: str, error: BaseException) -> None:
        if isinstance(error, SlowDown):
            # The wait applies to this place only. Other places can still be used.
            self.record_failure(platform, "it asks to wait")
        elif isinstance(error, PlatformFailure) and not isinstance(error, MessageRefused):
            # An adapter that knows that it is down reports that itself.
            self.record_failure(platform, str(error), counts=self._is_healthy(platform))
        elif isinstance(error, DeliveryError):
            self._record_answer(platform)

    def record_failure(self, platform: str, reason: str, *, certain: bool = False, counts: bool = True) -> None:
        """Record a failed call. If ``certain``, all calls fail: ``reason`` is logged once and replaces the last one."""
        state = self._platforms.setdefault(platform, _PlatformState())
        state.failed_at = asyncio.get_running_loop().time()
        state.needs_success = not certain or self._is_healthy(platform)
        state.failures_in_a_row += counts
        if state.reason and certain:
            state.reason = reason
            if reason not in state.logged:
                state.logged.add(reason)
                log.warning("platform_still_away", platform=platform, why=reason)
        if state.reason or not (certain or state.failures_in_a_row >= FAILURES_IN_A_ROW):
            return
        state.begun_at = asyncio.get_running_loop().time()
        recurs = state.begun_at - state.ended_at < STEADY_SECONDS
        state.quiet = min(2 * state.quiet, LONGEST_QUIET_SECONDS) if recurs else QUIET_SECONDS
        state.reason, state.logged = reason, {reason}
        log.warning("platform_away", platform=platform, why=reason)
        state.watch = asyncio.create_task(self._watch(platform, state))

    def stop(self) -> None:
        for state in self._platforms.values():
            if state.watch:
                state.watch.cancel()

    async def _watch(self, platform: str, state: _PlatformState) -> None:
        while not self._is_over(platform, state):
            await asyncio.sleep(state.quiet / 2)
        now = asyncio.get_running_loop().time()
        state.reason, state.failures_in_a_row, state.ended_at = "", 0, now
        log.info("platform_back", platform=platform, after=round(now - state.begun_at, 1))
        self._on_over(platform)

    def _is_over(self, platform: str, state: _PlatformState) -> bool:
        """Return whether the adapter is healthy and no call has failed for a while.

        If only a success shows the end, a call must have succeeded too, or the failures are `FORGET_SECONDS` old.
        """
        quiet = asyncio.get_running_loop().time() - state.failed_at
        is_known = not state.needs_success or quiet > FORGET_SECONDS
        return is_known and quiet >= state.quiet and self._is_healthy(platform)
