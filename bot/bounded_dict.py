"""What a process keeps in memory of many things: the latest that it noted, and no more than so many."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedDict(OrderedDict[K, V]):
    """A dictionary of ``most`` things at the most: what was noted longest ago is forgotten first.

    To look something up is no use of it, and costs what it does in any dictionary.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def put(self, key: K, value: V) -> None:
        """Keep something, in place of what was kept under this key."""
        self[key] = value
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)
