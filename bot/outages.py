"""When a platform is away: one line in the log when that begins and one when it is over, however many calls meet it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from bot.platform import DeliveryError, MessageRefused, PlatformFailure, SlowDown

FAILURES_IN_A_ROW = 5
"""So many calls that fail one after the other, and none in between that does not, are no accident."""

QUIET_SECONDS, LONGEST_QUIET_SECONDS = 5.0, 160.0
"""How long nothing may fail before it counts as over; longer, up to the longest, where it began again soon after."""

STEADY_SECONDS = 300.0
"""A platform that was there for so long is trusted again."""

FORGOTTEN_AFTER = 150.0
"""Seconds without a failure after which it is over though nothing was tried: more than any pause between two tries
but one that the platform asks for.
"""

log = structlog.get_logger()


@dataclass
class _PlatformState:
    """What is known of one platform; times by the loop's clock. ``why`` is empty while it is not away, ``said`` are
    the reasons since that began. ``takes_a_call`` is whether only a call that works can show that it is back, for its
    adapter's health says nothing of what failed last.
    """

    why: str = ""
    said: set[str] = field(default_factory=set)
    in_a_row: int = 0
    begun_at: float = 0.0
    failed_at: float = 0.0
    ended_at: float = float("-inf")
    takes_a_call: bool = False
    quiet: float = QUIET_SECONDS
    watch: asyncio.Task[None] | None = None


class Call:
    """A call of a platform, as a context: each message goes through one, and a generator would take twice as long."""

    __slots__ = ("_outages", "_platform")

    def __init__(self, outages: "Outages", platform: str) -> None:
        self._outages, self._platform = outages, platform

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._outages.record_result(self._platform, error)


class Outages:
    """Which platforms are away. ``is_healthy`` is what an adapter itself says, ``on_over`` is told who is back."""

    def __init__(self, is_healthy: Callable[[str], bool], on_over: Callable[[str], None]) -> None:
        self._is_healthy, self._on_over = is_healthy, on_over
        self._platforms: dict[str, _PlatformState] = {}

    def reason(self, platform: str) -> str:
        """Why a platform is away, in a few words; empty if it is not, as far as is known."""
        known = self._platforms.get(platform)
        return known.why if known else ""

    def is_failing(self, platform: str) -> bool:
        """Whether a platform is away though its adapter may say that it is well."""
        known = self._platforms.get(platform)
        return known is not None and bool(known.why) and known.takes_a_call

    def has_failed(self, platform: str, seconds: float) -> bool:
        """Whether a call of a platform has failed within so many seconds, or it is away."""
        known = self._platforms.get(platform)
        if known is None or known.failed_at == 0.0:
            return False
        return bool(known.why) or asyncio.get_running_loop().time() - known.failed_at < seconds

    def call(self, platform: str) -> Call:
        """One call of a platform, as a context. An error that is about this message alone says that the platform is
        there.
        """
        return Call(self, platform)

    def record_result(self, platform: str, error: BaseException | None) -> None:
        """A call of a platform has ended, perhaps by an error."""
        if isinstance(error, SlowDown):
            # How long is the place's affair: others may be spoken to meanwhile.
            self.record_failure(platform, "it asks to wait")
        elif isinstance(error, PlatformFailure) and not isinstance(error, MessageRefused):
            # Where the adapter knows already that it cannot speak, it says so itself.
            self.record_failure(platform, str(error), counts=self._is_healthy(platform))
        elif error is None or isinstance(error, DeliveryError):
            self.record_success(platform)

    def record_failure(self, platform: str, why: str, *, certain: bool = False, counts: bool = True) -> None:
        """A call came to nothing; ``certain`` where the adapter knows that all of them do, and why.

        A certain reason takes the place of the one that was known, and is said once an outage.
        """
        state = self._platforms.setdefault(platform, _PlatformState())
        state.failed_at = asyncio.get_running_loop().time()
        state.takes_a_call = not certain or self._is_healthy(platform)
        state.in_a_row += counts
        if state.why and certain:
            self._log_new_reason(platform, state, why)
        if state.why or not (certain or state.in_a_row >= FAILURES_IN_A_ROW):
            return
        state.begun_at = asyncio.get_running_loop().time()
        recurs = state.begun_at - state.ended_at < STEADY_SECONDS
        state.quiet = min(2 * state.quiet, LONGEST_QUIET_SECONDS) if recurs else QUIET_SECONDS
        state.why, state.said = why, {why}
        log.warning("platform_away", platform=platform, why=why)
        state.watch = asyncio.create_task(self._watch(platform, state))

    @staticmethod
    def _log_new_reason(platform: str, state: _PlatformState, why: str) -> None:
        state.why = why
        if why not in state.said:
            state.said.add(why)
            log.warning("platform_still_away", platform=platform, why=why)

    def record_success(self, platform: str) -> None:
        """A call did what it should."""
        state = self._platforms.get(platform)
        if state:
            state.in_a_row, state.takes_a_call = 0, False

    def stop(self) -> None:
        """The bot stops: nothing more is said."""
        for state in self._platforms.values():
            if state.watch:
                state.watch.cancel()

    async def _watch(self, platform: str, state: _PlatformState) -> None:
        while not self._is_over(platform, state):
            await asyncio.sleep(state.quiet / 2)
        now = asyncio.get_running_loop().time()
        state.why, state.in_a_row, state.ended_at = "", 0, now
        log.info("platform_back", platform=platform, after=round(now - state.begun_at, 1))
        self._on_over(platform)

    def _is_over(self, platform: str, state: _PlatformState) -> bool:
        """Whether nothing has failed for a while though something was tried, and the adapter is well."""
        quiet = asyncio.get_running_loop().time() - state.failed_at
        is_known = not state.takes_a_call or quiet > FORGOTTEN_AFTER
        return is_known and quiet >= state.quiet and self._is_healthy(platform)
