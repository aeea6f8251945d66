"""The feature object of courses and of hints in first games."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from bot import actions
from bot.actions import TableAction
from bot.core import Core
from bot.feature import Feature, Forgetting, Lesson, Step
from bot.features.learn.commands import Learn
from bot.features.learn.courses import COURSES
from bot.features.learn.first_games import FirstGames, course_of
from bot.features.learn.progress import Progress
from bot.features.learn.site import LearnSite
from bot.hints import UnaskedHints
from bot.panel import Button
from bot.people import Profile
from bot.platform import Press, Reply
from bot.tables.table import Table
from bot.texts import texts
from engine import GameKind


class LearnFeature(Feature):
    name = "learn"
    private_pages = ("learn",)

    def __init__(self, core: Core) -> None:
        self.progress = Progress(core.store.client)
        self.learn = Learn(self.progress, core.viewers)
        self.site = LearnSite(core.people, self.progress)
        self.first_games = FirstGames(core.store.client, core.archive)
        self._hints, self._updates = core.hints, core.updates
        self.verbs = {"nohints": self._stop_hints}
        self.commands = {"learn": self.learn.ask}
        self.pages = {"learn": self.learn.answer}

    async def _stop_hints(self, press: Press, profile: Profile, action: TableAction) -> Reply:
        """Stop unasked hints for the presser, beginning with this hand."""
        await self.first_games.stop_hints(press.person.id)
        await self._updates.touch(action.code)
        self._hints.notify(action.code)
        return Reply(texts(profile.language).gettext("No more hints, except when you press 💡 Hint."))

    def steps_at_the_end(self, forgetting: Forgetting) -> Iterator[Step]:
        yield partial(self.progress.forget, forgetting.person)
        yield partial(self.first_games.forget, forgetting.person)

    def first_contact_buttons(self, language: str) -> Sequence[Button]:
        return (Button(texts(language).gettext("Learn in 3 minutes"), actions.page("learn")),)

    async def lessons(self, person: str, kind: GameKind, language: str) -> Sequence[Lesson]:
        course = course_of(kind)
        if await self.first_games.knows(person, kind):
            return ()
        label = texts(language).gettext("Learn {game}").format(game=COURSES[course].title)
        return (Lesson(label, actions.page("learn", course, actions.SEPARATE), f"/learn/{course}"),)

    async def is_first_game(self, table: Table, seat: int) -> bool:
        return await self.first_games.is_first_game(table, seat)

    async def unasked_hints(self, table: Table, seat: int) -> UnaskedHints:
        return await self.first_games.unasked_hints(table, seat)

    async def mydata(self, person: str, now: float) -> dict[str, Any]:
        reached = await self.progress.courses_of(person)
        return {
            "courses": {course: course_state._asdict() for course, course_state in reached.items()},
            "known_games": await self.first_games.export(person),
        }
