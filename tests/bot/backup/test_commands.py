"""The commands `buongioco backup` and `restore`, with and without a running bot."""

import asyncio
import gzip
import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from bot.people import People
from bot.platform import Person
from bot.store import EmbeddedStore, open_store
from tests.bot.command import environment, run_command
from tests.bot.test_run import start_bot
from tests.kills.bot_process import free_port
from tests.long import long


def is_healthy(port: int) -> bool:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as response:
        return bool(json.load(response)["healthy"])


async def check_bot_store(folder: Path) -> None:
    """Assert that a bot can open the folder's store and find its data."""
    embedded = EmbeddedStore(folder)
    await embedded.start()
    async with open_store(embedded.url) as store:
        assert await store.client.exists("playground:people")
    await embedded.stop()


@pytest.mark.long
def test_backup_runs_beside_the_bot_but_restore_refuses(tmp_path: Path) -> None:
    port = free_port()
    with start_bot(tmp_path, port):
        result = run_command(tmp_path, "backup", "cards.gz")
        assert result.returncode == 0, result.stderr
        assert f"bytes, of the store in {tmp_path / 'data'}\n" in result.stderr
        assert "warning: nobody has played in" in result.stderr

        # A restore is refused while the bot runs, and nothing is lost.
        result = run_command(tmp_path, "restore", "cards.gz", "--replace")
        assert result.returncode == 2
        assert (
            f"A bot is running with the data folder {tmp_path / 'data'}, and would overwrite the restored data"
            in result.stderr
        )
        assert "Nothing was changed: stop the bot, run this again" in result.stderr
        result = run_command(tmp_path, "rebuild")
        assert result.returncode == 2
        assert "rates games that end during a rebuild. Nothing was changed: stop" in result.stderr

        # Commands that only read work while the bot runs.
        result = run_command(tmp_path, "export")
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "0 games\n")
        assert is_healthy(port)
    result = run_command(tmp_path, "restore", "cards.gz")
    assert result.returncode == 2
    assert "not empty" in result.stderr
    result = run_command(tmp_path, "restore", "cards.gz", "--replace")
    assert result.returncode == 0, result.stderr
    assert "The store is as it was on 20" in result.stderr
    assert "People forgotten after that time are back" in result.stderr
    # Back up the stopped store too.
    result = run_command(tmp_path, "backup", "again.gz")
    assert result.returncode == 0, result.stderr
    asyncio.run(check_bot_store(tmp_path / "data"))


def test_impossible_backups_fail_with_one_line(tmp_path: Path) -> None:
    result = run_command(tmp_path, "backup", "cards.gz")
    assert result.returncode == 2
    assert f"There is no store in {tmp_path / 'data'}" in result.stderr
    assert not (tmp_path / "cards.gz").exists()
    (tmp_path / "bad.gz").write_bytes(b"no")
    result = run_command(tmp_path, "restore", "bad.gz")
    assert result.returncode == 2
    assert "not a backup, or it is damaged" in result.stderr
    result = run_command(tmp_path, "backup", "x.gz", REDIS_URL="redis://127.0.0.1:1")
    assert result.returncode == 2
    assert "cannot be read" in result.stderr
    result = run_command(tmp_path, "restore", "bad.gz", REDIS_URL="redis://127.0.0.1:1")
    assert result.returncode == 2


HANGING_BACKUP = """
import asyncio, signal, sys
from bot.backup.taking import BackupTaker
from bot.cli.main import main
# The shell may ignore these signals.
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
async def take(_taking):
    print("begun", flush=True)
    await asyncio.Event().wait()
BackupTaker.take = take
sys.argv = ["buongioco", "backup", "cards.gz"]
main()
"""


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, long(signal.SIGINT), long(signal.SIGHUP)])
async def test_interrupted_backup_leaves_no_file(
    empty_valkey: EmbeddedStore, tmp_path: Path, number: signal.Signals
) -> None:
    async with open_store(empty_valkey.url):
        pass
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", HANGING_BACKUP),
        cwd=tmp_path,
        env=environment(tmp_path, REDIS_URL=empty_valkey.url),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    assert await process.stdout.readline() == b"begun\n"
    assert [path.suffix for path in tmp_path.iterdir()] == [".part"]
    process.send_signal(number)
    _, stderr = await process.communicate()
    assert process.returncode
    assert b"Traceback" not in stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments",
    [
        ["backup", "b.gz"],
        ["archive", "--older-than=1d", "--out=old.jsonl"],
        ["export"],
        ["tables"],
        ["tables", "show", "ABCDEF"],
        ["tables", "close", "ABCDEF", "--yes"],
        ["forget", "playground:2", "--yes"],
        ["rebuild"],
    ],
)
def test_commands_in_another_folder_create_no_store(tmp_path: Path, arguments: list[str]) -> None:
    """A cron job, for example, runs in a folder without the .env that sets BUONGIOCO_DATA."""
    result = run_command(tmp_path, *arguments)
    assert result.returncode == 2
    assert f"There is no store in {tmp_path / 'data'}. Settings are read from" in result.stderr
    assert f".env in the folder where a command is started, which is {tmp_path}: " in result.stderr
    assert not list(tmp_path.iterdir())


async def test_backup_with_people_gives_no_warning(tmp_path: Path) -> None:
    embedded = EmbeddedStore(tmp_path / "data")
    await embedded.start()
    async with open_store(embedded.url) as store:
        await People(store.client).meet(Person("paper:1", "Anna", "anna"))
    await embedded.stop()
    result = await asyncio.to_thread(run_command, tmp_path, "backup", "cards.gz")
    assert result.returncode == 0
    assert "warning" not in result.stderr


@pytest.mark.long
async def test_backup_to_dash_writes_to_stdout(tmp_path: Path) -> None:
    embedded = EmbeddedStore(tmp_path / "data")
    await embedded.start()
    async with open_store(embedded.url) as store:
        await People(store.client).meet(Person("paper:1", "Anna", "anna"))
    await embedded.stop()
    arguments = [sys.executable, "-c", "from bot.cli.main import main; main()", "backup", "-"]
    process = await asyncio.create_subprocess_exec(
        *arguments, cwd=tmp_path, env=environment(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    assert b'"Anna"' in gzip.decompress(output)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
