"""Keeps the adapters going, each by itself: one that fails is started again while the others go on."""

import asyncio

import structlog

from bot.backoff import Backoff
from bot.platform import Adapter, DeliveryError
from bot.settings import BadSetting
from bot.store import STORE_ERRORS
from bot.worker import Worker

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before an adapter that failed is started again: doubled each time, up to the longest."""

STEADY_SECONDS = 60.0
"""Seconds of service after which the next failure counts as a first one."""

REFUSED_PAUSE = 300.0
"""Seconds before an adapter is tried again that waits for its host. A port becomes free without the host's doing, and a
platform that has trouble may refuse a good token for a while; so few tries count nowhere.
"""

STOP_SECONDS = 2.0
"""For presses in hand; with the worker's own patience and the store's end it is less than five in all."""

log = structlog.get_logger()


class NothingToRun(Exception):
    """No adapter has what it needs."""


class Supervisor:
    """Starts the worker's adapters and has them serve; why one is down stands in ``worker.errors``."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._refusals: dict[str, str] = {}
        self._has_run = False
        self._all_refused = asyncio.Event()

    async def run(self) -> None:
        """Run until cancelled; NothingToRun if, at the start, all of them wait for the host to mend something."""
        tasks = {
            asyncio.create_task(self._run_adapter(one), name=one.platform) for one in self._worker.adapters.values()
        }
        try:
            await self._all_refused.wait()
            raise NothingToRun(" ".join(dict.fromkeys(self._refusals.values())))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=STOP_SECONDS)

    async def _run_adapter(self, adapter: Adapter) -> None:
        """Have one adapter serve, again and again."""
        loop = asyncio.get_running_loop()
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        is_started = False
        while True:
            begun = loop.time()
            try:
                if not is_started:
                    await adapter.start()
                    is_started = True
                begun = loop.time()
                await adapter.serve()
                fault: Exception = DeliveryError("it ended")
            except Exception as error:  # noqa: BLE001 - whatever one adapter meets, the others go on
                fault = error
            if loop.time() - begun > STEADY_SECONDS:
                backoff.reset()
                self._has_run = True
                self._refusals.pop(adapter.platform, None)
            if isinstance(fault, BadSetting):
                wait = REFUSED_PAUSE
                self._refused(adapter.platform, fault)
            else:
                wait = backoff.next_pause()
                self._failed(adapter.platform, fault, wait)
            await asyncio.sleep(wait)
            self._worker.errors.pop(adapter.platform, None)

    def _refused(self, platform: str, fault: BadSetting) -> None:
        """The host has to mend something: said once, however often it is tried."""
        self._worker.errors[platform] = fault.word
        # Platforms that are served together are refused together.
        is_said = str(fault) in self._refusals.values()
        self._refusals[platform] = str(fault)
        if not self._has_run and set(self._refusals) == set(self._worker.adapters):
            self._all_refused.set()
        elif not is_said:
            log.error("platform_refused", platform=platform, what_to_do=str(fault), again_in=REFUSED_PAUSE)

    def _failed(self, platform: str, fault: Exception, wait: float) -> None:
        self._refusals.pop(platform, None)
        self._worker.errors[platform] = why = str(fault) if isinstance(fault, DeliveryError) else type(fault).__name__
        self._worker.outages.record_failure(platform, why, certain=True)
        if not isinstance(fault, (DeliveryError, *STORE_ERRORS)):
            log.error("platform_failed", platform=platform, again_in=round(wait, 1), exc_info=fault)
