"""Files that are on disk whole or not at all."""

import fcntl
import os
import signal
import stat
import time
from pathlib import Path

import pytest

from bot.cli.main import end_as_by_ctrl_c
from bot.disk import written_whole


def left(path: Path, *, hours_ago: float = 24.0) -> Path:
    """What was begun so long ago."""
    path.write_bytes(b"secret")
    then = time.time() - 3600 * hours_ago
    os.utime(path, (then, then))
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_takes_the_place_of_the_one_before_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "cards.gz"
    path.write_bytes(b"before")
    with written_whole(path) as file:
        file.write(b"after")
        assert path.read_bytes() == b"before"
    assert path.read_bytes() == b"after"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert names(tmp_path) == ["cards.gz"]


def test_what_a_killed_process_left_goes_with_the_next_and_nothing_else_does(tmp_path: Path) -> None:
    path = tmp_path / "cards[1].gz"
    left(tmp_path / ".cards[1].gz.abcd1234.part")
    others = [".cards[1].gz.mine.part", ".cards1.gz.abcd1234.part", ".cards[1].gz.abcd1234.parts"]
    for name in others:
        left(tmp_path / name)
    # Two at once: one that writes has a lock, one that has just begun may have none yet.
    left(tmp_path / ".cards[1].gz.begun___.part", hours_ago=0)
    with left(tmp_path / ".cards[1].gz.written_.part").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with written_whole(path):
            pass
    assert names(tmp_path) == sorted([path.name, *others, ".cards[1].gz.begun___.part", ".cards[1].gz.written_.part"])


def test_two_at_once_take_nothing_from_each_other(tmp_path: Path) -> None:
    path = tmp_path / "cards.gz"
    with written_whole(path) as first:
        first.write(b"first")
        first.flush()
        [part] = tmp_path.iterdir()
        os.utime(part, (1, 1))
        with written_whole(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert names(tmp_path) == ["cards.gz"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_is_to_be_ignored_stays_so(number: signal.Signals) -> None:
    """As by `nohup`."""
    before = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP)}
    try:
        signal.signal(number, signal.SIG_IGN)
        end_as_by_ctrl_c()
        assert signal.getsignal(number) is signal.SIG_IGN
        signal.signal(number, signal.SIG_DFL)
        end_as_by_ctrl_c()
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
