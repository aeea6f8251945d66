"""Fixtures with a real Chromium, which `tests/conftest.py` makes available to all tests."""

import os
import re
import shutil
import warnings
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Error, Page, Route, async_playwright, expect

from bot.store import EmbeddedStore
from tests.open_playground import OpenPlayground

ONE_BROWSER = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.flaky(reruns=1, only_rerun=["TargetClosedError"]),
]
"""Marks of tests in the browser. They all run in one process and one event loop, to which the browser belongs.

Chromium crashes about once in a hundred runs. The test then runs again with a new Chromium. A second crash fails the
test.
"""

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PHONE = {"width": 390, "height": 844}

# The default of 5 seconds is too short on a slow machine that runs other tests at the same time.
expect.set_options(timeout=30_000)


def find_tool(*names: str, package: str) -> str:
    """Return the path of the first of these programs that is installed. If none is, skip the test, or fail it in CI."""
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        if os.environ.get("CI"):
            pytest.fail(f"{names[0]} is not installed: .ci/run installs it")
        pytest.skip(f"{names[0]} is not installed (apt install {package})")
    return path


def chromium() -> str:
    return find_tool("chromium", "chromium-browser", "google-chrome", package="chromium")


@pytest_asyncio.fixture(loop_scope="session")
async def playground(tmp_path: Path, empty_valkey: EmbeddedStore) -> AsyncIterator[OpenPlayground]:
    running = OpenPlayground(tmp_path / "data", valkey=empty_valkey)
    await running.start()
    yield running
    await running.stop()


@asynccontextmanager
async def launch_browser(*flags: str) -> AsyncIterator[Browser]:
    with pytest.MonkeyPatch.context() as environment:
        # Chromium's output appears in the report of a failed test, with the reason of a crash.
        environment.setenv("DEBUG", "pw:browser")
        playwright = await async_playwright().start()
    try:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=[*FLAGS, *flags])
        yield browser
        await browser.close()
    finally:
        await playwright.stop()


class SharedBrowser:
    """A Chromium shared by all tests of a process, because starting one takes longer than most tests."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._browser: Browser | None = None

    async def open(self) -> Browser:
        """Return the shared browser, or a new one if it crashed."""
        if self._browser is None or not await is_usable(self._browser):
            if self._browser:
                warnings.warn("Chromium has died: see its output in the report of the previous test", stacklevel=1)
            self._browser = await self._stack.enter_async_context(launch_browser())
        return self._browser


async def is_usable(browser: Browser) -> bool:
    """Return whether a browser still opens contexts. For seconds after a crash, `is_connected` can stay true."""
    try:
        await (await browser.new_context()).close()
    except Error:
        return False
    return True


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def one_browser() -> AsyncIterator[SharedBrowser]:
    async with AsyncExitStack() as stack:
        yield SharedBrowser(stack)


@pytest_asyncio.fixture(loop_scope="session")
async def browser(one_browser: SharedBrowser) -> AsyncIterator[Browser]:
    """A Chromium without a page."""
    running = await one_browser.open()
    yield running
    for context in running.contexts:
        await context.close()


def fail_on_page_errors(page: Page) -> None:
    """Fail the test if a script of the page fails or writes an error to the console."""
    page.on("pageerror", lambda error: pytest.fail(f"the page failed: {error}"))
    page.on("console", lambda line: pytest.fail(f"the console says: {line.text}") if line.type == "error" else None)


async def wait_until_still(page: Page) -> None:
    """Wait until all animations have ended. A click with ``force`` does not wait for a moving card."""
    await page.wait_for_function(
        "() => !document.getAnimations().some((animation) => animation.playState === 'running')"
    )


async def expose_chat(page: Page) -> None:
    """Let a test use private names of the playground's script: make them global. Call this before `Page.goto`."""

    async def add_globals(route: Route) -> None:
        response = await route.fetch()
        names = "Object.assign(globalThis, { ask, draw, drawHeads, toBottom, state });"
        await route.fulfill(response=response, body=f"{await response.text()}\n{names}")

    await page.route(re.compile(r"/chat[^/]*\.js"), add_globals)
