"""What is for long runs: `make test-all` runs it, `make test` leaves it out."""

from collections.abc import Iterable
from typing import Any

import pytest


def long(*values: object) -> Any:
    """A parameter, of one value or several, for long runs."""
    return pytest.param(*values, marks=pytest.mark.long)


def mostly_long(values: Iterable[object], *quick: object) -> list[Any]:
    """Each of the values as a parameter; all but the quick ones are for long runs."""
    return [value if value in quick else long(value) for value in values]
