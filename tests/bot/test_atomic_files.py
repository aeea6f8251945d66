"""Files are written completely or not at all."""

import fcntl
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir
from pathlib import Path

import pytest

from bot.atomic_files import regular_target, write_atomically
from bot.cli.main import treat_signals_as_ctrl_c


def create_stale_file(path: Path, *, hours_ago: float = 24.0) -> Path:
    """Create a partial file that is some hours old."""
    path.write_bytes(b"secret")
    modified_at = time.time() - 3600 * hours_ago
    os.utime(path, (modified_at, modified_at))
    return path


def list_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_file_is_replaced_once_complete(tmp_path: Path) -> None:
    path = tmp_path / "cards.gz"
    path.write_bytes(b"before")
    with write_atomically(path) as file:
        file.write(b"after")
        assert path.read_bytes() == b"before"
    assert path.read_bytes() == b"after"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list_names(tmp_path) == ["cards.gz"]


def test_next_write_removes_only_stale_parts(tmp_path: Path) -> None:
    path = tmp_path / "cards[1].gz"
    create_stale_file(tmp_path / ".cards[1].gz.abcd1234.part")
    other_names = [".cards[1].gz.mine.part", ".cards1.gz.abcd1234.part", ".cards[1].gz.abcd1234.parts"]
    for name in other_names:
        create_stale_file(tmp_path / name)
    # Simultaneous writes: an active one holds a lock, and a fresh one might not have it yet.
    create_stale_file(tmp_path / ".cards[1].gz.started_.part", hours_ago=0)
    with create_stale_file(tmp_path / ".cards[1].gz.written_.part").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with write_atomically(path):
            pass
    assert list_names(tmp_path) == sorted(
        [path.name, *other_names, ".cards[1].gz.started_.part", ".cards[1].gz.written_.part"]
    )


def test_simultaneous_writes_do_not_interfere(tmp_path: Path) -> None:
    path = tmp_path / "cards.gz"
    with write_atomically(path) as first:
        first.write(b"first")
        first.flush()
        [part] = tmp_path.iterdir()
        os.utime(part, (1, 1))
        with write_atomically(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert list_names(tmp_path) == ["cards.gz"]


def test_symlink_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.gz"
    link.symlink_to("real/cards.gz")  # it dangles at first
    for content in (b"first", b"second"):
        with write_atomically(link) as file:
            file.write(content)
        assert link.readlink() == Path("real/cards.gz")
        assert (tmp_path / "real/cards.gz").read_bytes() == content
    assert list_names(tmp_path / "real") == ["cards.gz"]


def test_pipe_is_written_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        content = reader.submit(pipe.read_bytes)
        with write_atomically(pipe) as file:
            file.write(b"cards")
        assert content.result() == b"cards"
    assert pipe.is_fifo()
    assert list_names(tmp_path) == ["pipe"]


def test_pipe_without_reader_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.atomic_files.READER_SECONDS", 0)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no process reads from this pipe"), write_atomically(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()


def test_character_device_is_written_directly(tmp_path: Path) -> None:
    """A terminal is a character device that needs no root."""
    reader, writer = os.openpty()
    terminal = Path(os.ttyname(writer))
    link = tmp_path / "link"
    link.symlink_to(terminal)
    for name in (terminal, link):
        with write_atomically(name) as file:
            file.write(b"cards\n")
        assert os.read(reader, 100).rstrip() == b"cards"
    assert terminal.is_char_device()
    assert link.readlink() == terminal
    os.close(reader)
    os.close(writer)


def test_directories_and_sockets_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as server, chdir(tmp_path):
        server.bind("socket")
        for kind in ("folder", "socket"):
            with pytest.raises(OSError, match="must be a file"), write_atomically(tmp_path / kind):
                pass
            with pytest.raises(OSError, match="must be a file"):
                regular_target(tmp_path / kind)
    assert list_names(tmp_path) == ["folder", "socket"]


def test_block_device_is_refused(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    try:
        # No driver has this number, so nothing is written even if the check fails.
        os.mknod(disk, 0o600 | stat.S_IFBLK, os.makedev(240, 99))
    except PermissionError:
        pytest.skip("only root can make devices")
    with pytest.raises(OSError, match="is a disk"), write_atomically(disk):
        pass
    assert disk.is_block_device()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_ignored_signals_stay_ignored(number: signal.Signals) -> None:
    """`nohup` ignores SIGHUP, for example."""
    handlers = {signal_number: signal.getsignal(signal_number) for signal_number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        signal.signal(number, signal.SIG_IGN)
        treat_signals_as_ctrl_c()
        assert signal.getsignal(number) is signal.SIG_IGN
        signal.signal(number, signal.SIG_DFL)
        treat_signals_as_ctrl_c()
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        for signal_number, handler in handlers.items():
            signal.signal(signal_number, handler)


def test_open_file_descriptor_is_appended_to(tmp_path: Path) -> None:
    """`buongioco backup /dev/fd/3 3>> FILE` needs this."""
    path = tmp_path / "file"
    path.write_bytes(b"before ")
    before = path.stat().st_ino
    with path.open("ab") as file, write_atomically(Path(f"/dev/fd/{file.fileno()}")) as output:
        output.write(b"after")
    assert path.read_bytes() == b"before after"
    assert path.stat().st_ino == before


WRITE = """
from bot.atomic_files import STANDARD_OUTPUT, write_atomically
with write_atomically(STANDARD_OUTPUT) as out:
    out.write(b"after")
"""


def test_standard_output_need_not_be_opened_again() -> None:
    """A socket cannot be opened by its path. `sudo -u USER buongioco backup - | …` cannot open its pipe either."""
    reader, writer = socket.socketpair()
    with reader, writer:
        subprocess.run([sys.executable, "-c", WRITE], stdout=writer.fileno(), check=True)
        assert reader.recv(100) == b"after"


def test_standard_output_is_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before ")
    with path.open("ab") as file:
        subprocess.run([sys.executable, "-c", WRITE], stdout=file, check=True)
    assert path.read_bytes() == b"before after"
