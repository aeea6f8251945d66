"""What goes for every test."""

import asyncio
import gc
import os
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import pytest
import structlog
from hypothesis import settings

from tests.browser import browser, one_browser, playground
from tests.forked import forked, spawned
from tests.stores import any_store, cluster, cluster_store, embedded, empty_valkey, shared_valkey, store

# For all tests, wherever they stand: which folders are named on the command line makes no difference.
__all__ = [
    "any_store",
    "browser",
    "cluster",
    "cluster_store",
    "embedded",
    "empty_valkey",
    "forked",
    "one_browser",
    "playground",
    "shared_valkey",
    "spawned",
    "store",
]

# People in tests press faster than people do.
os.environ["BUONGIOCO_RATE_LIMITS"] = "false"
# Who tests something else need not look at every game that ends: that takes a process of its own.
os.environ["BUONGIOCO_ANALYSE_RESULTS"] = "false"

# A slow machine is not a fault: nothing here is judged by its time. `make test-all` names the thorough profile.
settings.register_profile("quick", deadline=None, max_examples=8)
settings.register_profile("thorough", deadline=None, max_examples=100)
settings.load_profile("quick")

# A trace drawn in a frame, with every local in it, takes longer than the test that wants the error.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
)


@pytest.fixture(autouse=True)
def no_store_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests share a store that does not wait for the disk. Every worker on it would warn of that, at some moment."""

    async def nothing(_client: object, _outage: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("bot.worker.watch_durability", nothing)


@pytest.fixture(autouse=True)
def same_logs() -> Iterator[None]:
    """A command sets up logging for its whole process."""
    known = structlog.get_config()
    yield
    structlog.configure(**known)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Five for two cores: what talks to a store, a browser or a child process waits half of its time.

    The long tests keep a core busy each, and wait for what more of them would hold up.
    """
    is_long = config.getoption("markexpr") != "not long"
    cores = os.cpu_count() or 1
    return cores if is_long else 5 * cores // 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that think stand among files that wait: all of Telegram's at the end would leave both cores idle there."""
    files = {item.path: sha256(item.path.name.encode()).digest() for item in items}
    items.sort(key=lambda item: files[item.path])


def pytest_make_parametrize_id(val: object) -> str | None:
    """A long text is not the name of its test: each process keeps all names, and sends them to the one that leads."""
    return f"{val[:20]!r}...{len(val)}" if isinstance(val, str | bytes) and len(val) > 100 else None


def pytest_collection(session: pytest.Session) -> None:
    """Each process of a whole run imports other files first, so that they do not all compile all of them."""
    process = os.environ.get("PYTEST_XDIST_WORKER")
    if process and session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        names = sorted(
            ".".join(path.relative_to(session.config.rootpath).with_suffix("").parts)
            for path in Path(__file__).parent.rglob("test_*.py")
        )
        for name in names[int(process.removeprefix("gw")) :: int(os.environ["PYTEST_XDIST_WORKER_COUNT"])]:
            # What cannot be imported is said by the collection, which comes to it again.
            with suppress(Exception):
                import_module(name)


def pytest_collection_finish() -> None:
    """What was imported stays for good: Python need not look through it again whenever it collects."""
    gc.collect()
    gc.freeze()
