"""Parameters for long runs: `make test-all` includes them, `make test` does not."""

from collections.abc import Iterable
from typing import Any

import pytest


def long(*values: object) -> Any:
    """Return a parameter of one or several values, only for long runs."""
    return pytest.param(*values, marks=pytest.mark.long)


def mostly_long(values: Iterable[object], *quick: object) -> list[Any]:
    """Return each value as a parameter. All except the quick ones are for long runs."""
    return [value if value in quick else long(value) for value in values]
