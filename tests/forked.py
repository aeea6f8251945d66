"""Worker processes of a bot, forked from a process that has already imported their modules.

A new process takes more than a second to start, mostly to load compiled searches. Most tests take less time than that.
Bots in separate processes start their workers as usual, and so do the tests of `bot.concurrency.processes`.
"""

import multiprocessing
from collections.abc import Iterator

import pytest

from bot.concurrency import processes

SPAWN = processes.NewProcess


@pytest.fixture(scope="session")
def forked() -> Iterator[None]:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.at_hand"])
    # The first start waits for all imports, which would block a bot.
    first = context.Process(target=int)
    first.start()
    first.join()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(processes, "NewProcess", context.Process)
        yield


@pytest.fixture
def spawned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start processes as a real bot does."""
    monkeypatch.setattr(processes, "NewProcess", SPAWN)
