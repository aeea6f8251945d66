"""The deal of the day, for web pages."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from typing import NamedTuple

from bot.days.chosen_hours import ChosenHours
from bot.feature import Lesson
from bot.features.daily.commands import DailyCommands
from bot.features.daily.comparison import DayTable, day_table
from bot.features.daily.days import Days
from bot.features.daily.pages import time_left_text
from bot.features.daily.past_days import PastDays
from bot.http.addresses import Visitor
from bot.panel import Panel
from bot.people import People, Profile
from bot.pictures.links import day_sheet
from bot.pictures.sheet import Sheet
from bot.platform import Person
from bot.site.attempts import try_to_open
from bot.store.outage import STORE_ERRORS
from bot.texts import day_name, texts
from engine import GAMES


class DayPage(NamedTuple):
    day: date
    panel: Panel
    can_play: bool
    game: str  # id
    seal: str = ""  # of today's deal
    shareable: str = ""  # the reader's result of today, to send to friends
    replay: str = ""  # id of the reader's game of a past day
    lines: DayTable | None = None  # of a past day
    lessons: Sequence[Lesson] = ()  # about a game that the reader does not know


class DaySite:
    """The deal of the day for web pages. Methods can raise store errors."""

    def __init__(
        self, people: People, days: Days, daily: DailyCommands, past_days: PastDays, hours: ChosenHours
    ) -> None:
        self._people, self._days, self._daily, self._past_days = people, days, daily, past_days
        self.hours = hours  # of reminders

    async def open_table(self, person: Person, visitor: Visitor | None = None) -> tuple[str, str]:
        """Open today's deal. Return the table's code, or "" and the reason. ``visitor`` is a guest's origin."""
        return await try_to_open(
            self._people, person, lambda _profile: self._days.open_table(person.id, person.name, visitor=visitor)
        )

    async def line(self, person: str, language: str) -> str:
        """Return the game of today's deal, the time left or that the person has played, and the person's streak.

        ``person`` is empty for a stranger. A stranger gets an empty line while the store is away, so that the page
        still opens.
        """
        _, ngettext = texts(language)
        day = self._days.today()
        state = time_left_text(language, self._days.time_left())
        if not person:
            with suppress(*STORE_ERRORS):
                return f"{_(GAMES[await self._days.game_on(day)].name)} · {state}"
            return ""
        if not await self._days.can_play(person):
            state = _("✓ played")
        streak = (await self._days.results.streak(person, day)).now
        streaks = [ngettext("🔥 {count} day", "🔥 {count} days", streak).format(count=streak)] if streak else []
        return " · ".join([_(GAMES[await self._days.game_on(day)].name), state, *streaks])

    async def sheet(self, day: date, language: str) -> Sheet | None:
        """Return the picture of today's or yesterday's deal, without its cards; None for any other day."""
        is_shown = timedelta(0) <= self._days.today() - day <= timedelta(days=1)
        return day_sheet(await self._days.game_on(day), language, day) if is_shown else None

    async def shareable_text(self, person: str) -> str:
        """Return a person's result of today, to send to friends; empty before they have played."""
        return await self._daily.shareable_text(await self._people.person(person))

    async def page(self, person: str, language: str, *, yesterday: bool = False) -> DayPage:
        """Return today's deal or yesterday's results. ``language`` is that of a stranger, whose ``person`` is empty."""
        profile = await self._people.person(person) if person else Profile("", language=language)
        day = self._days.today() - timedelta(days=yesterday)
        game = await self._days.game_on(day)
        if yesterday:
            own_line = await self._days.results.line_of_play(day, person)
            replay = own_line.game if own_line else ""
            lines = day_table(profile.language, profile.suits, await self._past_days.compare_all(profile))
            panel = _without_title(await self._past_days.yesterday_panel(profile), day, profile.language)
            return DayPage(day, panel, can_play=False, game=game, replay=replay, lines=lines)
        panel = _without_title(await self._daily.own_panel(profile), day, profile.language)
        can_play, seal = await self._days.can_play(person), await self._daily.seal(day)
        lessons = await self._daily.lessons(profile) if can_play else ()
        shareable = await self._daily.shareable_text(profile)
        return DayPage(day, panel, can_play, game, seal, shareable, lessons=lessons)


def _without_title(panel: Panel, day: date, language: str) -> Panel:
    """Shorten the first line of a day's panel to the day and the game, because the page has its own title."""
    title, *other_spans = panel.text
    return replace(panel, text=(title._replace(text=f"{day_name(day, language)} · "), *other_spans))
