"""Repeated and reordered updates. `python -m tests.disorder` checks ten thousand sequences."""

from pathlib import Path

import pytest

from tests.disorder import run_sequences
from tests.long import long


@pytest.mark.parametrize("sequences", [3, long(100)])
async def test_repeats_and_order_of_updates_change_nothing(tmp_path: Path, sequences: int) -> None:
    assert await run_sequences(sequences, 1, tmp_path) > 10 * sequences
