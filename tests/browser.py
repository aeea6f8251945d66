"""A real Chromium for tests of pages: fixtures, which `tests/conftest.py` gives to all."""

import os
import re
import shutil
import warnings
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, async_playwright, expect

from bot.store import EmbeddedStore
from tests.open_playground import Open

ONE_BROWSER = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.flaky(reruns=1, only_rerun=["TargetClosedError"]),
]
"""For tests in the browser: one process has all of them, and one event loop, as the browser belongs to it.

Once in some hundred runs Chromium dies by itself. The test that it dies in begins again, with another Chromium; where
that one dies too it is not by chance.
"""

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
    with pytest.MonkeyPatch.context() as environment:
        # What Chromium says stands beside a test that fails, and with it why it died.
        environment.setenv("DEBUG", "pw:browser")
        playwright = await async_playwright().start()
    try:
        running = await playwright.chromium.launch(executable_path=chromium(), args=[*FLAGS, *flags])
        yield running
        await running.close()
    finally:
        await playwright.stop()


class OneBrowser:
    """The Chromium of all tests of a process: starting one takes longer than most of them do."""

    def __init__(self, kept: AsyncExitStack) -> None:
        self._kept = kept
        self._running: Browser | None = None

    async def running(self) -> Browser:
        """The same one each time; another where it has died."""
        if self._running is None or not self._running.is_connected():
            if self._running:
                warnings.warn("Chromium has died: see what it said in the test before", stacklevel=1)
            self._running = await self._kept.enter_async_context(launched())
        return self._running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def one_browser() -> AsyncIterator[OneBrowser]:
    async with AsyncExitStack() as kept:
        yield OneBrowser(kept)


@pytest_asyncio.fixture(loop_scope="session")
async def browser(one_browser: OneBrowser) -> AsyncIterator[Browser]:
    """A Chromium without a page."""
    running = await one_browser.running()
    yield running
    for context in running.contexts:
        await context.close()


async def expose_chat(page: Page) -> None:
    """Let a test call what the playground's script keeps to itself, as a module does. Call it before `Page.goto`."""

    async def with_globals(route: Route) -> None:
        response = await route.fetch()
        names = "Object.assign(globalThis, { ask, draw, drawHeads, toBottom, state });"
        await route.fulfill(response=response, body=f"{await response.text()}\n{names}")

    await page.route(re.compile(r"/chat[^/]*\.js"), with_globals)
