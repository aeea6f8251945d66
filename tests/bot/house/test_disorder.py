"""Updates that come twice and in another order; `python -m tests.disorder` has ten thousand sequences of them."""

from pathlib import Path

from tests.disorder import disorder


async def test_updates_that_come_twice_and_in_another_order_end_where_those_in_order_do(tmp_path: Path) -> None:
    assert await disorder(40, 1, tmp_path) > 400
