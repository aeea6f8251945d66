"""The deal of the day, for web pages."""

from datetime import timedelta
from typing import NamedTuple

from bot.features.daily.commands import DailyCommands
from bot.features.daily.comparison import DayTable, day_table
from bot.features.daily.days import Days
from bot.features.daily.past_days import PastDays
from bot.http.addresses import Visitor
from bot.panel import Panel
from bot.people import People, Profile
from bot.platform import Person
from bot.store.outage import begin_request
from bot.texts import error_text
from engine.errors import EngineError


class DayPage(NamedTuple):
    panel: Panel
    can_play: bool
    shareable: str = ""  # the reader's result of today, to send to friends
    replay: str = ""  # id of the reader's game of a past day
    lines: DayTable | None = None  # of a past day


class DaySite:
    """The deal of the day for web pages. Methods raise the store's errors."""

    def __init__(self, people: People, days: Days, daily: DailyCommands, played: PastDays) -> None:
        self._people, self._days, self._daily, self._played = people, days, daily, played

    async def open_table(self, person: Person, visitor: Visitor | None = None) -> tuple[str, str]:
        """Open today's deal. Return the table's code, or "" and the reason. ``visitor`` is a guest's origin."""
        begin_request()
        profile = await self._people.meet(person)
        try:
            return (await self._days.open_table(person.id, person.name, visitor=visitor)).code, ""
        except EngineError as fault:
            return "", error_text(fault, profile.language)

    async def page(self, person: str, language: str, *, yesterday: bool = False) -> DayPage:
        """Return today's deal or yesterday's results. An empty ``person`` is unknown, and gets ``language``."""
        profile = await self._people.person(person) if person else Profile("", language=language)
        if yesterday:
            own = await self._days.results.line_of_play(self._days.today() - timedelta(days=1), person)
            lines = day_table(profile.language, profile.suits, await self._played.compare_all(profile))
            panel = await self._played.yesterday_panel(profile)
            return DayPage(panel, can_play=False, replay=own.game if own else "", lines=lines)
        shareable = await self._daily.shareable_text(profile)
        return DayPage(await self._daily.own_panel(profile), await self._days.can_play(person), shareable)
