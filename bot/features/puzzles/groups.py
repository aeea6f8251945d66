"""A puzzle a day, the same for all groups; it goes to those that want it, at an hour that they chose.

Each day's puzzle is stored when it is first needed, so that new puzzles in the package do not change it.

| key | type | what |
|---|---|---|
| ``{puzzles}:drawn`` | hash | the puzzle of each day, by its date |
| ``{puzzles}:hours`` | hash | the hour of each chat that wants one, 0 to 23, by place |
| ``{puzzles}:sent:<day>`` | set | places to which a day's has been sent; kept for two days |
"""

from collections import Counter
from collections.abc import Mapping
from datetime import date
from functools import lru_cache, partial
from random import Random

import structlog

from bot.chosen_hours import ChosenHours
from bot.cluster.clock import HostClock
from bot.cluster.shards import Shards
from bot.daily_draws import DailyDraws
from bot.delivery.announcer import Announcer
from bot.features.puzzles.answered import answer_marks
from bot.features.puzzles.collection import all_puzzles
from bot.features.puzzles.ladder import Ladder, StandingChange
from bot.features.puzzles.pages import PuzzleContext, puzzle_panel
from bot.features.puzzles.pictures import puzzle_scene
from bot.panel import Panel
from bot.people import People
from bot.platform import Adapter, ChatGone, DeliveryError, can_write_anytime, chat_of, platform_of
from bot.store import Store, keys
from bot.viewers import Viewer, Viewers, with_picture
from engine import game_kind
from engine.puzzles.puzzle import Puzzle

EASY_MISSED = 38
"""In hundredths: of simple players, at most so many miss what newcomers are asked."""

POLL_SECONDS = 60.0

log = structlog.get_logger()


def choose_puzzle(day: date, drawn: Mapping[date, str]) -> str:
    """Choose the puzzle of a new day, by its id. ``drawn`` are the puzzles of other days.

    No puzzle comes twice before all have come, also when the package has grown in between.
    """
    order = sorted(all_puzzles())
    turn, place = divmod(day.toordinal(), len(order))
    Random(f"puzzles {turn}").shuffle(order)
    times = Counter(drawn.values())
    return min(order[place:] + order[:place], key=lambda id_: times[id_])


@lru_cache(maxsize=4)
def easy_puzzle(day: date) -> Puzzle:
    """What a newcomer is asked on a day: an easy one, of Tressette for two."""
    puzzles = all_puzzles()
    easy = sorted(
        id_
        for id_ in puzzles
        if game_kind(puzzles.game_of(id_)).layout == "stock" and puzzles.missed_by(id_) <= EASY_MISSED
    )
    return puzzles[easy[day.toordinal() % len(easy)]]


class GroupPuzzles:
    """The puzzle of a day in groups. Each has it once at most: one that is lost by a crash is not sent twice. While
    the platform is away it is tried again.
    """

    def __init__(
        self,
        store: Store,
        shards: Shards,
        clock: HostClock,
        people: People,
        adapters: Mapping[str, Adapter],
        announcer: Announcer,
    ) -> None:
        self._shards, self._clock, self._adapters = shards, clock, adapters
        self._announcer = announcer
        self._viewers = Viewers(people, adapters)
        self.ladder = Ladder(store.client)
        self.hours = ChosenHours(store.client, keys.PUZZLE_HOURS, keys.puzzle_sent)
        self._drawn, self._answered = DailyDraws(store.client, keys.PUZZLES_DRAWN), answer_marks(store.client)

    def today(self) -> date:
        """The day, where the host is."""
        return self._clock.today()

    async def puzzle(self, day: date) -> Puzzle:
        """Return a day's puzzle, and store it if it is not stored yet. One that has left the package is replaced."""
        id_ = await self._drawn.draw(day, partial(choose_puzzle, day))
        if id_ not in all_puzzles():
            id_ = await self._drawn.replace(day, partial(choose_puzzle, day))
        return all_puzzles()[id_]

    async def panel(self, place: str) -> Panel:
        """Today's puzzle, as it stands in a group."""
        day, viewer = self.today(), await self._viewers.viewer_at(place)
        puzzle = await self.puzzle(day)
        asked = PuzzleContext(
            day, await self.ladder.count_answers(chat_of(place), day), await self.hours.hour_of(place)
        )
        panel = puzzle_panel(viewer.language, viewer.suits, puzzle, asked, has_hours=can_write_anytime(place))
        return with_position_picture(panel, viewer, puzzle)

    async def take_answer(self, person: str, puzzle: Puzzle, card: str, chat: str) -> StandingChange | None:
        """Take an answer that somebody gave in a group, and count it there if the puzzle is today's.

        None if they have answered it before, as `Ladder.take`, or if they answered today's and were forgotten since.
        """
        day = self.today()
        if puzzle.id != (await self.puzzle(day)).id:
            return await self.ladder.take_answer(person, puzzle, card)
        if await self._answered.has(day, person):
            return None
        return await self.ladder.take_answer(person, puzzle, card, (chat, day))

    async def choose_hour(self, place: str, hour: int | None, *, is_there: bool) -> None:
        """Have a puzzle come to a place at an hour, or no more; where today's ``is_there`` it does not come again."""
        await self.hours.choose(place, hour)
        if is_there:
            await self.hours.note_sent(self.today(), place)

    async def move_chat(self, old: str, new: str) -> None:
        """A chat has another id: its hour, today's puzzle and the answers to that are the new one's, where that has
        none. Twice is once.
        """
        await self.hours.move(old, new, self.today())
        await self.ladder.move_chat(chat_of(old), chat_of(new), self.today())

    async def run(self) -> None:
        """Send them, until cancelled."""
        await self._shards.while_leader(POLL_SECONDS, self.send_due)

    async def send_due(self) -> None:
        """Send today's puzzle to the groups whose hour has come."""
        now = self._clock.now()
        for place in await self.hours.due(now):
            if await self.hours.note_sent(now.date(), place):
                await self._send_puzzle(place)

    async def _send_puzzle(self, place: str) -> None:
        adapter = self._adapters.get(platform_of(place))
        if adapter is None:
            return
        panel, key = await self.panel(place), f"puzzle {self.today()} {place}"
        try:
            await self._announcer.send(adapter, place, panel, key)
        except ChatGone:
            await self.hours.choose(place, None)
        except DeliveryError as error:
            await self.hours.note_failed(self.today(), place, error)
            log.info("puzzle_not_sent", platform=platform_of(place), why=type(error).__name__)


def with_position_picture(panel: Panel, viewer: Viewer, puzzle: Puzzle) -> Panel:
    """The panel with the position's picture, if the viewer wants pictures."""
    if not viewer.deck:
        return panel
    scene = puzzle_scene(viewer.language, viewer.suits, viewer.deck, puzzle)
    return with_picture(panel, scene, viewer.language)
