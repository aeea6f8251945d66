"""Keeps the adapters going, each by itself: one that fails is started again while the others go on."""

import asyncio
import random

import structlog

from bot.house import House
from bot.platform import Adapter, DeliveryFault
from bot.settings import BadSetting
from bot.store import STORE_FAULTS

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before an adapter that failed is started again: doubled each time, up to the longest."""

RAN_WELL = 60.0
"""Seconds of service after which the next failure counts as a first one."""

REFUSED_PAUSE = 300.0
"""Seconds before an adapter is tried again that waits for its host. A port becomes free without the host's doing, and a
platform that has trouble may refuse a good token for a while; so few tries count nowhere.
"""

STOP_SECONDS = 2.0
"""For presses in hand; with the house's own patience and the store's end it is less than five in all."""

log = structlog.get_logger()


class NothingToRun(Exception):
    """No adapter has what it needs."""


class Supervisor:
    """Starts the house's adapters and has them serve; why one is down stands in ``house.faults``."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._refusals: dict[str, str] = {}
        self._has_run = False
        self._hopeless = asyncio.Event()

    async def run(self) -> None:
        """Run until cancelled; NothingToRun if, at the start, all of them wait for the host to mend something."""
        tasks = {asyncio.create_task(self._keep(one), name=one.platform) for one in self._house.adapters.values()}
        try:
            await self._hopeless.wait()
            raise NothingToRun(" ".join(self._refusals.values()))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=STOP_SECONDS)

    async def _keep(self, adapter: Adapter) -> None:
        """Have one adapter serve, again and again."""
        loop = asyncio.get_running_loop()
        pause = FIRST_PAUSE
        is_started = False
        while True:
            begun = loop.time()
            try:
                if not is_started:
                    await adapter.start()
                    is_started = True
                begun = loop.time()
                await adapter.serve()
                fault: Exception = DeliveryFault("it ended")
            except Exception as error:  # noqa: BLE001 - whatever one adapter meets, the others go on
                fault = error
            if loop.time() - begun > RAN_WELL:
                pause, self._has_run = FIRST_PAUSE, True
                self._refusals.pop(adapter.platform, None)
            if isinstance(fault, BadSetting):
                wait = REFUSED_PAUSE
                self._refused(adapter.platform, fault)
            else:
                wait, pause = pause * random.uniform(0.8, 1.2), min(2 * pause, LONGEST_PAUSE)
                self._failed(adapter.platform, fault, wait)
            await asyncio.sleep(wait)
            self._house.faults.pop(adapter.platform, None)

    def _refused(self, platform: str, fault: BadSetting) -> None:
        """The host has to mend something: said once, however often it is tried."""
        self._house.faults[platform] = fault.word
        said = self._refusals.get(platform)
        self._refusals[platform] = str(fault)
        if not self._has_run and set(self._refusals) == set(self._house.adapters):
            self._hopeless.set()
        elif said != str(fault):
            log.error("platform_refused", platform=platform, what_to_do=str(fault), again_in=REFUSED_PAUSE)

    def _failed(self, platform: str, fault: Exception, wait: float) -> None:
        self._refusals.pop(platform, None)
        self._house.faults[platform] = why = str(fault) if isinstance(fault, DeliveryFault) else type(fault).__name__
        self._house.outages.failed(platform, why, certain=True)
        if not isinstance(fault, (DeliveryFault, *STORE_FAULTS)):
            log.error("platform_failed", platform=platform, again_in=round(wait, 1), exc_info=fault)
