"""The feature object of the deal of the day, and the policy of its tables."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

from bot import actions
from bot.core import Core
from bot.feature import Feature, Forgetting, Step
from bot.features.daily import keys
from bot.features.daily.commands import DailyCommands
from bot.features.daily.days import Days
from bot.features.daily.loop import DayAnalyses, Reminders, reminder_hours
from bot.features.daily.pages import TOO_LATE, day_result_panel
from bot.features.daily.past_days import PastDays
from bot.features.daily.site import DaySite
from bot.finished.archive import Archive
from bot.metrics import GAMES
from bot.panel import Button, Panel
from bot.solo_deals.results import SoloResult, result_of, seed_for_move
from bot.store import Store
from bot.table_policy import Outcome, TablePolicy
from bot.tables.snapshot import OwnTexts
from bot.tables.table import Table
from bot.texts import gettext_noop as _
from bot.texts import texts

CLOSE_SECONDS = 30.0  # interval at which the leader checks whether a day is over
ANALYSIS_SECONDS = 30.0  # interval at which the leader checks for missing analyses
REMINDER_SECONDS = 60.0  # interval at which reminders are checked


class DayDetails(NamedTuple):
    par: SoloResult | None = None
    is_late: bool = False  # whether the day ended before the deal did


class DailyPolicy(TablePolicy):
    """Makes day tables unrated, their robots deterministic, and their records secret until midnight."""

    own_texts = OwnTexts(
        confirm_resign=_("Give up today’s deal? You can play it only once."),
        target=_("deal of the day"),
        is_won_by_deal=True,
    )

    def __init__(self, store: Store, archive: Archive, days: Days) -> None:
        self._store, self._archive, self._days = store, archive, days

    def results_link(self, table: Table, language: str) -> tuple[str, str]:
        return "/daily", texts(language).gettext("🏆 Today’s results")

    async def finish(self, table: Table) -> Outcome:
        assert table.day
        game = await self._archive.build_game(table, time.time())
        counts = await self._days.finish(game, table.day)
        await self._store.confirm(keys.results(table.day))
        GAMES.labels(table.game_id, "day").inc()
        details = DayDetails(await self._days.results.par(table.day), is_late=not counts)
        return Outcome(game.id, (), game.ended, details=details)

    def result_panel(self, table: Table, outcome: Outcome, language: str) -> Panel:
        assert table.day
        assert table.game
        result = result_of(table.game.record(live=False))
        details: DayDetails = outcome.details or DayDetails()
        return day_result_panel(language, table.day, table.game_id, result, details.par, is_late=details.is_late)

    async def outcome_for(self, table: Table, person: str) -> Outcome | None:
        if table.phase != "over" or table.day is None or table.day >= self._days.today():
            return None
        is_late = await self._days.results.get(table.day, person) is None
        return Outcome("", (), details=DayDetails(is_late=is_late))

    def outcome_note(self, outcome: Outcome, language: str) -> str:
        return texts(language).gettext(TOO_LATE) if outcome.details and outcome.details.is_late else ""

    def robot_seed(self, table: Table) -> int:
        assert table.game
        return seed_for_move(table.secret, len(table.game.moves))


class DailyFeature(Feature):
    name = "daily"

    def __init__(self, core: Core) -> None:
        self.days = Days(core.room, core.challenges, core.archive, core.robot_pool, core.host_time)
        self._hours = reminder_hours(core.store.client)
        self.reminders = Reminders(self._hours, core.people, core.adapters, self.days)
        past_days = PastDays(
            self.days, core.people, core.archive, core.analysis_pool, analyses_games=core.analyses_games
        )
        self.daily = DailyCommands(
            self.days, past_days, self._hours, core.viewers, core.private_hands, core.updates, core.lessons
        )
        self.site = DaySite(core.people, self.days, self.daily, past_days, self._hours)
        self.policy = DailyPolicy(core.store, core.archive, self.days)
        self.commands = {"daily": self.daily.show}
        self.pages = {"daily": self.daily.answer}
        self.start_words = {"daily": self.daily.play}
        self.loops = {
            "days": partial(core.shards.while_leader, CLOSE_SECONDS, self.days.close_past),
            "reminders": partial(
                core.shards.while_leader, REMINDER_SECONDS, lambda: self.reminders.send_due(core.host_time.now())
            ),
        }
        if core.analyses_games:
            analyses = DayAnalyses(self.days, core.archive, core.analysis_pool)
            self.loops["day analyses"] = partial(core.shards.while_leader, ANALYSIS_SECONDS, analyses.work)

    def stop(self) -> None:
        self.days.stop()

    def first_contact_buttons(self, language: str) -> Sequence[Button]:
        return (Button(texts(language).gettext("Today’s deal"), actions.page("daily", "today")),)

    async def move_chat(self, old_id: str, new_id: str) -> None:
        await self.days.move_chat(old_id, new_id)

    def steps_before_leaving(self, forgetting: Forgetting) -> Iterator[Step]:
        # Otherwise a forgotten person could get today's cards again.
        yield partial(self.days.mark_before_forgetting, forgetting.person)

    def steps_at_the_end(self, forgetting: Forgetting) -> Iterator[Step]:
        yield partial(self.days.results.forget, forgetting.person, forgetting.pseudonym)
        yield partial(self._hours.forget, forgetting.person, forgetting.today)

    async def mydata(self, person: str, now: float) -> dict[str, Any]:
        results = self.days.results
        results_by_day = [(day, await results.get(day, person)) for day in await results.days_of(person)]
        return {
            "days": [{"day": str(day), **asdict(result)} for day, result in results_by_day if result],
            "days_asked_for": [{"day": str(day), "chat": chat} for day, chat in await results.requests_of(person)],
            "reminded_at": await self._hours.hour_of(person),
        }
