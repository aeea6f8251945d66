"""Age of a table's oldest change that is not shown."""

import time
from dataclasses import dataclass

from bot.delivery.surface_names import SurfaceName


def now() -> float:
    return time.monotonic()


@dataclass
class _Unshown:
    """Times of a surface's oldest unshown change, and of the oldest since its last decision."""

    since: float
    after_decision: float | None


class Lag:
    """The changes of one table that are not yet shown.

    A change waits for a check. The check passes it on to the surfaces that are behind. A surface decides what to do,
    and shows all changes from before the decision.
    """

    def __init__(self) -> None:
        self._touched_at: float | None = None
        self._checking: float | None = None
        self._unshown: dict[SurfaceName, _Unshown] = {}

    @property
    def oldest(self) -> float | None:
        """The time of the oldest change not shown everywhere; None if all are shown."""
        times = [unshown.since for unshown in self._unshown.values()]
        times += [changed_at for changed_at in (self._touched_at, self._checking) if changed_at is not None]
        return min(times, default=None)

    def record_touch(self) -> None:
        if self._touched_at is None:
            self._touched_at = now()

    def begin_check(self) -> None:
        """Begin a check of all changes so far. It includes the changes of a failed check."""
        if self._checking is None:
            self._checking = self._touched_at
        self._touched_at = None

    def end_check(self) -> None:
        """Note that all surfaces that are behind have received the changes."""
        self._checking = None

    def mark_behind(self, name: SurfaceName) -> None:
        """Note that a surface does not show this check's changes."""
        changed_at = now() if self._checking is None else self._checking
        unshown = self._unshown.setdefault(name, _Unshown(changed_at, changed_at))
        if unshown.after_decision is None:
            unshown.after_decision = changed_at

    def mark_decided(self, name: SurfaceName) -> None:
        """Note that a surface's decision includes all changes so far."""
        if unshown := self._unshown.get(name):
            unshown.after_decision = None

    def mark_shown(self, name: SurfaceName) -> None:
        """Note that the last decision is shown."""
        unshown = self._unshown.get(name)
        if unshown and unshown.after_decision is not None:
            unshown.since = unshown.after_decision
        else:
            self.mark_at_rest(name)

    def mark_at_rest(self, name: SurfaceName) -> None:
        """Note that a surface shows all changes, or cannot show them now."""
        self._unshown.pop(name, None)
