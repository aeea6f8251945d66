"""Short fuzz runs; `python -m tests.fuzz` runs longer ones."""

import os
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.__main__ import ADAPTERS
from tests.fuzz.common import mutate_text
from tests.long import long, mostly_long

MESSAGES = int(os.environ.get("BUONGIOCO_FUZZ", "3000"))


@pytest.mark.parametrize("messages", [60, long(MESSAGES)])
@pytest.mark.parametrize("adapter", mostly_long(ADAPTERS, "telegram"))
async def test_nonsense_is_answered_and_changes_nothing(adapter: str, messages: int, tmp_path: Path) -> None:
    outcome = await ADAPTERS[adapter](tmp_path, messages, 15)
    assert outcome.sent == messages
    assert min(outcome.presses, outcome.commands) > messages // 100
    # In a run of a few messages, all can be readable by chance.
    assert outcome.refused >= messages // 100


def test_mutated_text_stays_similar() -> None:
    random, text = Random(1), "1tABCDEF:rule target=21"
    mutated = [mutate_text(random, text) for _ in range(1000)]
    assert all(isinstance(result, str) for result in mutated)
    assert sum(result[:8] == text[:8] or result[-8:] == text[-8:] for result in mutated) > 100
    assert not any(result.startswith(("['", '["')) for result in mutated)
