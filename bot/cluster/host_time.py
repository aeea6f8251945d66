"""The time in the host's time zone."""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from bot.store.leases import Leases


class HostTime:
    """The host's local time by the store's clock, the same for all workers, so no day begins twice."""

    def __init__(self, leases: Leases, zone: str) -> None:
        self._leases, self._zone = leases, ZoneInfo(zone)

    def now(self) -> datetime:
        """Return the time without asking the store."""
        return datetime.fromtimestamp(self._leases.estimated_time(), self._zone)

    def today(self) -> date:
        return self.now().date()

    def time_left_today(self) -> timedelta:
        now = self.now()
        midnight = datetime.combine(now.date() + timedelta(days=1), time.min, self._zone)
        # Subtract timestamps, because a day on which the clocks change has 23 or 25 hours.
        return timedelta(seconds=midnight.timestamp() - now.timestamp())
