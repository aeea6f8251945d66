"""Messages with reports, sent to the host's private chat if the host wants them."""

from collections.abc import Mapping

import structlog

from bot import actions
from bot.features.find.reports import Report, Reports
from bot.panel import Button, Panel, Span, Writer
from bot.people import People
from bot.platform import Adapter, DeliveryError, platform_of, private_place
from bot.tables.snapshot import isolate_name
from bot.texts import texts
from engine import GAMES

log = structlog.get_logger()


class ReportSender:
    """Sends each report in its own message, and retries failures."""

    def __init__(self, reports: Reports, people: People, adapters: Mapping[str, Adapter]) -> None:
        self.reports, self._people, self._adapters = reports, people, adapters
        self._has_failed = False

    async def send_unsent(self, host: str) -> None:
        """Send the unsent reports until one fails."""
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


def report_panel(language: str, id: str, report: Report) -> Panel:
    """Return a report with the ids of its people. Only the host can read it."""
    _ = texts(language).gettext
    page = Writer(_("A report"))
    page.line(_("{game} · {code}"), game=Span(_(GAMES[report.game].name), "bold"), code=Span(report.code, "code"))
    page.line(_("About {name}: {person}"), name=isolate_name(report.about_name), person=Span(report.about, "code"))
    page.line(_("By {name}: {person}"), name=isolate_name(report.by_name), person=Span(report.by, "code"))
    page.line(
        _("Read the game here once it’s over, or with: {command}"), command=Span(f"buongioco reports show {id}", "code")
    )
    return page.panel((Button(_("Replay"), actions.page("report", "show", id)),))
