"""A bot with its playground open, in this process."""

import asyncio
from pathlib import Path

from adapters.playground import Playground
from bot.desk import Desk
from bot.house import House
from bot.settings import Settings
from bot.store import EmbeddedStore, opened
from bot.supervisor import Supervisor


class Open:
    """A house whose playground is open, which can be closed and opened again on the same port."""

    def __init__(self, folder: Path, host: str = "127.0.0.1", public_url: str | None = None) -> None:
        self.folder, self.host, self.port, self.public_url = folder, host, 0, public_url
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.house: House
        self.playground: Playground

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
                settings = Settings(
                    _env_file=None,
                    data=self.folder,
                    playground_port=self.port,
                    playground_host=self.host,
                    public_url=self.public_url,
                )
                house = self.house = House(store, settings, robot_pause=0.05)
                playground = self.playground = Playground(Desk(house))
                house.add(playground)
                serving = asyncio.create_task(Supervisor(house).run())
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
