"""A platform that is away is said to be so once, and once to be back, whatever meets it."""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from structlog.testing import capture_logs

from bot import outages as outages_module
from bot.outages import FAILURES_IN_A_ROW, Outages
from bot.platform import DeliveryError, MessageGone, MessageRefused, NotDelivered, PlatformFailure, SlowDown


class Watched:
    """Outages of a platform that is healthy or not, as a test wants it."""

    def __init__(self) -> None:
        self.healthy = True
        self.back: list[str] = []
        self.outages = Outages(lambda _platform: self.healthy, self.back.append)

    def meet(self, *errors: DeliveryError | None) -> None:
        for error in errors:
            with suppress(DeliveryError), self.outages.call("paper"):
                if error:
                    raise error

    async def until_back(self, times: int = 1) -> None:
        async with asyncio.timeout(10):
            while len(self.back) < times:
                await asyncio.sleep(0.005)


@pytest.fixture
async def watched(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Watched]:
    monkeypatch.setattr(outages_module, "QUIET_SECONDS", 0.02)
    one = Watched()
    yield one
    one.outages.stop()


AWAY = [NotDelivered("no connection"), PlatformFailure("no answer"), SlowDown(0.001)]


@pytest.mark.parametrize("error", AWAY, ids=lambda error: type(error).__name__)
async def test_thousands_of_faults_are_one_line_and_their_end_is_another(
    watched: Watched, error: PlatformFailure
) -> None:
    with capture_logs() as logs:
        watched.meet(*[error] * 5000)
        assert watched.outages.is_failing("paper")
        watched.meet(None)
        assert not watched.outages.is_failing("paper")
        await watched.until_back()
    assert [line["event"] for line in logs] == ["platform_away", "platform_back"]
    assert watched.outages.reason("paper") == ""


async def test_a_fault_now_and_then_is_no_outage_and_neither_is_a_message_that_is_refused(watched: Watched) -> None:
    with capture_logs() as logs:
        for _ in range(10):
            watched.meet(*[PlatformFailure("no answer")] * (FAILURES_IN_A_ROW - 1), None)
        for error in (MessageRefused("of another kind"), MessageGone("7")):
            watched.meet(*[PlatformFailure("no answer")] * (FAILURES_IN_A_ROW - 1), *[error] * 20)
    assert not logs


async def test_what_an_adapter_knows_for_certain_is_said_at_once_and_calls_meanwhile_count_for_nothing(
    watched: Watched,
) -> None:
    watched.healthy = False
    with capture_logs() as logs:
        watched.meet(*[NotDelivered("not connected")] * 20)
        assert not logs
        watched.outages.record_failure("paper", "the gateway", certain=True)
        watched.outages.record_failure("paper", "the gateway", certain=True)
        await asyncio.sleep(0.1)
        assert not watched.back
        watched.healthy = True
        await watched.until_back()
    assert [line["event"] for line in logs] == ["platform_away", "platform_back"]


async def test_what_an_adapter_knows_for_certain_though_it_counts_as_well_is_no_call_that_worked(
    watched: Watched,
) -> None:
    """Otherwise it would come and go, as often as its adapter finds out anew."""
    with capture_logs() as logs:
        watched.outages.record_failure("paper", "no answer", certain=True)
        assert watched.outages.is_failing("paper")
        await asyncio.sleep(0.1)
        assert watched.outages.reason("paper") == "no answer"
        watched.meet(None)
        await watched.until_back()
    assert [line["event"] for line in logs] == ["platform_away", "platform_back"]


async def test_one_that_comes_and_goes_is_trusted_less_and_less(watched: Watched) -> None:
    quiet = []
    for times in range(1, 4):
        watched.meet(*[PlatformFailure("no answer")] * FAILURES_IN_A_ROW, None)
        quiet.append(watched.outages._platforms["paper"].quiet)
        await watched.until_back(times)
    assert quiet == [0.02, 0.04, 0.08]


async def test_a_long_wait_that_one_place_is_asked_for_keeps_no_platform_away(watched: Watched) -> None:
    watched.meet(*[PlatformFailure("no answer")] * FAILURES_IN_A_ROW, SlowDown(3600), None)
    await watched.until_back()


async def test_another_certain_cause_is_known_and_said_once(watched: Watched) -> None:
    with capture_logs() as logs:
        watched.meet(*[PlatformFailure("no answer")] * FAILURES_IN_A_ROW)
        for _ in range(3):
            for why in ("another bot polls", "the gateway"):
                watched.outages.record_failure("paper", why, certain=True)
                watched.meet(PlatformFailure("no answer"))
                assert watched.outages.reason("paper") == why
    assert [(line["event"], line["why"]) for line in logs] == [
        ("platform_away", "no answer"),
        ("platform_still_away", "another bot polls"),
        ("platform_still_away", "the gateway"),
    ]


@pytest.mark.parametrize(
    ("said", "believed"),
    [(7, 7), (0, 0.5), (-3, 0.5), (math.nan, 0.5), (math.inf, 3600), (-math.inf, 0.5), (1e9, 3600)],
)
def test_a_wait_is_believed_within_reason(said: float, believed: float) -> None:
    assert SlowDown(said).seconds == believed


async def test_one_that_nobody_speaks_to_any_more_is_not_away_for_ever(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outages_module, "FORGOTTEN_AFTER", 0.1)
    watched.meet(*[PlatformFailure("no answer")] * FAILURES_IN_A_ROW)
    await watched.until_back()
