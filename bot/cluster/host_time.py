"""The time in the host's time zone."""

from datetime import date, datetime
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
