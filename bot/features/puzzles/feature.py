"""The feature object of puzzles."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from bot.core import Core
from bot.feature import Feature, Forgetting, Step
from bot.features.puzzles.commands import Puzzles
from bot.features.puzzles.group_puzzles import GroupPuzzles
from bot.features.puzzles.next_puzzle import NextPuzzle
from bot.features.puzzles.site import PuzzleSite

POLL_SECONDS = 60.0  # interval at which the leader checks the groups' hours


class PuzzlesFeature(Feature):
    name = "puzzles"

    def __init__(self, core: Core) -> None:
        self.groups = GroupPuzzles(core.store, core.host_time, core.people, core.adapters, core.delivery.announcer)
        next_puzzle = NextPuzzle(self.groups.ratings, core.archive)
        self.puzzles = Puzzles(self.groups, next_puzzle, core.viewers)
        self.site = PuzzleSite(core.people, self.groups, next_puzzle)
        self.commands = {"puzzle": self.puzzles.ask}
        self.pages = {"puzzle": self.puzzles.answer}
        self.loops = {"puzzles": partial(core.shards.while_leader, POLL_SECONDS, self.groups.send_due)}

    async def move_chat(self, old_id: str, new_id: str) -> None:
        await self.groups.move_chat(old_id, new_id)

    def steps_before_leaving(self, forgetting: Forgetting) -> Iterator[Step]:
        yield partial(self.groups.mark_before_forgetting, forgetting.person, forgetting.today)

    def steps_at_the_end(self, forgetting: Forgetting) -> Iterator[Step]:
        yield partial(self.groups.ratings.forget, forgetting.person)

    async def mydata(self, person: str, now: float) -> dict[str, Any]:
        return {"puzzles": await self.groups.ratings.export(person)}
