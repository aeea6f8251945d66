"""A short soak: after whole games nothing is left but what finished games keep. `python -m tests.soak` is the long one."""

from pathlib import Path

from tests.soak import soak


async def test_after_whole_games_no_task_file_or_key_is_left(tmp_path: Path) -> None:
    rests = await soak(30, 15, 1, tmp_path)
    assert [rest.games for rest in rests] == [15, 30]
    assert rests[-1].keys["game:"] == 30
