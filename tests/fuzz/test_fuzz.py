"""A little of the nonsense in the suite; `python -m tests.fuzz` sends more."""

import os
from pathlib import Path

import pytest

from tests.fuzz.__main__ import ADAPTERS, fuzz

MESSAGES = int(os.environ.get("BUONGIOCO_FUZZ", "1000"))


@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_nonsense_is_answered_and_changes_nothing(adapter: str, tmp_path: Path) -> None:
    outcome = await fuzz(adapter, MESSAGES, 15, tmp_path)
    assert outcome.sent == MESSAGES
    assert min(outcome.presses, outcome.commands, outcome.refused) > MESSAGES // 100
