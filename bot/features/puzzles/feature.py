"""The puzzles feature."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from bot.core import Core
from bot.feature import Feature, Forgetting, Step
from bot.features.puzzles.answered import mark_before_forgetting
from bot.features.puzzles.commands import Puzzles
from bot.features.puzzles.groups import GroupPuzzles
from bot.features.puzzles.site import PuzzleSite
from bot.people import Profile
from bot.platform import Command, Press, Reply


class PuzzlesFeature(Feature):
    """Endings to solve."""

    name = "puzzles"

    def __init__(self, core: Core) -> None:
        self._client = core.store.client
        self.groups = GroupPuzzles(
            core.store, core.shards, core.host_time, core.people, core.adapters, core.delivery.announcer
        )
        self.puzzles = Puzzles(self.groups, core.viewers)
        self.site = PuzzleSite(core.people, self.puzzles)
        self.commands = {"puzzle": self._command}
        self.pages = {"puzzle": self._page}
        self.loops = {"puzzles": self.groups.run}

    async def _command(self, command: Command, profile: Profile) -> Reply:
        return await self.puzzles.ask(command.place, profile)

    async def _page(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        return await self.puzzles.answer(press.place, profile, words)

    async def move_chat(self, old: str, new: str) -> None:
        await self.groups.move_chat(old, new)

    def steps_before_leaving(self, forgetting: Forgetting) -> Iterator[Step]:
        yield partial(mark_before_forgetting, self._client, forgetting.person, forgetting.today)

    def steps_at_the_end(self, forgetting: Forgetting) -> Iterator[Step]:
        yield partial(self.groups.ladder.forget, forgetting.person)

    async def mydata(self, person: str, now: float) -> dict[str, Any]:
        return {"puzzles": await self.groups.ladder.export(person)}
