"""Settings, fixtures and hooks for all tests."""

import asyncio
import gc
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import pytest
import structlog
from hypothesis import settings

from bot.features.learn import first_games
from tests.bot.fake_platform import fake, worker
from tests.browser import browser, one_browser, playground
from tests.forked import forked, spawned
from tests.groups import COMPILED_SEARCHES, compile_searches
from tests.long import find_repeats
from tests.stores import any_store, cluster, cluster_store, embedded, empty_valkey, shared_valkey, store

# Fixtures for all folders, independent of the folders named on the command line.
__all__ = [
    "any_store",
    "browser",
    "cluster",
    "cluster_store",
    "embedded",
    "empty_valkey",
    "fake",
    "forked",
    "one_browser",
    "playground",
    "shared_valkey",
    "spawned",
    "store",
    "worker",
]

# People in tests press faster than real people.
os.environ["BUONGIOCO_RATE_LIMITS"] = "false"
# Most tests do not need the analysis of finished games, which takes another process.
os.environ["BUONGIOCO_ANALYSE_RESULTS"] = "false"

# No deadlines: a slow machine is not an error. `make test-all` uses the thorough profile.
settings.register_profile("quick", deadline=None, max_examples=8)
settings.register_profile("thorough", deadline=None, max_examples=100)
settings.load_profile("quick")

# A rich traceback with all locals takes longer than the test that expects the error.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
)


@pytest.fixture(autouse=True)
def no_first_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show no hints in first games: most tests do not need them, and robots take a second to find one."""
    monkeypatch.setattr(first_games, "TURNS_WITH_HINT", 0)


@pytest.fixture(autouse=True)
def no_store_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn off the warning about durability: the tests' shared store does not wait for the disk."""

    async def wait_forever(_client: object, _outage: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("bot.worker.watch_settings", wait_forever)


@pytest.fixture(autouse=True)
def no_lost_task_errors() -> Iterator[None]:
    """Fail a test in which a task's error was lost. asyncio logs it when the task is deleted."""
    loop_errors: list[str] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = lambda record: loop_errors.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("asyncio")
    logger.addHandler(handler)
    yield
    logger.removeHandler(handler)
    # aiohttp deletes writing tasks of connections that were lost.
    own_errors = [message for message in loop_errors if "site-packages" not in message]
    if lost_errors := [message for message in own_errors if "never retrieved" in message]:
        pytest.fail(f"await the task, or handle its error in a callback: {lost_errors}")


@pytest.fixture(autouse=True)
def same_logs() -> Iterator[None]:
    """Restore the logging configuration, which commands change for the whole process."""
    configuration = structlog.get_config()
    yield
    structlog.configure(**configuration)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Use three processes for two cores, because tests with a store, browser or child process also wait.

    A run of long tests uses one process per core. Each long test keeps a core busy, and more at once could time out.
    A single file runs without other processes, because their start takes longer than most files.
    """
    is_long = config.getoption("markexpr") != "not long"
    files = {argument.partition("::")[0] for argument in config.args}
    if not is_long and len(files) == 1 and files.pop().endswith(".py"):
        return 0
    cores = os.cpu_count() or 1
    return cores if is_long else 3 * cores // 2


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave repeats out of `make test`. Mix files that compute with files that wait.

    All Telegram files at the end would leave the cores idle.
    """
    names_tests = config.args_source is not pytest.Config.ArgsSource.TESTPATHS or config.getoption("keyword")
    if config.getoption("markexpr") == "not long" and not names_tests:
        repeats = set(find_repeats(items))
        items[:] = [item for item in items if item not in repeats]
        config.hook.pytest_deselected(items=repeats)
    files = {item.path: sha256(item.path.name.encode()).digest() for item in items}
    items.sort(key=lambda item: files[item.path])


def pytest_runtest_setup(item: pytest.Item) -> None:
    if COMPILED_SEARCHES.mark in item.iter_markers():
        compile_searches()


def pytest_make_parametrize_id(val: object) -> str | None:
    """Shorten long parameters in test ids: each process keeps all ids and sends them to the controller."""
    return f"{val[:20]!r}...{len(val)}" if isinstance(val, str | bytes) and len(val) > 100 else None


def pytest_collection(session: pytest.Session) -> None:
    """Import different files first in each process of a whole run, so that each file is compiled only once.

    Garbage collection is off until all files are loaded. It would scan all loaded modules again and again.
    """
    gc.disable()
    process = os.environ.get("PYTEST_XDIST_WORKER")
    if process and session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        names = sorted(
            ".".join(path.relative_to(session.config.rootpath).with_suffix("").parts)
            for path in Path(__file__).parent.rglob("test_*.py")
        )
        for name in names[int(process.removeprefix("gw")) :: int(os.environ["PYTEST_XDIST_WORKER_COUNT"])]:
            # The collection imports the file again and reports the error.
            with suppress(Exception):
                import_module(name)


def pytest_collection_finish() -> None:
    """Exclude imported modules from garbage collection, because they stay until the end."""
    gc.collect()
    gc.freeze()
    gc.enable()
