"""What goes wrong for a host: a damaged file, a reader who has enough, a file that cannot be written."""

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
from tests.bot.command import command, environment
from tests.bot.finished.games import finished_game, store_game
from tests.bot.test_run import BUONGIOCO


async def made(folder: Path, *, games: int = 0) -> None:
    """A store at rest, with a person and some games."""
    embedded = EmbeddedStore(folder / "data")
    await embedded.start()
    async with open_store(embedded.url) as store:
        await filled(store, games)
    await embedded.stop()


async def filled(store: Store, games: int) -> None:
    await People(store.client).meet(Person("paper:1", "Anna", "anna"))
    for number in range(1, games + 1):
        await store_game(store, finished_game(number))


def processes(folder: Path) -> str:
    """The command lines of what still runs in a folder."""
    listed = subprocess.run(["ps", "-eo", "command="], check=True, capture_output=True, text=True).stdout
    return "\n".join(line for line in listed.splitlines() if str(folder) in line)


def called_by_an_impatient_reader(folder: Path, *words: str, lines: int, **settings: str) -> tuple[int, str]:
    """Exit status and stderr of a command whose reader leaves after so many lines, as with `| head`."""
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
    for _ in range(lines):
        assert process.stdout.readline()
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    return process.wait(60), said


async def test_a_damaged_file_is_said_with_what_can_be_done_and_a_backup_helps(tmp_path: Path) -> None:
    await made(tmp_path)
    assert (await asyncio.to_thread(command, tmp_path, "backup", "cards.gz")).returncode == 0
    folder = tmp_path / "data"
    [file] = folder.glob("appendonlydir/*.incr.aof")
    log = file.read_bytes()
    file.write_bytes(log.replace(b"Anna", b"Anna and more", 1))
    refused = await asyncio.to_thread(command, tmp_path, "tables")
    assert refused.returncode == 2
    assert "Bad file format" in refused.stderr
    assert f"restore a backup: move {folder}/appendonlydir away and run `buongioco restore FILE`" in refused.stderr
    shutil.move(folder / "appendonlydir", tmp_path / "damaged")
    restored = await asyncio.to_thread(command, tmp_path, "restore", "cards.gz")
    assert restored.returncode == 0, restored.stderr
    asked = await asyncio.to_thread(command, tmp_path, "forget", "paper:1", text="n\n")
    assert "Forget Anna (paper:1)" in asked.stdout


@pytest.mark.parametrize("lines", [1, 2])
async def test_the_doctor_ends_in_order_though_its_reader_has_enough(tmp_path: Path, lines: int) -> None:
    await made(tmp_path)
    code, said = await asyncio.to_thread(
        called_by_an_impatient_reader, tmp_path, "doctor", lines=lines, BUONGIOCO_PLAYGROUND_PORT="0"
    )
    assert said == ""
    assert code == 1
    assert processes(tmp_path) == ""


async def test_so_does_export(tmp_path: Path) -> None:
    await made(tmp_path, games=3)
    code, said = await asyncio.to_thread(called_by_an_impatient_reader, tmp_path, "export", lines=0)
    assert (code, said) == (1, "")
    assert processes(tmp_path) == ""


async def test_export_writes_to_the_screen_with_a_dash(tmp_path: Path) -> None:
    await made(tmp_path, games=2)
    answer = await asyncio.to_thread(command, tmp_path, "export", "--out", "-")
    assert (answer.returncode, answer.stderr) == (0, "2 games\n")
    assert len(answer.stdout.splitlines()) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


async def test_an_archive_that_cannot_be_written_is_said_though_nothing_is_old_enough(tmp_path: Path) -> None:
    await made(tmp_path)
    answer = await asyncio.to_thread(command, tmp_path, "archive", "--older-than=1d", "--out=nowhere/old.jsonl")
    assert answer.returncode == 2
    assert "nowhere/old.jsonl: No such file or directory" in " ".join(answer.stderr.split())
    answer = await asyncio.to_thread(command, tmp_path, "archive", "--older-than=1d", "--out=old.jsonl")
    assert answer.returncode == 0, answer.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


async def test_a_backup_goes_through_a_pipe_and_restores(tmp_path: Path) -> None:
    await made(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    reading = asyncio.create_task(asyncio.to_thread((tmp_path / "pipe").read_bytes))
    answer = await asyncio.to_thread(command, tmp_path, "backup", "pipe")
    assert answer.returncode == 0, answer.stderr
    (tmp_path / "cards.gz").write_bytes(await reading)
    restored = await asyncio.to_thread(command, tmp_path, "restore", "cards.gz", "--replace")
    assert restored.returncode == 0, restored.stderr


async def test_what_is_logged_while_a_command_works_is_not_among_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await made(tmp_path)
    start = EmbeddedStore.start

    async def started(embedded: EmbeddedStore) -> None:
        structlog.get_logger().warning("store_died")
        await start(embedded)

    monkeypatch.setattr(EmbeddedStore, "start", started)
    said = await asyncio.to_thread(command, tmp_path, "export")
    assert said.stdout == ""
    assert "store_died" in said.stderr
