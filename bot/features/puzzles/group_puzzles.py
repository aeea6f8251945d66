"""A puzzle each day, the same for all groups, sent at the hour that a group has chosen.

A day's puzzle is stored when it is first needed, so that an update of the collection does not change it.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import date, timedelta
from functools import lru_cache, partial
from random import Random

import structlog

from bot.cluster.host_time import HostTime
from bot.days.chosen_hours import ChosenHours
from bot.days.draws import DailyDraws
from bot.days.once_a_day import DayMarks
from bot.delivery.announcer import Announcer
from bot.features.puzzles import keys
from bot.features.puzzles.collection import all_puzzles
from bot.features.puzzles.pages import PuzzleContext, puzzle_panel
from bot.features.puzzles.pictures import puzzle_scene
from bot.features.puzzles.puzzle_ratings import PuzzleRatings, StandingChange
from bot.panel import Panel
from bot.people import People
from bot.platform import Adapter, ChatGone, DeliveryError, can_write_anytime, chat_of, platform_of
from bot.store import Store
from bot.viewers import Viewer, Viewers, with_picture
from engine import game_kind
from engine.puzzles.puzzle import Puzzle

EASY_MISSED = 38  # at most this percentage of simple players miss a newcomer's puzzle

log = structlog.get_logger()


def choose_puzzle(day: date, drawn_ids: Mapping[date, str]) -> str:
    """Return the id of a new day's puzzle. A puzzle in ``drawn_ids`` is not drawn again before all others."""
    order = sorted(all_puzzles())
    turn, index = divmod(day.toordinal(), len(order))
    Random(f"puzzles {turn}").shuffle(order)
    times = Counter(drawn_ids.values())
    return min(order[index:] + order[:index], key=lambda id_: times[id_])


@lru_cache(maxsize=4)
def easy_puzzle(day: date) -> Puzzle:
    """Return the puzzle for newcomers on a day: an easy one of a Tressette game for two."""
    puzzles = all_puzzles()
    easy_ids = sorted(
        id_
        for id_ in puzzles
        if game_kind(puzzles.game_of(id_)).layout == "stock" and puzzles.missed_by(id_) <= EASY_MISSED
    )
    return puzzles[easy_ids[day.toordinal() % len(easy_ids)]]


class GroupPuzzles:
    """Sends each group the puzzle of the day at most once, even after a crash. Retries during an outage."""

    def __init__(
        self, store: Store, host_time: HostTime, people: People, adapters: Mapping[str, Adapter], announcer: Announcer
    ) -> None:
        self._host_time, self._adapters, self._announcer = host_time, adapters, announcer
        self._viewers = Viewers(people, adapters)
        self.ratings = PuzzleRatings(store.client)
        self.hours = ChosenHours(store.client, keys.HOURS, keys.sent)
        self._drawn, self._answered = DailyDraws(store.client, keys.DRAWN), DayMarks(store.client, "puzzle")

    def today(self) -> date:
        return self._host_time.today()

    async def puzzle(self, day: date) -> Puzzle:
        """Return a day's puzzle. Draw one if none is stored, or if the stored one is no longer in the collection."""
        id_ = await self._drawn.draw(day, partial(choose_puzzle, day))
        if id_ not in all_puzzles():
            id_ = await self._drawn.replace(day, partial(choose_puzzle, day))
        return all_puzzles()[id_]

    async def panel(self, place: str) -> Panel:
        day, viewer = self.today(), await self._viewers.viewer_at(place)
        puzzle = await self.puzzle(day)
        context = PuzzleContext(
            day, await self.ratings.count_answers(chat_of(place), day), await self.hours.hour_of(place)
        )
        panel = puzzle_panel(viewer.language, viewer.suits, puzzle, context, has_hours=can_write_anytime(place))
        return with_position_picture(panel, viewer, puzzle)

    async def take_answer(self, person: str, puzzle: Puzzle, card: str, chat: str) -> StandingChange | None:
        """Rate an answer given in a group. The answer counts for the group if the puzzle is today's.

        Return None if the person had answered it before, even if they have been forgotten since.
        """
        day = self.today()
        if puzzle.id != (await self.puzzle(day)).id:
            return await self.ratings.take_answer(person, puzzle, card)
        if await self._answered.has(day, person):
            return None
        return await self.ratings.take_answer(person, puzzle, card, (chat, day))

    async def choose_hour(self, place: str, hour: int | None, *, is_shown: bool) -> None:
        """Choose a place's hour, or None for never.

        With ``is_shown``, the place already shows today's puzzle, so it is not sent there again.
        """
        await self.hours.choose(place, hour)
        if is_shown:
            await self.hours.note_sent(self.today(), place)

    async def mark_before_forgetting(self, person: str, today: date) -> None:
        """Mark a person who answered the puzzle of the day, so that they cannot answer it again after /forget.

        ``today`` is the date in UTC. The host's date can be a day earlier or later.
        """
        for day in (today - timedelta(days=1), today, today + timedelta(days=1)):
            puzzle = await self._drawn.get(day)
            if puzzle and await self.ratings.answer_of(person, puzzle):
                await self._answered.add(day, person)

    async def move_chat(self, old_id: str, new_id: str) -> None:
        """Move a chat's hour and today's answers to its new id, unless the new id has its own. Safe to call twice."""
        await self.hours.move(old_id, new_id, self.today())
        await self.ratings.move_chat(chat_of(old_id), chat_of(new_id), self.today())

    async def send_due(self) -> None:
        now = self._host_time.now()
        for place in await self.hours.due_names(now):
            adapter = self._adapters.get(platform_of(place))
            if not await self.hours.note_sent(now.date(), place) or adapter is None:
                continue
            panel, key = await self.panel(place), f"puzzle {self.today()} {place}"
            try:
                await self._announcer.send(adapter, place, panel, key)
            except ChatGone:
                await self.hours.choose(place, None)
            except DeliveryError as error:
                await self.hours.note_failed(self.today(), place, error)
                log.info("puzzle_not_sent", platform=platform_of(place), why=type(error).__name__)


def with_position_picture(panel: Panel, viewer: Viewer, puzzle: Puzzle) -> Panel:
    """Add the position's picture to a panel, if the viewer wants pictures."""
    if not viewer.deck:
        return panel
    scene = puzzle_scene(viewer.language, viewer.suits, viewer.deck, puzzle)
    return with_picture(panel, scene, viewer.language)
