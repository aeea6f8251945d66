"""Delivery of reports to the host's private chat, if the host wants them."""

from collections.abc import Mapping
from functools import partial

import structlog

from bot.cluster.shards import Shards
from bot.features.find.pages import report_panel
from bot.features.find.reports import Reports
from bot.people import People
from bot.platform import Adapter, DeliveryError, platform_of, private_place
from bot.store import Store

POLL_SECONDS = 10.0  # also the delay before a retry
log = structlog.get_logger()


class ReportSender:
    """Sends each report once in its own message, and retries failures."""

    def __init__(
        self, store: Store, shards: Shards, people: People, adapters: Mapping[str, Adapter], host: str | None
    ) -> None:
        """``host`` is the person who gets the reports, or None."""
        self.reports = Reports(store.client)
        self._shards, self._people, self._adapters, self._host = shards, people, adapters, host
        self._has_failed = False

    async def run(self) -> None:
        """Send reports until cancelled. Return at once without a host."""
        if self._host:
            await self._shards.while_leader(POLL_SECONDS, partial(self.send_unsent, self._host))

    async def send_unsent(self, host: str) -> None:
        adapter = self._adapters.get(platform_of(host))
        if adapter is None:
            return
        language = (await self._people.person(host)).language
        for id in await self.reports.unsent():
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
            await self.reports.mark_sent(id)
