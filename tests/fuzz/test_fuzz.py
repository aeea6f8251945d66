"""A little of the nonsense in the suite; `python -m tests.fuzz` sends more."""

import os
from pathlib import Path

import pytest

from tests.fuzz.__main__ import ADAPTERS
from tests.long import long

MESSAGES = int(os.environ.get("BUONGIOCO_FUZZ", "3000"))


@pytest.mark.parametrize("messages", [300, long(MESSAGES)])
@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_nonsense_is_answered_and_changes_nothing(adapter: str, messages: int, tmp_path: Path) -> None:
    outcome = await ADAPTERS[adapter](tmp_path, messages, 15)
    assert outcome.sent == messages
    assert min(outcome.presses, outcome.commands, outcome.refused) > messages // 100
