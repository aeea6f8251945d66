"""Tests of the choice of parameters for `make test`."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.long import find_repeats


def make_item(name: str, *, is_long: bool = False) -> Any:
    return SimpleNamespace(nodeid=name, get_closest_marker=lambda _name: pytest.mark.long if is_long else None)


@pytest.mark.parametrize(
    ("count", "kept_keys"), [(1, ["0"]), (3, ["0", "1", "2"]), (4, ["0", "2", "3"]), (7, ["0", "3", "6"])]
)
def test_quick_run_keeps_three_parameters_of_a_test(count: int, kept_keys: list[str]) -> None:
    items = [make_item(f"test_a.py::test[{number}]") for number in range(count)]
    assert [item.nodeid for item in items if item not in find_repeats(items)] == [
        f"test_a.py::test[{key}]" for key in kept_keys
    ]


def test_long_tests_and_other_tests_are_not_repeats() -> None:
    items = [make_item("a::test[1]"), make_item("a::test[2]", is_long=True), make_item("b::test[1]")]
    items += [make_item("a::test[3]"), make_item("a::test[4]")]
    assert find_repeats(items) == []
