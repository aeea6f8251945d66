"""The embedded Valkey: one bot per folder, takeover after a kill, no loss."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

import pytest
from structlog.testing import capture_logs

from bot.store import Appended, EmbeddedStore, FolderInUse, StoreError, open_store
from bot.store import embedded as embedded_module
from bot.store.embedded import server_path
from bot.store.folder import lock_folder
from bot.store.log import Log
from bot.store.valkey_guard import CHECK_SECONDS
from tests.long import long

WRITER = textwrap.dedent(
    """
    import asyncio, sys
    from pathlib import Path
    import structlog
    from bot.store import EmbeddedStore, open_store
    from bot.store.log import Log

    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))  # a slow Valkey is logged

    async def main():
        embedded = EmbeddedStore(Path(sys.argv[1]), *map(float, sys.argv[2:]))
        await embedded.start()
        async with open_store(embedded.url) as store:
            log = await store.load("KILL")
            print("from", log.version, flush=True)
            while True:
                entry = str(log.version).encode()
                result = await store.append("KILL", log, [entry])
                log = Log([*log.entries, entry])
                print(result.version, flush=True)

    asyncio.run(main())
    """
)

KEEPER = textwrap.dedent(
    """
    import asyncio, sys
    from pathlib import Path
    import structlog
    from bot.store import EmbeddedStore

    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))  # a slow Valkey is logged

    async def main():
        embedded = EmbeddedStore(Path(sys.argv[1]))
        await embedded.start()
        print("started", flush=True)
        await embedded.keep_running()

    asyncio.run(main())
    """
)


def read_pid(folder: Path) -> int:
    return int((folder / "valkey.pid").read_text())


def start_program(program: str, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a program with its store in a folder, and wait for its first line."""
    command = [sys.executable, "-c", program, str(folder), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    process.stdout.readline()
    return process


async def test_second_bot_in_the_folder_is_refused(embedded: EmbeddedStore) -> None:
    with pytest.raises(StoreError, match="Another bot is running with the data folder"):
        await EmbeddedStore(embedded.folder).start()
    async with open_store(embedded.url) as store:
        assert await store.client.ping()


async def test_entries_survive_a_restart(tmp_path: Path) -> None:
    for number in range(3):
        embedded = EmbeddedStore(tmp_path)
        await embedded.start()
        async with open_store(embedded.url) as store:
            log = await store.load("ABCD")
            assert log.version == number
            await store.append("ABCD", log, [b"x"])
        await embedded.stop()
        assert not (tmp_path / "valkey.pid").exists()


async def test_socket_is_private_and_there_is_no_port(embedded: EmbeddedStore) -> None:
    assert embedded.socket_path.stat().st_mode & 0o077 == 0
    async with open_store(embedded.url) as store:
        config = await store.client.config_get("*")
        assert config["port"] == "0"
        assert (config["appendonly"], config["appendfsync"]) == ("yes", "always")


async def test_long_folder_path_works(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    embedded = EmbeddedStore(deep)
    await embedded.start()
    async with open_store(embedded.url) as store:
        assert await store.append("ABCD", Log([]), [b"one"]) == Appended(1)
    await embedded.stop()
    assert (deep / "appendonlydir").exists()


async def test_unusable_folder_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be used"):
        await EmbeddedStore(tmp_path / "file").start()


async def test_failed_start_is_explained_and_unlocks_the_folder(tmp_path: Path) -> None:
    (tmp_path / "appendonlydir").touch()
    with pytest.raises(StoreError, match="did not start"):
        await make_impatient_store(tmp_path).start()
    # The folder was unlocked, so the next start can use it.
    (tmp_path / "appendonlydir").unlink()
    embedded = EmbeddedStore(tmp_path)
    await embedded.start()
    await embedded.stop()


async def make_slow_store(folder: Path, monkeypatch: pytest.MonkeyPatch) -> EmbeddedStore:
    """Return a store with 3000 keys, which its Valkey loads in two seconds."""
    embedded = EmbeddedStore(folder)
    await embedded.start()
    async with open_store(embedded.url) as store, store.client.pipeline(transaction=False) as pipe:
        for number in range(3000):
            pipe.set(f"key {number}", number)
        await pipe.execute()
    await embedded.stop()
    slow = folder.parent / "slow"
    slow.write_text(f'#!/bin/sh\nexec {server_path()} "$@" --key-load-delay 700\n')
    slow.chmod(0o700)
    monkeypatch.setattr(embedded_module, "server_path", lambda: slow)
    # This patience is shorter than loading and longer than starting.
    embedded.patience = 1.5
    return embedded


async def test_start_waits_for_a_loading_valkey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded = await make_slow_store(tmp_path / "data", monkeypatch)
    with capture_logs() as logs:
        await embedded.start()
    try:
        async with open_store(embedded.url) as store:
            assert await store.client.get("key 2999") == b"2999"
    finally:
        await embedded.stop()
    assert [line["event"] for line in logs] == ["store_loading"]


def make_impatient_store(folder: Path) -> EmbeddedStore:
    embedded = EmbeddedStore(folder)
    embedded.patience = 0.5
    return embedded


async def test_hanging_valkey_is_not_started_twice(embedded: EmbeddedStore) -> None:
    process = read_pid(embedded.folder)
    embedded._release_folder()
    os.kill(process, signal.SIGSTOP)
    try:
        with pytest.raises(StoreError, match=f"process {process}"):
            await make_impatient_store(embedded.folder).start()
    finally:
        os.kill(process, signal.SIGCONT)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the working folder of a process is only in /proc")
async def test_stale_pid_of_another_valkey_is_ignored(embedded: EmbeddedStore, tmp_path: Path) -> None:
    """After a power cut, process ids start again and can collide."""
    second = EmbeddedStore(tmp_path / "mine")
    second.folder.mkdir(mode=0o700)
    (second.folder / "valkey.pid").write_text(str(read_pid(embedded.folder)))
    await second.start()
    async with open_store(second.url) as store:
        assert await store.client.ping()
    await second.stop()
    async with open_store(embedded.url) as store:
        assert await store.client.ping()


@pytest.mark.long
@pytest.mark.parametrize("kills", [1, long(6)])
@pytest.mark.parametrize("victims", [long("bot"), long("store"), "both"])
async def test_kills_lose_or_duplicate_no_entry(tmp_path: Path, victims: str, kills: int) -> None:
    acknowledged = 0
    for number in range(kills):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert writer.stdout
        start = int(writer.stdout.readline().split()[1])
        # The kill can cut off the answer to one written entry.
        assert acknowledged <= start <= acknowledged + 1
        acknowledged = max(acknowledged, start)
        for _ in range(50 + 37 * number):
            acknowledged = int(writer.stdout.readline())
        if victims in ("store", "both"):
            os.kill(read_pid(tmp_path), signal.SIGKILL)
        if victims in ("bot", "both"):
            writer.kill()
        answers = [int(line) for line in writer.stdout.read().split()]
        acknowledged = max([acknowledged, *answers])
        writer.wait()
    embedded = EmbeddedStore(tmp_path)
    await embedded.start()
    async with open_store(embedded.url) as store:
        entries = (await store.load("KILL")).entries
    await embedded.stop()
    assert entries == [str(number).encode() for number in range(len(entries))]
    assert acknowledged <= len(entries) <= acknowledged + 1


async def test_next_bot_takes_over_the_running_valkey(tmp_path: Path) -> None:
    writer = start_program(WRITER, tmp_path)
    process = read_pid(tmp_path)
    writer.kill()
    writer.wait()
    embedded = EmbeddedStore(tmp_path)
    await embedded.start()
    assert read_pid(tmp_path) == process
    await embedded.stop()
    assert embedded._running_pid() is None
    assert not embedded.socket_path.exists()


async def test_valkey_that_dies_during_takeover_is_replaced(tmp_path: Path) -> None:
    writer = start_program(WRITER, tmp_path)
    process = read_pid(tmp_path)
    os.kill(process, signal.SIGSTOP)
    writer.kill()
    writer.wait()
    embedded = EmbeddedStore(tmp_path)
    embedded.patience = 3600.0
    start = asyncio.create_task(embedded.start())
    await asyncio.sleep(0.2)
    os.kill(process, signal.SIGKILL)
    async with asyncio.timeout(60):
        await start
    assert read_pid(tmp_path) != process
    await embedded.stop()


def find_processes(folder: Path) -> set[int]:
    """Return the process ids of a folder's Valkeys and guards."""
    listed = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,command="], capture_output=True, text=True, check=True)
    processes = [line.split(None, 1) for line in listed.stdout.splitlines()]
    guards = {int(pid) for pid, command in processes if "valkey_guard.py" in command and f" {folder} " in command}
    valkeys = {int(pid) for pid, command in processes if "valkey-server" in command and str(folder) in command}
    return guards | valkeys


def has_open(process: int, path: Path) -> bool:
    files = Path(f"/proc/{process}/fd")
    if files.exists():
        with suppress(FileNotFoundError):
            return any(file.resolve() == path for file in files.iterdir())
        return False
    listed = subprocess.run(["lsof", "-p", str(process)], capture_output=True, text=True, check=False)
    return str(path) in listed.stdout


def wait_for_processes(folder: Path, remaining: int = 0) -> None:
    while len(find_processes(folder)) > remaining:
        time.sleep(0.05)


def wait_for_guard(folder: Path) -> None:
    """Wait until the guard of a folder's Valkey watches the lock file."""
    valkey = read_pid(folder)
    while not any(has_open(guard, folder / "bot.lock") for guard in find_processes(folder) - {valkey}):
        time.sleep(0.05)


def test_abandoned_valkey_stops_without_loss(tmp_path: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), "4"], stdout=subprocess.PIPE, text=True)
    assert writer.stdout
    for _ in range(20):
        writer.stdout.readline()
    assert len(find_processes(tmp_path)) == 2
    valkey = read_pid(tmp_path)
    # Ctrl-C in the bot's terminal must not reach Valkey and its guard. They must not keep the bot's output open.
    for process in find_processes(tmp_path):
        assert os.getsid(process) == process
    writer.kill()
    acknowledged = [int(line) for line in writer.stdout.read().split()][-1:]
    writer.wait()
    assert valkey in find_processes(tmp_path), "Valkey must outlive the bot for a while, for the next start"
    wait_for_processes(tmp_path)
    embedded = EmbeddedStore(tmp_path)
    log = asyncio.run(load_log(embedded))
    assert log.version >= max(acknowledged, default=20)
    assert find_processes(tmp_path) == set()


async def load_log(embedded: EmbeddedStore) -> Log:
    await embedded.start()
    try:
        async with open_store(embedded.url) as store:
            return await store.load("KILL")
    finally:
        await embedded.stop()


@pytest.mark.long
def test_repeated_takeovers_leave_one_guard(tmp_path: Path) -> None:
    valkeys = set()
    for _ in range(2):
        writer = start_program(WRITER, tmp_path, "60")
        valkeys.add(read_pid(tmp_path))
        writer.kill()
        writer.wait()
    embedded = EmbeddedStore(tmp_path)

    async def check_single_guard() -> None:
        await embedded.start()
        # The guards of the killed bots notice that they are not needed.
        wait_for_processes(tmp_path, remaining=2)
        async with open_store(embedded.url) as store:
            assert await store.client.ping()
        assert read_pid(tmp_path) == valkeys.pop()
        await embedded.stop()

    assert len(valkeys) == 1, "each start must take over the running Valkey"
    asyncio.run(check_single_guard())
    wait_for_processes(tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("is_recreated", [long(False), True], ids=["deleted", "deleted and recreated"])
@pytest.mark.parametrize("has_died", [False, True], ids=["first", "second"])
def test_abandoned_valkey_stops_if_its_folder_is_deleted(tmp_path: Path, *, is_recreated: bool, has_died: bool) -> None:
    folder = tmp_path / "data"
    writer = start_program(KEEPER, folder)
    if has_died:
        # The bot starts another Valkey with a new process id.
        first = read_pid(folder)
        os.kill(first, signal.SIGKILL)
        while not (folder / "valkey.pid").exists() or read_pid(folder) == first:
            time.sleep(0.05)
    valkey = read_pid(folder)
    # A guard that starts late would watch the new folder.
    wait_for_guard(folder)
    shutil.rmtree(folder)
    assert valkey in find_processes(folder)
    if is_recreated:
        folder.mkdir()
        (folder / "bot.lock").touch()
    writer.kill()
    writer.wait()
    wait_for_processes(folder)


def test_abandoned_valkey_stops_if_its_socket_is_deleted_first(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    writer = start_program(KEEPER, folder)
    wait_for_guard(folder)
    EmbeddedStore(folder).socket_path.unlink()
    writer.kill()
    writer.wait()
    # Let every guard check its folder several times.
    time.sleep(4 * CHECK_SECONDS)
    shutil.rmtree(folder)
    wait_for_processes(folder)


async def test_start_waits_while_a_guard_holds_the_lock(tmp_path: Path) -> None:
    embedded = EmbeddedStore(tmp_path)
    lock = lock_folder(tmp_path)
    asyncio.get_running_loop().call_later(0.3, lock.close)
    await embedded.start()
    await embedded.stop()


async def test_start_retries_a_lock_held_once_by_a_guard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = [FolderInUse("by a guard")]

    def fail_once(folder: Path) -> IO[str]:
        if failures:
            raise failures.pop()
        return lock_folder(folder)

    monkeypatch.setattr(embedded_module, "lock_folder", fail_once)
    embedded = EmbeddedStore(tmp_path)
    await embedded.start()
    await embedded.stop()


async def test_valkey_with_an_empty_pid_file_is_not_started_twice(tmp_path: Path) -> None:
    """A full disk leaves the pid file empty."""
    first = EmbeddedStore(tmp_path)
    await first.start()
    process = read_pid(tmp_path)
    first._release_folder()
    (tmp_path / "valkey.pid").write_text("")
    second = EmbeddedStore(tmp_path)
    await second.start()
    keeper = asyncio.create_task(second.keep_running())
    await asyncio.sleep(1.5)
    keeper.cancel()
    async with open_store(second.url) as store:
        assert (await store.client.info("server"))["process_id"] == process
    await second.stop()
    await first.stop()
    wait_for_processes(tmp_path)


async def test_bot_of_a_deleted_folder_leaves_the_new_one_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two Valkeys in one folder write to the same file, and lose entries."""
    folder = tmp_path / "data"
    first, second = EmbeddedStore(folder), EmbeddedStore(folder)
    await first.start()
    os.kill(read_pid(folder), signal.SIGKILL)
    shutil.rmtree(folder)
    await second.start()
    process = read_pid(folder)
    os.kill(process, signal.SIGKILL)
    while second._running_pid():
        await asyncio.sleep(0.01)
    with pytest.raises(StoreError, match="was deleted while the bot ran"):
        first._spawn()
    signals: list[int] = []
    monkeypatch.setattr(signal, "raise_signal", signals.append)
    await first.keep_running()
    assert signals == [signal.SIGTERM]
    second._spawn()
    await second._require_answer()
    await first.stop()
    async with open_store(second.url) as store:
        assert await store.client.ping()
    await second.stop()
    wait_for_processes(folder)
