"""The playground in a real Chromium."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

from adapters.playground import Playground
from bot.house import House
from bot.settings import Settings
from bot.store import EmbeddedStore, opened

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PHONE = {"width": 390, "height": 844}


class Open:
    """A house whose playground is open, which can be closed and opened again on the same port."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, 0
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.house: House | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    async def start(self) -> None:
        self._stop.clear()
        ready = asyncio.Event()
        self._task = asyncio.create_task(self._run(ready))
        await ready.wait()

    async def stop(self) -> None:
        self._stop.set()
        if self._task:
            await self._task

    async def _run(self, ready: asyncio.Event) -> None:
        valkey = EmbeddedStore(self.folder)
        await valkey.start()
        try:
            async with opened(valkey.url) as store:
                house = self.house = House(store, Settings(_env_file=None, playground_port=self.port), robot_pause=0.05)
                playground = Playground(house)
                await playground.start()
                house.add(playground)
                serving = asyncio.create_task(playground.serve())
                await house.start()
                while not playground.healthy:
                    await asyncio.sleep(0.01)
                self.port = playground.server.port
                ready.set()
                await self._stop.wait()
                serving.cancel()
                await asyncio.wait([serving])
                await house.stop()
        finally:
            await valkey.stop()


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
