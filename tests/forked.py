"""Processes that work for a bot, forked from one that has imported what they need: starting one afresh takes a second
and more, most of it for compiled searches, which is longer than most tests think with them.

What a bot does that runs by itself is as it is for everybody, and so it is in the tests of `bot.processes`.
"""

import multiprocessing
from collections.abc import Iterator

import pytest

from bot import processes

SPAWN = processes.NewProcess


@pytest.fixture(scope="session")
def forked() -> Iterator[None]:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.at_hand"])
    # To start the first takes until all is imported: a bot would stand still meanwhile.
    first = context.Process(target=int)
    first.start()
    first.join()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(processes, "NewProcess", context.Process)
        yield


@pytest.fixture
def spawned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are started as a bot starts them."""
    monkeypatch.setattr(processes, "NewProcess", SPAWN)
