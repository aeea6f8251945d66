"""A short soak: whole games leave only the data of finished games. `python -m tests.soak` is the long one."""

from pathlib import Path

import pytest

from tests.long import long
from tests.soak import run_soak


@pytest.mark.long
@pytest.mark.parametrize("games", [4, long(60)])
async def test_whole_games_leave_no_tasks_files_or_keys(tmp_path: Path, games: int) -> None:
    usages = await run_soak(games, games // 2, 1, tmp_path)
    assert [usage.games for usage in usages] == [games // 2, games]
    assert usages[-1].keys["game:"] == games
