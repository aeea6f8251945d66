"""The time in the host's time zone."""

from datetime import datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from bot.cluster.host_time import HostTime

ROME = ZoneInfo("Europe/Rome")


class StoppedClock(NamedTuple):
    now: datetime

    def estimated_time(self) -> float:
        return self.now.timestamp()


@pytest.mark.parametrize(
    ("now", "time_left"),
    [
        (datetime(2026, 11, 27, 22, 30, tzinfo=ROME), timedelta(minutes=90)),
        (datetime(2026, 10, 25, tzinfo=ROME), timedelta(hours=25)),
        (datetime(2026, 3, 29, tzinfo=ROME), timedelta(hours=23)),
    ],
)
def test_day_ends_at_the_hosts_midnight(now: datetime, time_left: timedelta) -> None:
    assert HostTime(StoppedClock(now), "Europe/Rome").time_left_today() == time_left  # type: ignore[arg-type]
