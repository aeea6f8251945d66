"""Updates that come twice and in another order; `python -m tests.disorder` has ten thousand sequences of them."""

from pathlib import Path

import pytest

from tests.disorder import disorder
from tests.long import long


@pytest.mark.parametrize("sequences", [3, long(100)])
async def test_updates_that_come_twice_and_in_another_order_end_where_those_in_order_do(
    tmp_path: Path, sequences: int
) -> None:
    assert await disorder(sequences, 1, tmp_path) > 10 * sequences
