"""`buongioco run`: runs the store, the worker and each adapter that has its settings, until a signal stops the bot."""

import asyncio
import gc
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import entry_points
from typing import Any

import structlog

from bot.card_room import CardRoom
from bot.concurrency.threads import DaemonThreads
from bot.handlers import Dispatcher
from bot.http.connections import handle_loop_error, raise_file_limit
from bot.platform import ADAPTER_GROUP, Adapter
from bot.running.monitoring import monitoring
from bot.running.supervisor import NothingToRun, Supervisor
from bot.settings import NOTHING_TO_RUN, Settings
from bot.store import STORE_ERRORS, StoreUnavailable, layout_version
from bot.store.host_access import open_host_store
from bot.store.leases import JOIN_SECONDS
from bot.store.outage import is_temporary
from bot.version import VERSION
from bot.worker import Worker

# The type of an entry point: returns adapters for this card room, or None if a setting is missing.
Factory = Callable[[CardRoom], Adapter | Sequence[Adapter] | None]

START_ATTEMPTS, RETRY_SECONDS = 30, 1.0  # while the store is unavailable

log = structlog.get_logger()


def load_adapters(card_room: CardRoom) -> list[Adapter]:
    """Return the installed adapters that have the settings they need. Log and skip broken ones."""
    adapters: list[Adapter] = []
    for entry in entry_points(group=ADAPTER_GROUP):
        try:
            factory: Factory = entry.load()
            adapters_made = factory(card_room)
        except Exception:
            log.exception("adapter_not_loaded", adapter=entry.name)
            continue
        if adapters_made is not None:
            adapters += adapters_made if isinstance(adapters_made, Sequence) else [adapters_made]
    return adapters


@asynccontextmanager
async def open_worker(settings: Settings) -> AsyncIterator[Worker]:
    """Open a worker on its store, and stop it at the end. The caller adds adapters and calls `Worker.start`."""
    async with open_host_store(settings) as store:
        worker = Worker(store, settings, alone=settings.redis_url is None)
        try:
            yield worker
        finally:
            await worker.stop()


def tune_garbage_collector() -> None:
    """Run the garbage collector less often. Thousands of tables make it slow, and there are few cycles to collect."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 1000)


async def run(settings: Settings) -> None:
    """Run until SIGTERM, SIGINT or SIGHUP, then finish current presses.

    Raises StoreError or NothingToRun, whose texts tell the host what to do.
    """
    stop, opening = asyncio.Event(), asyncio.current_task()
    loop = asyncio.get_running_loop()
    loop.set_default_executor(DaemonThreads())

    def end() -> None:
        stop.set()
        # A store can take minutes to load its file.
        if opening:
            opening.cancel()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # With `nohup`, SIGHUP is ignored: the bot outlives its terminal.
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, end)
    tune_garbage_collector()
    raise_file_limit()
    loop.set_exception_handler(handle_loop_error)
    try:
        async with open_worker(settings) as worker:
            # Join first, because the worker must not serve anyone if the others have a different time zone.
            await _retry_start(partial(worker.shards.join, JOIN_SECONDS))
            opening = None
            await _work(worker, stop)
    except asyncio.CancelledError:
        if not stop.is_set():
            raise
    log.info("bot_stopped")


async def _work(worker: Worker, stop: asyncio.Event) -> None:
    """Start the worker and its adapters, and keep them running until it is time to stop."""
    dispatcher = Dispatcher(worker)
    for adapter in load_adapters(dispatcher):
        worker.add_adapter(adapter)
    if not worker.adapters:
        raise NothingToRun(NOTHING_TO_RUN)
    async with monitoring(dispatcher):
        supervising = asyncio.create_task(Supervisor(worker).run())
        stopping = asyncio.create_task(stop.wait())
        starting = asyncio.create_task(_retry_start(worker.start))
        tasks: set[asyncio.Task[Any]] = {supervising, stopping, starting}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                starting.result()
                log.info("bot_started", version=VERSION, adapters=list(worker.adapters))
                await asyncio.wait({supervising, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        if not supervising.cancelled():
            supervising.result()


async def _retry_start(begin: Callable[[], Awaitable[None]]) -> None:
    """Call ``begin``, and again while the store is temporarily unavailable.

    Raise StoreError if the store does not recover, or refuses the worker.
    """
    for _ in range(START_ATTEMPTS):
        try:
            return await begin()
        except STORE_ERRORS as error:
            if not is_temporary(error):
                raise layout_version.refusal_error(error) from error
            log.warning("store_failed", why=type(error).__name__)
            await asyncio.sleep(RETRY_SECONDS)
    raise StoreUnavailable(
        "The store became unavailable while the bot was starting and did not recover. Check that it runs at REDIS_URL."
    )
