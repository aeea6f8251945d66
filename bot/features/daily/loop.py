"""Background work of the deal of the day: reminders at the hour that each person chose, and analyses."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import structlog

from bot.days.chosen_hours import ChosenHours
from bot.features.daily import keys
from bot.features.daily.days import Days
from bot.features.daily.pages import reminder_panel
from bot.finished.analysis_pool import AnalysisPool
from bot.finished.archive import Archive
from bot.people import People
from bot.platform import Adapter, DeliveryError, platform_of, private_place

log = structlog.get_logger()


def reminder_hours(client: Any) -> ChosenHours:
    return ChosenHours(client, keys.REMINDERS, keys.reminded_people)


class Reminders:
    """Sends each reminder at most once, even after a crash. Retries while the platform is down."""

    def __init__(self, hours: ChosenHours, people: People, adapters: Mapping[str, Adapter], days: Days) -> None:
        self._hours, self._people, self._adapters, self._days = hours, people, adapters, days

    async def send_due(self, now: datetime) -> None:
        day = now.date()
        for person in await self._hours.due_names(now):
            adapter = self._adapters.get(platform_of(person))
            if await self._days.results.get(day, person) or not await self._hours.note_sent(day, person):
                continue
            if adapter is None or await self._days.has_had_cards(person, day):
                continue
            language, game = (await self._people.person(person)).language, await self._days.game_on(day)
            try:
                panel = reminder_panel(language, day, game)
                await adapter.send(private_place(person), panel, f"daily {day} {person}")
            except DeliveryError as error:
                await self._hours.note_failed(day, person, error)
                log.info("reminder_not_sent", platform=platform_of(person), why=type(error).__name__)


class DayAnalyses:
    """Analyses yesterday's games one after the other, while the robot pool is idle."""

    def __init__(self, days: Days, archive: Archive, analysis_pool: AnalysisPool) -> None:
        self._days, self._archive, self._analysis_pool = days, archive, analysis_pool
        self._failed: set[str] = set()

    async def work(self) -> None:
        """Analyse the games of yesterday that have no analysis. After a failure, a worker does not retry the game."""
        lines = await self._days.results.lines_of_play(self._days.today() - timedelta(days=1))
        analysed_games = await self._analysis_pool.stored_verdicts([line.game for line in lines.values()])
        for line in lines.values():
            if line.game in analysed_games or line.game in self._failed:
                continue
            game = await self._archive.get(line.game)
            if game is None or await self._analysis_pool.analyse_when_idle(game) is None:
                self._failed.add(line.game)
