"""How long the oldest change of a table has not been shown."""

import time
from dataclasses import dataclass

from bot.delivery.names import SurfaceName


def now() -> float:
    """Seconds, by a clock that never goes back."""
    return time.monotonic()


@dataclass
class _Unshown:
    """When the oldest change of a surface came that is not shown, and the oldest since its last step was decided."""

    since: float
    after_decision: float | None


class Lag:
    """The changes of one table that are on their way to its surfaces.

    A change waits for a look at the table. The look passes it on to the surfaces that are behind. A surface decides
    what to do, and shows all changes that came before that decision.
    """

    def __init__(self) -> None:
        self._touched_at: float | None = None
        self._checking: float | None = None
        self._unshown: dict[SurfaceName, _Unshown] = {}

    @property
    def oldest(self) -> float | None:
        """When the oldest change came that is not shown everywhere; None if all are shown."""
        times = [one.since for one in self._unshown.values()]
        times += [at for at in (self._touched_at, self._checking) if at is not None]
        return min(times, default=None)

    def record_touch(self) -> None:
        """The table has changed."""
        if self._touched_at is None:
            self._touched_at = now()

    def begin_check(self) -> None:
        """A look takes up all changes so far; those of a look that failed are still to be passed on."""
        if self._checking is None:
            self._checking = self._touched_at
        self._touched_at = None

    def end_check(self) -> None:
        """The look has passed its changes on to all surfaces that are behind."""
        self._checking = None

    def mark_behind(self, name: SurfaceName) -> None:
        """A surface does not show the changes of the look under way."""
        at = now() if self._checking is None else self._checking
        known = self._unshown.setdefault(name, _Unshown(at, at))
        if known.after_decision is None:
            known.after_decision = at

    def mark_decided(self, name: SurfaceName) -> None:
        """A surface decides what to show: all changes so far are part of it."""
        if known := self._unshown.get(name):
            known.after_decision = None

    def mark_shown(self, name: SurfaceName) -> None:
        """What was decided last is shown."""
        known = self._unshown.get(name)
        if known and known.after_decision is not None:
            known.since = known.after_decision
        else:
            self.mark_at_rest(name)

    def mark_at_rest(self, name: SurfaceName) -> None:
        """Nothing of a surface is left to show, or it cannot be shown for now."""
        self._unshown.pop(name, None)
