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
from bot.store.guard import CHECK_SECONDS
from bot.store.log import Log
from tests.long import long

WRITER = textwrap.dedent(
    """
    import asyncio, sys
    from pathlib import Path
    from bot.store import EmbeddedStore, open_store
    from bot.store.log import Log

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
    from bot.store import EmbeddedStore

    async def main():
        embedded = EmbeddedStore(Path(sys.argv[1]))
        await embedded.start()
        print("started", flush=True)
        await embedded.keep_running()

    asyncio.run(main())
    """
)


def pid_of(folder: Path) -> int:
    return int((folder / "valkey.pid").read_text())


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
        await impatient_store(tmp_path).start()
    # The folder was unlocked, so the next start can use it.
    (tmp_path / "appendonlydir").unlink()
    embedded = EmbeddedStore(tmp_path)
    await embedded.start()
    await embedded.stop()


async def store_with_slow_load(folder: Path, monkeypatch: pytest.MonkeyPatch) -> EmbeddedStore:
    """A store of three thousand keys. Its Valkey takes two seconds to load them."""
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
    # Less than loading takes, and more than starting.
    embedded.patience = 1.5
    return embedded


async def test_start_waits_for_a_loading_valkey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded = await store_with_slow_load(tmp_path / "data", monkeypatch)
    with capture_logs() as logs:
        await embedded.start()
    try:
        async with open_store(embedded.url) as store:
            assert await store.client.get("key 2999") == b"2999"
    finally:
        await embedded.stop()
    assert [one["event"] for one in logs] == ["store_loading"]


def impatient_store(folder: Path) -> EmbeddedStore:
    embedded = EmbeddedStore(folder)
    embedded.patience = 0.5
    return embedded


async def test_hanging_valkey_is_not_started_twice(embedded: EmbeddedStore) -> None:
    process = pid_of(embedded.folder)
    embedded._release_folder()
    os.kill(process, signal.SIGSTOP)
    try:
        with pytest.raises(StoreError, match=f"process {process}"):
            await impatient_store(embedded.folder).start()
    finally:
        os.kill(process, signal.SIGCONT)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the working folder of a process is only in /proc")
async def test_stale_pid_of_another_valkey_is_ignored(embedded: EmbeddedStore, tmp_path: Path) -> None:
    """After a power cut, process ids start again and can collide."""
    mine = EmbeddedStore(tmp_path / "mine")
    mine.folder.mkdir(mode=0o700)
    (mine.folder / "valkey.pid").write_text(str(pid_of(embedded.folder)))
    await mine.start()
    async with open_store(mine.url) as store:
        assert await store.client.ping()
    await mine.stop()
    async with open_store(embedded.url) as store:
        assert await store.client.ping()


@pytest.mark.parametrize("kills", [1, long(6)])
@pytest.mark.parametrize("victims", ["bot", "store", "both"])
async def test_kills_lose_and_duplicate_no_entry(tmp_path: Path, victims: str, kills: int) -> None:
    acknowledged = 0
    for round_ in range(kills):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert writer.stdout
        begun = int(writer.stdout.readline().split()[1])
        # The kill can cut off the answer of one written entry.
        assert acknowledged <= begun <= acknowledged + 1
        acknowledged = max(acknowledged, begun)
        for _ in range(50 + 37 * round_):
            acknowledged = int(writer.stdout.readline())
        if victims in ("store", "both"):
            os.kill(pid_of(tmp_path), signal.SIGKILL)
        if victims in ("bot", "both"):
            writer.kill()
        rest = [int(line) for line in writer.stdout.read().split()]
        acknowledged = max([acknowledged, *rest])
        writer.wait()
    embedded = EmbeddedStore(tmp_path)
    await embedded.start()
    async with open_store(embedded.url) as store:
        entries = (await store.load("KILL")).entries
    await embedded.stop()
    assert entries == [str(number).encode() for number in range(len(entries))]
    assert acknowledged <= len(entries) <= acknowledged + 1


async def test_next_bot_takes_over_the_running_valkey(tmp_path: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE)
    assert writer.stdout
    writer.stdout.readline()
    process = pid_of(tmp_path)
    writer.kill()
    writer.wait()
    embedded = EmbeddedStore(tmp_path)
    await embedded.start()
    assert pid_of(tmp_path) == process
    await embedded.stop()
    assert embedded._running_pid() is None
    assert not embedded.socket_path.exists()


async def test_valkey_that_dies_during_takeover_is_replaced(tmp_path: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE)
    assert writer.stdout
    writer.stdout.readline()
    process = pid_of(tmp_path)
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
    assert pid_of(tmp_path) != process
    await embedded.stop()


def descendants(folder: Path) -> set[int]:
    """Return the process ids of a folder's Valkeys and guards."""
    listed = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,command="], capture_output=True, text=True, check=True)
    lines = [line.split(None, 1) for line in listed.stdout.splitlines()]
    guards = {int(pid) for pid, command in lines if "guard.py" in command and f" {folder} " in command}
    valkeys = {int(pid) for pid, command in lines if "valkey-server" in command and str(folder) in command}
    return guards | valkeys


def has_open(process: int, path: Path) -> bool:
    """Return whether a process has a file open."""
    files = Path(f"/proc/{process}/fd")
    if files.exists():
        with suppress(FileNotFoundError):
            return any(file.resolve() == path for file in files.iterdir())
        return False
    listed = subprocess.run(["lsof", "-p", str(process)], capture_output=True, text=True, check=False)
    return str(path) in listed.stdout


def wait_until_alone(folder: Path, left: int = 0) -> None:
    while len(descendants(folder)) > left:
        time.sleep(0.05)


def test_abandoned_valkey_stops_without_loss(tmp_path: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), "4"], stdout=subprocess.PIPE, text=True)
    assert writer.stdout
    for _ in range(20):
        writer.stdout.readline()
    assert len(descendants(tmp_path)) == 2
    valkey = pid_of(tmp_path)
    # A Ctrl-C in the bot's terminal must not reach them, and they must not keep its output open.
    for process in descendants(tmp_path):
        assert os.getsid(process) == process
    writer.kill()
    acknowledged = [int(line) for line in writer.stdout.read().split()][-1:]
    writer.wait()
    assert valkey in descendants(tmp_path), "Valkey must outlive the bot for a while, for the next start"
    wait_until_alone(tmp_path)
    embedded = EmbeddedStore(tmp_path)
    log = asyncio.run(load_log(embedded))
    assert log.version >= max(acknowledged, default=20)
    assert descendants(tmp_path) == set()


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
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), "60"], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout
        writer.stdout.readline()
        valkeys.add(pid_of(tmp_path))
        writer.kill()
        writer.wait()
    embedded = EmbeddedStore(tmp_path)

    async def stay() -> None:
        await embedded.start()
        # The guards of the killed bots notice that they are not needed.
        wait_until_alone(tmp_path, left=2)
        async with open_store(embedded.url) as store:
            assert await store.client.ping()
        assert pid_of(tmp_path) == valkeys.pop()
        await embedded.stop()

    assert len(valkeys) == 1, "each start must take over the running Valkey"
    asyncio.run(stay())
    wait_until_alone(tmp_path)


@pytest.mark.parametrize("again", [long(False), True], ids=["deleted", "deleted and recreated"])
@pytest.mark.parametrize("died", [False, True], ids=["first", "second"])
def test_abandoned_valkey_stops_if_its_folder_is_deleted(tmp_path: Path, *, again: bool, died: bool) -> None:
    folder = tmp_path / "data"
    writer = subprocess.Popen([sys.executable, "-c", KEEPER, str(folder)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout
    writer.stdout.readline()
    if died:
        # The bot starts another Valkey with a new process id.
        first = pid_of(folder)
        os.kill(first, signal.SIGKILL)
        while not (folder / "valkey.pid").exists() or pid_of(folder) == first:
            time.sleep(0.05)
    valkey = pid_of(folder)
    # A slowly starting guard would take the new folder for its own.
    while not any(has_open(guard, folder / "bot.lock") for guard in descendants(folder) - {valkey}):
        time.sleep(0.05)
    shutil.rmtree(folder)
    assert valkey in descendants(folder)
    if again:
        folder.mkdir()
        (folder / "bot.lock").touch()
    writer.kill()
    writer.wait()
    wait_until_alone(folder)


def test_abandoned_valkey_stops_if_its_socket_is_deleted_first(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    writer = subprocess.Popen([sys.executable, "-c", KEEPER, str(folder)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout
    writer.stdout.readline()
    valkey = pid_of(folder)
    while not any(has_open(guard, folder / "bot.lock") for guard in descendants(folder) - {valkey}):
        time.sleep(0.05)
    EmbeddedStore(folder).socket_path.unlink()
    writer.kill()
    writer.wait()
    # Longer than a guard's check interval.
    time.sleep(4 * CHECK_SECONDS)
    shutil.rmtree(folder)
    wait_until_alone(folder)


async def test_start_waits_while_a_guard_holds_the_lock(tmp_path: Path) -> None:
    embedded = EmbeddedStore(tmp_path)
    lock = lock_folder(tmp_path)
    asyncio.get_running_loop().call_later(0.3, lock.close)
    await embedded.start()
    await embedded.stop()


async def test_start_retries_a_lock_held_once_by_a_guard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = [FolderInUse("by a guard")]

    def claimed(folder: Path) -> IO[str]:
        if looks:
            raise looks.pop()
        return lock_folder(folder)

    monkeypatch.setattr(embedded_module, "lock_folder", claimed)
    embedded = EmbeddedStore(tmp_path)
    await embedded.start()
    await embedded.stop()


async def test_valkey_with_an_empty_pid_file_is_not_started_twice(tmp_path: Path) -> None:
    """A full disk leaves the pid file empty."""
    first = EmbeddedStore(tmp_path)
    await first.start()
    process = pid_of(tmp_path)
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
    wait_until_alone(tmp_path)
