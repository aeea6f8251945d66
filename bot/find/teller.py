"""Tells the host of reports, in their private chat, if they want to be told."""

import asyncio
from collections.abc import Mapping

import structlog

from bot.cluster.shards import LEADER_SHARD, Shards
from bot.find.reports import Reports
from bot.panels.strangers import report_panel
from bot.people import People
from bot.platform import Adapter, DeliveryError, platform_of, private_place
from bot.store import Store

POLL_SECONDS = 10.0
"""How often it is looked for reports that are to be told: also how soon it is tried again."""

log = structlog.get_logger()


class Teller:
    """Sends each report once, as a message of its own; what could not be sent is sent later."""

    def __init__(
        self, store: Store, shards: Shards, people: People, adapters: Mapping[str, Adapter], host: str | None
    ) -> None:
        """``host`` is the person who is told; None where nobody is."""
        self.reports = Reports(store.client)
        self._store, self._shards, self._people, self._adapters, self._host = store, shards, people, adapters, host
        self._has_failed = False

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            if self._host and LEADER_SHARD in self._shards.mine:
                with self._store.outage.noted():
                    await self.tell(self._host)
            await asyncio.sleep(POLL_SECONDS)

    async def tell(self, host: str) -> None:
        """Send what the host was not told of yet."""
        adapter = self._adapters.get(platform_of(host))
        if adapter is None:
            return
        language = (await self._people.person(host)).language
        for id in await self.reports.untold():  # noqa: A001
            report = await self.reports.get(id)
            try:
                if report:
                    await adapter.send(private_place(host), report_panel(language, id, report), f"report {id}")
            except DeliveryError as error:
                if not self._has_failed:
                    log.warning("report_not_sent", platform=platform_of(host), why=type(error).__name__)
                self._has_failed = True
                return
            self._has_failed = False
            await self.reports.told(id)
