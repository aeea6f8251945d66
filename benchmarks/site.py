"""A whole bot with its store and pages, for benchmarks."""

import asyncio
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.limits import START_LIMIT, within
from bot.handlers import Dispatcher
from bot.running.run import load_adapters, open_worker
from bot.running.supervisor import Supervisor
from bot.settings import Settings
from bot.worker import Worker


@asynccontextmanager
async def bot_with_pages() -> AsyncIterator[tuple[Worker, int]]:
    """Run the bot in this process. Yield its worker and the port of its pages."""
    with tempfile.TemporaryDirectory() as folder:
        port = _free_port()
        settings = Settings(
            _env_file=None,
            data=Path(folder),
            redis_url=None,
            telegram_token=None,
            discord_token=None,
            playground_host="127.0.0.1",
            playground_port=port,
            public_url=None,
            rate_limits=False,
        )
        async with open_worker(settings) as worker:
            for adapter in load_adapters(Dispatcher(worker)):
                worker.add_adapter(adapter)
            await worker.start()
            serving = asyncio.create_task(Supervisor(worker).run())
            try:
                async with within(START_LIMIT, "the pages to be served"):
                    while not all(adapter.healthy for adapter in worker.adapters.values()):
                        await asyncio.sleep(0.01)
                yield worker, port
            finally:
                serving.cancel()
                await asyncio.wait([serving])


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
