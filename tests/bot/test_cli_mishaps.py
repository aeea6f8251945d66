"""Errors on the command line: damaged files, closed pipes and files that cannot be written."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import structlog

from bot.people import People
from bot.platform import Person
from bot.store import EmbeddedStore, Store, open_store
from tests.bot.command import environment, run_command
from tests.bot.finished.games import finished_game, store_game
from tests.bot.test_run import BUONGIOCO
from tests.long import long


async def create_store(folder: Path, *, games: int = 0) -> None:
    """Create a stopped store with a person and some games."""
    embedded = EmbeddedStore(folder / "data")
    await embedded.start()
    async with open_store(embedded.url) as store:
        await fill_store(store, games)
    await embedded.stop()


async def fill_store(store: Store, games: int) -> None:
    await People(store.client).meet(Person("paper:1", "Anna", "anna"))
    for number in range(1, games + 1):
        await store_game(store, finished_game(number))


def list_command_lines(folder: Path) -> str:
    """Return the command lines of processes that still run in a folder."""
    output = subprocess.run(["ps", "-eo", "command="], check=True, capture_output=True, text=True).stdout
    return "\n".join(line for line in output.splitlines() if str(folder) in line)


def run_with_closing_reader(folder: Path, *words: str, line_count: int, **settings: str) -> tuple[int, str]:
    """Run a command while its reader leaves after some lines, as with `| head`; return exit status and stderr."""
    process = subprocess.Popen(
        [BUONGIOCO, *words],
        env=environment(folder, **settings),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stderr
    for _ in range(line_count):
        assert process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    return process.wait(60), errors


async def test_damaged_store_error_says_how_to_restore(tmp_path: Path) -> None:
    await create_store(tmp_path)
    assert (await asyncio.to_thread(run_command, tmp_path, "backup", "cards.gz")).returncode == 0
    folder = tmp_path / "data"
    [file] = folder.glob("appendonlydir/*.incr.aof")
    log = file.read_bytes()
    file.write_bytes(log.replace(b"Anna", b"Anna and more", 1))
    tables_result = await asyncio.to_thread(run_command, tmp_path, "tables")
    assert tables_result.returncode == 2
    assert "Bad file format" in tables_result.stderr
    assert (
        f"restore a backup: move {folder}/appendonlydir away and run `buongioco restore FILE`" in tables_result.stderr
    )
    shutil.move(folder / "appendonlydir", tmp_path / "damaged")
    restored = await asyncio.to_thread(run_command, tmp_path, "restore", "cards.gz")
    assert restored.returncode == 0, restored.stderr
    question = await asyncio.to_thread(run_command, tmp_path, "forget", "paper:1", text="n\n")
    assert "Forget Anna (paper:1)" in question.stdout


@pytest.mark.long
@pytest.mark.parametrize("line_count", [1, long(2)])
async def test_doctor_exits_cleanly_on_closed_pipe(tmp_path: Path, line_count: int) -> None:
    await create_store(tmp_path)
    code, errors = await asyncio.to_thread(
        run_with_closing_reader, tmp_path, "doctor", line_count=line_count, BUONGIOCO_PLAYGROUND_PORT="0"
    )
    assert errors == ""
    assert code == 1
    assert list_command_lines(tmp_path) == ""


@pytest.mark.long
async def test_export_exits_cleanly_on_closed_pipe(tmp_path: Path) -> None:
    await create_store(tmp_path, games=3)
    code, errors = await asyncio.to_thread(run_with_closing_reader, tmp_path, "export", line_count=0)
    assert (code, errors) == (1, "")
    assert list_command_lines(tmp_path) == ""


async def test_export_with_dash_writes_to_stdout(tmp_path: Path) -> None:
    await create_store(tmp_path, games=2)
    answer = await asyncio.to_thread(run_command, tmp_path, "export", "--out", "-")
    assert (answer.returncode, answer.stderr) == (0, "2 games\n")
    assert len(answer.stdout.splitlines()) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


async def test_archive_checks_output_even_without_old_games(tmp_path: Path) -> None:
    await create_store(tmp_path)
    answer = await asyncio.to_thread(run_command, tmp_path, "archive", "--older-than=1d", "--out=nowhere/old.jsonl")
    assert answer.returncode == 2
    assert "nowhere/old.jsonl: No such file or directory" in " ".join(answer.stderr.split())
    answer = await asyncio.to_thread(run_command, tmp_path, "archive", "--older-than=1d", "--out=old.jsonl")
    assert answer.returncode == 0, answer.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


async def test_backup_through_a_pipe_restores(tmp_path: Path) -> None:
    await create_store(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    reading = asyncio.create_task(asyncio.to_thread((tmp_path / "pipe").read_bytes))
    answer = await asyncio.to_thread(run_command, tmp_path, "backup", "pipe")
    assert answer.returncode == 0, answer.stderr
    (tmp_path / "cards.gz").write_bytes(await reading)
    restored = await asyncio.to_thread(run_command, tmp_path, "restore", "cards.gz", "--replace")
    assert restored.returncode == 0, restored.stderr


async def test_logs_stay_out_of_stdout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await create_store(tmp_path)
    start = EmbeddedStore.start

    async def log_and_start(embedded: EmbeddedStore) -> None:
        structlog.get_logger().warning("store_died")
        await start(embedded)

    monkeypatch.setattr(EmbeddedStore, "start", log_and_start)
    answer = await asyncio.to_thread(run_command, tmp_path, "export")
    assert answer.stdout == ""
    assert "store_died" in answer.stderr
