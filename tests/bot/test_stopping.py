"""Busy processes and threads do not delay the end of the bot."""

import asyncio
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import active_children
from pathlib import Path

import pytest

from bot.concurrency.processes import ProcessDied, Processes
from bot.concurrency.threads import DaemonThreads
from bot.pictures.pool import PicturePool
from bot.robots.pool import RobotPool
from tests.bot.command import environment
from tests.long import long
from tests.paths import ROOT

HOUR = 3600.0


def stay_busy(started: Path, *_args: object) -> None:
    started.touch()
    time.sleep(HOUR)


async def wait_for_files(*files: Path) -> None:
    while not all(file.exists() for file in files):
        await asyncio.sleep(0.02)


async def test_stop_ends_busy_processes(tmp_path: Path) -> None:
    before = {*active_children()}
    processes = Processes("test", 2)
    files = [tmp_path / str(number) for number in range(2)]
    tasks = [asyncio.create_task(processes.run(stay_busy, file)) for file in files]
    await wait_for_files(*files)
    started = {*active_children()} - before
    processes.stop()
    assert [process.exitcode for process in started] == [-9, -9]
    for task in tasks:
        with pytest.raises(ProcessDied):
            await task


@pytest.mark.parametrize("kind", ["robots", long("pictures")])
async def test_pools_stop_despite_busy_children(kind: str, tmp_path: Path) -> None:
    before = {*active_children()}
    pool = RobotPool(1) if kind == "robots" else PicturePool()
    groups = [pool._movers, pool._analysers] if isinstance(pool, RobotPool) else [pool._processes]
    files = [tmp_path / str(number) for number in range(len(groups))]
    tasks = [asyncio.create_task(group.run(stay_busy, file)) for group, file in zip(groups, files, strict=True)]
    await wait_for_files(*files)
    pool.stop()
    for task in tasks:
        with pytest.raises(ProcessDied):
            await task
    assert not {*active_children()} - before


async def test_process_cancelled_while_starting_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    before, is_connecting = {*active_children()}, asyncio.Event()

    async def hang(**_options: object) -> None:
        is_connecting.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio, "open_connection", hang)
    task = asyncio.create_task(Processes("test", 1).run(abs, -1))
    await is_connecting.wait()
    [started] = {*active_children()} - before
    task.cancel()
    await asyncio.wait([task])
    started.join(30)
    assert started.exitcode == -9


SCRIPT_WITH_BUSY_CHILD = """
import asyncio, sys
from pathlib import Path
from bot.concurrency.processes import Processes
from tests.bot.test_stopping import stay_busy, wait_for_files

async def main(stops, file):
    processes = Processes("test", 1)
    task = asyncio.create_task(processes.run(stay_busy, file))
    await wait_for_files(file)
    if stops:
        processes.stop()

if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] == "stops", Path(sys.argv[2])))
"""


@pytest.mark.long
@pytest.mark.parametrize("end", ["stops", long("exits without a stop")])
def test_python_exits_despite_a_busy_child(end: str, tmp_path: Path) -> None:
    """An error can prevent the bot from stopping its processes."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT_WITH_BUSY_CHILD)
    file = tmp_path / "started"
    subprocess.run(
        [sys.executable, str(script), end, str(file)], env=environment_with_path(tmp_path), cwd=tmp_path, timeout=60, check=True
    )  # fmt: skip
    assert file.exists()


def environment_with_path(folder: Path) -> dict[str, str]:
    return environment(folder, PYTHONPATH=str(ROOT))


SCRIPT_WITH_BUSY_THREAD = """
import asyncio, time
from bot.running import run
from bot.running.supervisor import NothingToRun
from bot.settings import Settings

def load_no_adapters(_room):
    asyncio.get_running_loop().run_in_executor(None, time.sleep, 3600)
    return []

run.load_adapters = load_no_adapters
try:
    asyncio.run(run.run(Settings(_env_file=None)))
except NothingToRun:
    print("ended")
"""


def test_bot_exits_despite_a_busy_thread(tmp_path: Path) -> None:
    """A name lookup without a network can keep a thread busy, for example."""
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT_WITH_BUSY_THREAD], env=environment_with_path(tmp_path), cwd=tmp_path, timeout=60,
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert "ended" in result.stdout, result.stderr[-2000:]


async def test_daemon_threads_return_results() -> None:
    loop = asyncio.get_running_loop()
    loop.set_default_executor(DaemonThreads())
    try:
        assert await asyncio.to_thread(sum, [1, 2], start=3) == 6
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(divmod, 1, 0)
        assert await asyncio.gather(*[asyncio.to_thread(abs, -number) for number in range(50)]) == [*range(50)]
    finally:
        loop.set_default_executor(ThreadPoolExecutor())
