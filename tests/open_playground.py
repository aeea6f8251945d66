"""A bot with its playground open, in this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from adapters.web import make
from adapters.web.playground.adapter import Playground
from adapters.web.site import Site
from bot.handlers import Dispatcher
from bot.running.supervisor import Supervisor
from bot.settings import Settings
from bot.store import EmbeddedStore, open_store
from bot.worker import Worker


async def cut_pack(worker: Worker, code: str) -> None:
    """Cut the pack that waits at a table."""
    table = await worker.room.table(code)
    assert table.cutter is not None
    chair = table.chairs[table.cutter]
    assert chair
    await worker.room.cut(code, chair.person, table.version, "c0ffee", f"cut {table.version}")


class OpenPlayground:
    """A worker with an open playground, which can be closed and opened again on the same port.

    Its store is ``valkey`` if given, otherwise its own embedded Valkey.
    """

    def __init__(
        self,
        folder: Path,
        host: str = "127.0.0.1",
        public_url: str | None = None,
        valkey: EmbeddedStore | None = None,
    ) -> None:
        self.folder, self.host, self.port, self.public_url = folder, host, 0, public_url
        self._valkey = valkey
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.worker: Worker
        self.playground: Playground

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    @property
    def site(self) -> Site:
        return self.playground.site

    @property
    def chat_url(self) -> str:
        return f"{self.url}chat"

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
        async with self._store_running() as url, open_store(url) as store:
            settings = Settings(
                _env_file=None,
                data=self.folder,
                playground_port=self.port,
                playground_host=self.host,
                public_url=self.public_url,
            )
            worker = self.worker = Worker(store, settings, robot_pause=0.05)
            for adapter in make(Dispatcher(worker)):
                worker.add_adapter(adapter)
                if isinstance(adapter, Playground):
                    playground = self.playground = adapter
            serving = asyncio.create_task(Supervisor(worker).run())
            await worker.start()
            while not playground.healthy:
                await asyncio.sleep(0.01)
            self.port = playground.site.port
            ready.set()
            await self._stop.wait()
            serving.cancel()
            await asyncio.wait([serving])
            await worker.stop()

    @asynccontextmanager
    async def _store_running(self) -> AsyncIterator[str]:
        if self._valkey:
            yield self._valkey.url
            return
        valkey = EmbeddedStore(self.folder)
        await valkey.start()
        try:
            yield valkey.url
        finally:
            await valkey.stop()
