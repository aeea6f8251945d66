"""A bot that is killed again and again, and its store: nothing acknowledged is lost, nothing is made twice."""

import os
from pathlib import Path

import pytest

from tests.bot.kills import harness

KILLS = int(os.environ.get("BUONGIOCO_KILLS", "60"))
"""How many in all; `python -m tests.bot.kills --kills 10000` is for a night."""


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("part", [0, 1])
async def test_killed_at_random(tmp_path: Path, part: int) -> None:
    village = await harness(-(-KILLS // 2), part, tmp_path)
    assert sum(village.kills.values()) == -(-KILLS // 2)
    assert len(village.page.done) > 5 * sum(village.kills.values()), "hardly anything was played"
