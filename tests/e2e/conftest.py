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


@pytest.fixture
async def playground(tmp_path: Path) -> AsyncIterator[Open]:
    opened_house = Open(tmp_path / "data")
    await opened_house.start()
    yield opened_house
    await opened_house.stop()


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        if os.environ.get("CI"):
            pytest.fail("there is no Chromium on this machine: .ci/run installs it")
        pytest.skip("there is no Chromium on this machine (apt install chromium)")
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        await running.close()
