"""The supervisor of the adapters: it restarts a failed adapter while the others keep running."""

import asyncio

import structlog

from bot.concurrency.backoff import Backoff
from bot.platform import Adapter, DeliveryError
from bot.settings import BadSetting
from bot.store import STORE_ERRORS
from bot.worker import Worker

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 60.0  # pauses before a failed adapter is restarted, doubled each time
STEADY_SECONDS = 60.0  # after serving for this time, the pauses start again with the first
# Pause before retrying an adapter with refused settings. A port can become free without the host, and a platform in
# trouble can refuse a good token. Such rare retries do not reach any rate limit.
REFUSED_SECONDS = 300.0
STOP_SECONDS = 2.0  # time limit for current presses; the worker and the store then stop within three more seconds

log = structlog.get_logger()


class NothingToRun(Exception):
    """No adapter can run."""


class Supervisor:
    """Starts the worker's adapters and keeps them serving; ``worker.errors`` has the reasons for outages."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._refusals: dict[str, str] = {}
        self._has_run = False
        self._all_refused = asyncio.Event()

    async def run(self) -> None:
        """Run until cancelled. Raise NothingToRun if at the start all adapters have refused settings."""
        tasks = {
            asyncio.create_task(self._run_adapter(adapter), name=platform)
            for platform, adapter in self._worker.adapters.items()
        }
        try:
            await self._all_refused.wait()
            raise NothingToRun(" ".join(dict.fromkeys(self._refusals.values())))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=STOP_SECONDS)

    async def _run_adapter(self, adapter: Adapter) -> None:
        loop = asyncio.get_running_loop()
        backoff = Backoff(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)
        is_started = False
        while True:
            started = loop.time()
            try:
                if not is_started:
                    await adapter.start()
                    is_started = True
                started = loop.time()
                await adapter.serve()
                failure: Exception = DeliveryError("it ended")
            except Exception as error:  # noqa: BLE001 - the other adapters go on
                failure = error
            if loop.time() - started > STEADY_SECONDS:
                backoff.reset()
                self._has_run = True
                self._refusals.pop(adapter.platform, None)
            if isinstance(failure, BadSetting):
                wait = REFUSED_SECONDS
                self._handle_refusal(adapter.platform, failure)
            else:
                wait = backoff.next_pause()
                self._handle_failure(adapter.platform, failure, wait)
            await asyncio.sleep(wait)
            self._worker.errors.pop(adapter.platform, None)

    def _handle_refusal(self, platform: str, failure: BadSetting) -> None:
        """Note that the host must fix a setting, and log it once."""
        self._worker.errors[platform] = failure.reason
        # Platforms that share a server are refused together.
        is_logged = str(failure) in self._refusals.values()
        self._refusals[platform] = str(failure)
        if not self._has_run and set(self._refusals) == set(self._worker.adapters):
            self._all_refused.set()
        elif not is_logged:
            log.error("platform_refused", platform=platform, what_to_do=str(failure), again_in=REFUSED_SECONDS)

    def _handle_failure(self, platform: str, failure: Exception, wait: float) -> None:
        self._refusals.pop(platform, None)
        reason = str(failure) if isinstance(failure, DeliveryError) else type(failure).__name__
        self._worker.errors[platform] = reason
        self._worker.outages.record_failure(platform, reason, certain=True)
        if not isinstance(failure, (DeliveryError, *STORE_ERRORS)):
            log.error("platform_failed", platform=platform, again_in=round(wait, 1), exc_info=failure)
