"""A short soak: whole games leave only the data of finished games. `python -m tests.soak` is the long one."""

from pathlib import Path

import pytest

from tests.long import long
from tests.soak import soak


@pytest.mark.parametrize("games", [4, long(60)])
async def test_whole_games_leave_no_tasks_files_or_keys(tmp_path: Path, games: int) -> None:
    rests = await soak(games, games // 2, 1, tmp_path)
    assert [rest.games for rest in rests] == [games // 2, games]
    assert rests[-1].keys["game:"] == games
