"""A platform outage is logged once at its start and once at its end."""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from structlog.testing import capture_logs

from bot.delivery import outages as outages_module
from bot.delivery.outages import FAILURES_IN_A_ROW, Outages
from bot.platform import DeliveryError, MessageGone, MessageRefused, NotDelivered, PlatformFailure, SlowDown


class WatchedOutages:
    """Outages of a platform whose health a test can set."""

    def __init__(self) -> None:
        self.healthy = True
        self.recovered: list[str] = []
        self.outages = Outages(lambda _platform: self.healthy, self.recovered.append)

    def make_calls(self, *errors: DeliveryError | None) -> None:
        for error in errors:
            with suppress(DeliveryError), self.outages.call("paper"):
                if error:
                    raise error

    async def wait_until_recovered(self, times: int = 1) -> None:
        async with asyncio.timeout(10):
            while len(self.recovered) < times:
                await asyncio.sleep(0.005)


@pytest.fixture
async def watched(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WatchedOutages]:
    monkeypatch.setattr(outages_module, "QUIET_SECONDS", 0.02)
    watched_outages = WatchedOutages()
    yield watched_outages
    watched_outages.outages.stop()


OUTAGE_ERRORS = [NotDelivered("no connection"), PlatformFailure("no answer"), SlowDown(0.001)]


@pytest.mark.parametrize("error", OUTAGE_ERRORS, ids=lambda error: type(error).__name__)
async def test_outage_is_logged_once_at_start_and_end(watched: WatchedOutages, error: PlatformFailure) -> None:
    with capture_logs() as logs:
        watched.make_calls(*[error] * 5000)
        assert watched.outages.is_failing("paper")
        watched.make_calls(None)
        assert not watched.outages.is_failing("paper")
        await watched.wait_until_recovered()
    assert [line["event"] for line in logs] == ["platform_away", "platform_back"]
    assert watched.outages.reason("paper") == ""


async def test_single_failures_and_refusals_are_not_outages(watched: WatchedOutages) -> None:
    with capture_logs() as logs:
        for _ in range(10):
            watched.make_calls(*[PlatformFailure("no answer")] * (FAILURES_IN_A_ROW - 1), None)
        for error in (MessageRefused("of another kind"), MessageGone("7")):
            watched.make_calls(*[PlatformFailure("no answer")] * (FAILURES_IN_A_ROW - 1), *[error] * 20)
    assert not logs


async def test_certain_outage_is_logged_at_once(watched: WatchedOutages) -> None:
    watched.healthy = False
    with capture_logs() as logs:
        watched.make_calls(*[NotDelivered("not connected")] * 20)
        assert not logs
        watched.outages.record_failure("paper", "the gateway", certain=True)
        watched.outages.record_failure("paper", "the gateway", certain=True)
        await asyncio.sleep(0.1)
        assert not watched.recovered
        watched.healthy = True
        await watched.wait_until_recovered()
    assert [line["event"] for line in logs] == ["platform_away", "platform_back"]


async def test_certain_outage_lasts_until_a_call_succeeds(watched: WatchedOutages) -> None:
    """If it ended earlier, each report of the adapter would start another outage."""
    with capture_logs() as logs:
        watched.outages.record_failure("paper", "no answer", certain=True)
        assert watched.outages.is_failing("paper")
        await asyncio.sleep(0.1)
        assert watched.outages.reason("paper") == "no answer"
        watched.make_calls(None)
        await watched.wait_until_recovered()
    assert [line["event"] for line in logs] == ["platform_away", "platform_back"]


async def test_repeated_outages_double_the_quiet_period(watched: WatchedOutages) -> None:
    quiet = []
    for times in range(1, 4):
        watched.make_calls(*[PlatformFailure("no answer")] * FAILURES_IN_A_ROW, None)
        quiet.append(watched.outages._platforms["paper"].quiet)
        await watched.wait_until_recovered(times)
    assert quiet == [0.02, 0.04, 0.08]


async def test_long_wait_of_one_place_does_not_prolong_outages(watched: WatchedOutages) -> None:
    watched.make_calls(*[PlatformFailure("no answer")] * FAILURES_IN_A_ROW, SlowDown(3600), None)
    await watched.wait_until_recovered()


async def test_new_certain_cause_is_logged_once(watched: WatchedOutages) -> None:
    with capture_logs() as logs:
        watched.make_calls(*[PlatformFailure("no answer")] * FAILURES_IN_A_ROW)
        for _ in range(3):
            for cause in ("another bot polls", "the gateway"):
                watched.outages.record_failure("paper", cause, certain=True)
                watched.make_calls(PlatformFailure("no answer"))
                assert watched.outages.reason("paper") == cause
    assert [(line["event"], line["why"]) for line in logs] == [
        ("platform_away", "no answer"),
        ("platform_still_away", "another bot polls"),
        ("platform_still_away", "the gateway"),
    ]


@pytest.mark.parametrize(
    ("requested", "seconds"),
    [(7, 7), (0, 0.5), (-3, 0.5), (math.nan, 0.5), (math.inf, 3600), (-math.inf, 0.5), (1e9, 3600)],
)
def test_requested_wait_is_bounded(requested: float, seconds: float) -> None:
    assert SlowDown(requested).seconds == seconds


async def test_unused_platform_recovers_after_its_quiet_period(
    watched: WatchedOutages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outages_module, "FORGET_SECONDS", 0.1)
    watched.make_calls(*[PlatformFailure("no answer")] * FAILURES_IN_A_ROW)
    await watched.wait_until_recovered()
