"""The data folder and the socket are private to their owner."""

import asyncio
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from bot.site.host_link import show_link
from bot.store import EmbeddedStore, StoreError, folder, open_store
from tests.bot.store.test_embedded import WRITER, read_pid, start_program


@pytest.fixture
def open_umask() -> Iterator[None]:
    """Let all users read and write the files that this process creates."""
    before = os.umask(0)
    yield
    os.umask(before)


def read_mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.usefixtures("open_umask")
async def test_files_are_private_with_any_umask(tmp_path: Path) -> None:
    embedded = EmbeddedStore(tmp_path / "data")
    await embedded.start()
    async with open_store(embedded.url) as store:
        await store.client.bgrewriteaof()
        while (await store.client.info("persistence"))["aof_rewrite_in_progress"]:
            await asyncio.sleep(0.02)
    paths = [embedded.folder, *embedded.folder.rglob("*")]
    assert {path.name for path in paths} >= {"bot.lock", "valkey.log", "appendonlydir"}
    # With a long folder path the socket is elsewhere.
    paths.append(embedded.socket_path)
    assert {path.name: oct(read_mode(path)) for path in paths if read_mode(path) & 0o077} == {}
    await embedded.stop()


async def test_readable_folder_is_made_private(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(0o755)
    embedded = EmbeddedStore(tmp_path / "data")
    with structlog.testing.capture_logs() as logged:
        await embedded.start()
    await embedded.stop()
    assert read_mode(tmp_path / "data") == 0o700
    assert [line["event"] for line in logged] == ["data_folder_made_private"]


@pytest.mark.parametrize("bits", [0o777, 0o775, 0o702])
async def test_folder_writable_by_others_is_refused(tmp_path: Path, bits: int) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(bits)
    with pytest.raises(StoreError, match=r"Others may write in the data folder .*chmod 700") as error:
        await EmbeddedStore(tmp_path / "data").start()
    assert "\n" not in str(error.value)
    assert not list((tmp_path / "data").iterdir())


@pytest.mark.parametrize("bits", [0o755, 0o777, 0o1777, 0o750])
async def test_folder_with_other_files_is_refused_and_unchanged(tmp_path: Path, bits: int) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("Hello")
    site.chmod(bits)
    with pytest.raises(StoreError) as error:
        await EmbeddedStore(site).start()
    assert str(error.value) == (
        f"The data folder {site} has other things in it (index.html): name a folder of its own, such as "
        f"{site / 'buongioco'} (BUONGIOCO_DATA)."
    )
    assert stat.S_IMODE(site.stat().st_mode) == bits
    assert [path.name for path in site.iterdir()] == ["index.html"]
    show_link(site, "http://127.0.0.1/#key=secret")
    assert stat.S_IMODE(site.stat().st_mode) == bits
    assert [path.name for path in site.iterdir()] == ["index.html"]


async def test_sticky_folder_error_does_not_suggest_chmod(tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "all").chmod(0o1777)
    with pytest.raises(StoreError, match="name a folder of its own") as error:
        await EmbeddedStore(tmp_path / "all").start()
    assert "chmod" not in str(error.value)


@pytest.mark.parametrize("names", [["bot.lock", "cards.gz"], ["appendonlydir", "lost+found"], ["compiled"]])
async def test_earlier_data_folder_or_fresh_disk_is_made_private(tmp_path: Path, names: list[str]) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for name in names:
        (data / name).write_text("") if name == "bot.lock" else (data / name).mkdir()
    data.chmod(0o755)
    embedded = EmbeddedStore(data)
    await embedded.start()
    await embedded.stop()
    assert read_mode(data) == 0o700


async def test_private_folder_can_contain_other_files(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Hello")
    tmp_path.chmod(0o700)
    embedded = EmbeddedStore(tmp_path)
    await embedded.start()
    await embedded.stop()
    assert (tmp_path / "notes.txt").read_text() == "Hello"


async def test_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other_user = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other_user)
    with pytest.raises(StoreError, match="belongs to another user"):
        await EmbeddedStore(tmp_path).start()
    assert not list(tmp_path.iterdir())


async def test_link_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir(mode=0o700)
    (tmp_path / "data").symlink_to(tmp_path / "mine")
    original_lstat = Path.lstat

    def lstat_of_stranger(path: Path) -> os.stat_result:
        fields = list(original_lstat(path))
        fields[stat.ST_UID] = 54321
        return os.stat_result(fields)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "lstat", lstat_of_stranger)
        with pytest.raises(StoreError, match="a link that another user made"):
            await EmbeddedStore(tmp_path / "data").start()
    assert not list((tmp_path / "mine").iterdir())
    # The owner's own link is allowed: it can keep the data on another disk.
    embedded = EmbeddedStore(tmp_path / "data")
    await embedded.start()
    await embedded.stop()
    assert (tmp_path / "mine" / "bot.lock").exists()


async def test_lock_file_must_not_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "bot.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="cannot be used"):
        await EmbeddedStore(tmp_path).start()
    assert not (tmp_path / "elsewhere").exists()


# Sockets of long folder paths


@pytest.fixture
def long_path(tmp_path: Path) -> Path:
    return tmp_path / ("d" * 100) / ("e" * 100)


@pytest.fixture
def runtime_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="r") as path:
        monkeypatch.setenv("XDG_RUNTIME_DIR", path)
        yield Path(path)


async def test_long_path_has_its_socket_in_the_runtime_folder(long_path: Path, runtime_folder: Path) -> None:
    embedded = EmbeddedStore(long_path)
    await embedded.start()
    socket_path = embedded.socket_path
    assert socket_path.is_socket()
    assert socket_path.parent.parent == runtime_folder
    assert read_mode(socket_path.parent) == 0o700
    await embedded.stop()
    assert not list(runtime_folder.iterdir())
    assert not (long_path / "valkey.socket").exists()


async def test_runtime_folder_open_to_others_is_not_used(
    long_path: Path, runtime_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime_folder.chmod(0o755)
    first, second = EmbeddedStore(long_path), EmbeddedStore(long_path.with_name("f" * 100))
    await first.start()
    await second.start()
    places = [embedded.socket_path.parent for embedded in (first, second)]
    assert all(place.parent == Path(tempfile.gettempdir()) and read_mode(place) == 0o700 for place in places)
    await first.stop()
    await second.stop()
    assert not any(place.exists() for place in places)
    # The next start uses another folder, so an attacker cannot prepare it.
    await first.start()
    assert first.socket_path.parent not in places
    await first.stop()


async def test_socket_in_a_folder_writable_by_others_is_not_used(long_path: Path, runtime_folder: Path) -> None:
    """The store recorded its socket folder, which is now writable by others."""
    long_path.mkdir(parents=True)
    trap = runtime_folder / "trap"
    trap.mkdir()
    trap.chmod(0o777)
    (long_path / "valkey.socket").write_bytes(os.fsencode(trap / "valkey.sock"))
    connections = []
    server = await asyncio.start_unix_server(lambda _reader, _writer: connections.append(1), trap / "valkey.sock")
    embedded = EmbeddedStore(long_path)
    await embedded.start()
    assert embedded.socket_path.parent != trap
    async with open_store(embedded.url) as store:
        assert await store.client.ping()
    await embedded.stop()
    server.close()
    assert connections == []


async def test_next_bot_and_doctor_find_the_socket(
    long_path: Path, runtime_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = start_program(WRITER, long_path)
    process = read_pid(long_path)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime_folder / "another"))
    # The doctor finds the socket of a running bot in the same way.
    second = EmbeddedStore(long_path)
    assert folder.is_locked(second.folder)
    async with open_store(second.url) as store:
        assert await store.client.ping()
    writer.kill()
    writer.wait()
    await second.start()
    assert read_pid(long_path) == process
    await second.stop()


async def test_deleted_socket_folder_is_recreated_in_place(long_path: Path, runtime_folder: Path) -> None:
    long_path.mkdir(parents=True)
    folder.make_socket_folder(long_path)
    first = folder.socket_path(long_path)
    first.parent.rmdir()
    folder.make_socket_folder(long_path)
    assert folder.socket_path(long_path) == first
    assert read_mode(first.parent) == 0o700


def test_command_output_file_is_private(tmp_path: Path) -> None:
    output = tmp_path / "games.jsonl"
    arguments = ["from bot.cli.main import main; main()", "simulate", "--game", "testa", "--out", str(output)]
    subprocess.run([sys.executable, "-c", *arguments], check=True, umask=0)
    assert read_mode(output) == 0o600
