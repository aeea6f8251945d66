"""Parameters for long runs: `make test-all` includes them, `make test` does not."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def long(*values: object) -> Any:
    """Return a parameter of one or several values, only for long runs."""
    return pytest.param(*values, marks=pytest.mark.long)


def mostly_long(values: Iterable[object], *quick: object) -> list[Any]:
    """Return each value as a parameter. All except the quick ones are for long runs."""
    return [value if value in quick else long(value) for value in values]


def find_repeats(items: Iterable[pytest.Item], count: int = 3) -> list[pytest.Item]:
    """Return the parametrized tests that a quick run leaves out.

    Of each test function, the first and the last parameter run, and others at equal distances, ``count`` in all.
    """
    functions: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("long") is None:
            functions[item.nodeid.partition("[")[0]].append(item)
    return [item for group in functions.values() for item in _leave_out(group, count)]


def _leave_out(group: Sequence[pytest.Item], count: int) -> list[pytest.Item]:
    kept_indices = {round(number * (len(group) - 1) / (count - 1)) for number in range(count)}
    return [item for index, item in enumerate(group) if index not in kept_indices]
