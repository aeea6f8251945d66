"""The playground in a real Chromium."""

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

from tests.open_playground import Open

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PHONE = {"width": 390, "height": 844}


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


@pytest.fixture
async def playground(tmp_path: Path) -> AsyncIterator[Open]:
    opened_worker = Open(tmp_path / "data")
    await opened_worker.start()
    yield opened_worker
    await opened_worker.stop()


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield running
        await running.close()
