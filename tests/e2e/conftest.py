"""The playground in a real Chromium."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from bot.store import EmbeddedStore
from tests.open_playground import Open

ONE_BROWSER = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("browser")]
"""For tests in the browser: one process has all of them, and one event loop, as the browser belongs to it."""

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PHONE = {"width": 390, "height": 844}

# A slow machine is not a fault: five seconds are too few for a page beside the other tests.
expect.set_options(timeout=30_000)


def needed(*names: str, package: str) -> str:
    """The path of a tool, by the first of its names that is there; without it the test is skipped, and fails in CI."""
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(f"there is no {names[0]} on this machine: .ci/run installs it")
        pytest.skip(f"there is no {names[0]} on this machine (apt install {package})")
    return found


def chromium() -> str:
    return needed("chromium", "chromium-browser", "google-chrome", package="chromium")


@pytest_asyncio.fixture(loop_scope="session")
async def playground(tmp_path: Path, empty_valkey: EmbeddedStore) -> AsyncIterator[Open]:
    opened_worker = Open(tmp_path / "data", valkey=empty_valkey)
    await opened_worker.start()
    yield opened_worker
    await opened_worker.stop()


@asynccontextmanager
async def launched(*flags: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=chromium(), args=[*FLAGS, *flags])
        yield running
        await running.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def running_browser() -> AsyncIterator[Browser]:
    async with launched() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def browser(running_browser: Browser) -> AsyncIterator[Browser]:
    """A Chromium without a page: one for all tests, for starting it takes longer than most of them do."""
    yield running_browser
    for context in running_browser.contexts:
        await context.close()
