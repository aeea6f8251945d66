"""The embedded Valkey: one bot a folder, taken over after a kill, nothing lost."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from bot.store import Appended, EmbeddedStore, StoreFault, opened
from bot.store.log import Log

WRITER = textwrap.dedent(
    """
    import asyncio, sys
    from pathlib import Path
    from bot.store import EmbeddedStore, opened
    from bot.store.log import Log

    async def main():
        embedded = EmbeddedStore(Path(sys.argv[1]))
        await embedded.start()
        async with opened(embedded.url) as store:
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


def pid_of(folder: Path) -> int:
    return int((folder / "valkey.pid").read_text())


async def test_a_second_bot_in_the_folder_is_told_so(embedded: EmbeddedStore) -> None:
    with pytest.raises(StoreFault, match="Another bot is running with the data folder"):
        await EmbeddedStore(embedded.folder).start()
    async with opened(embedded.url) as store:
        assert await store.client.ping()


async def test_everything_is_there_after_a_stop_and_a_start(tmp_path: Path) -> None:
    for number in range(3):
        embedded = EmbeddedStore(tmp_path)
        await embedded.start()
        async with opened(embedded.url) as store:
            log = await store.load("ABCD")
            assert log.version == number
            await store.append("ABCD", log, [b"x"])
        await embedded.stop()
        assert not (tmp_path / "valkey.pid").exists()


async def test_it_listens_for_its_owner_only(embedded: EmbeddedStore) -> None:
    assert embedded.socket_path.stat().st_mode & 0o077 == 0
    async with opened(embedded.url) as store:
        config = await store.client.config_get("*")
        assert config["port"] == "0"
        assert (config["appendonly"], config["appendfsync"]) == ("yes", "always")


async def test_a_folder_deep_down_works_too(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    embedded = EmbeddedStore(deep)
    await embedded.start()
    async with opened(embedded.url) as store:
        assert await store.append("ABCD", Log([]), [b"one"]) == Appended(1)
    await embedded.stop()
    assert (deep / "appendonlydir").exists()


async def test_a_folder_that_cannot_be_used_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreFault, match="cannot be used"):
        await EmbeddedStore(tmp_path / "file").start()


async def test_a_valkey_that_will_not_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "appendonlydir").touch()
    with pytest.raises(StoreFault, match="did not start"):
        await impatient(tmp_path).start()
    # The folder was given back: mended, it serves.
    (tmp_path / "appendonlydir").unlink()
    embedded = EmbeddedStore(tmp_path)
    await embedded.start()
    await embedded.stop()


def impatient(folder: Path) -> EmbeddedStore:
    embedded = EmbeddedStore(folder)
    embedded.patience = 0.5
    return embedded


async def test_a_valkey_that_hangs_is_not_doubled(embedded: EmbeddedStore) -> None:
    process = pid_of(embedded.folder)
    embedded._release_folder()
    os.kill(process, signal.SIGSTOP)
    try:
        with pytest.raises(StoreFault, match=f"process {process}"):
            await impatient(embedded.folder).start()
    finally:
        os.kill(process, signal.SIGCONT)


@pytest.mark.parametrize("victims", ["bot", "store", "both"])
async def test_kills_lose_no_acknowledged_entry_and_write_none_twice(tmp_path: Path, victims: str) -> None:
    acknowledged = 0
    for round_ in range(4):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert writer.stdout
        begun = int(writer.stdout.readline().split()[1])
        # An entry whose answer the kill cut off may be there or not.
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
    async with opened(embedded.url) as store:
        entries = (await store.load("KILL")).entries
    await embedded.stop()
    assert entries == [str(number).encode() for number in range(len(entries))]
    assert acknowledged <= len(entries) <= acknowledged + 1


async def test_the_valkey_of_a_killed_bot_is_taken_over_not_started_anew(tmp_path: Path) -> None:
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
    assert embedded._left_running() is None
    assert not embedded.socket_path.exists()
