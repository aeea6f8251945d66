"""Kills of the bot while people play the deal of the day: python -m tests.kills.daily --kills 30 --seed 1

The people's tables must keep all invariants of `tests.kills.invariants`. The day has invariants of its own, each a
function of a `DayAtRest`. At the end the day is over, and the bot must archive the day's games.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import aiohttp

from bot.features.daily.days import load_chain
from bot.features.daily.game_of_day import DayGames
from bot.features.daily.secret_chain import Chain, days_to_end
from bot.features.daily.store import DayResults
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.solo_deals.results import SoloResult, result_of
from bot.store import EmbeddedStore, Store, open_store
from bot.tables.table import Table
from engine import verify
from tests.kills.bot_process import Bot
from tests.kills.harness import Harness, main
from tests.kills.invariants import Disagreement
from tests.kills.pages import Page
from tests.kills.solo_deals import Moves, RobotAnswers, SoloPlayers, check_tables, find_player

PLAY = "1pdaily play"
MIN_PLAYING = 4  # if fewer people are still playing, a new person comes
ASK_AGAIN_CHANCE = 0.03  # chance that a person presses *Play* although they could make a move
NEXT_DAY_SECONDS = 90.0  # the longest wait, after the day, for one more game to reach the archive


class Zones(NamedTuple):
    """The host's time zone during play, and another one in which that day is over."""

    playing: str
    after: str


def choose_zones(now: datetime) -> Zones:
    """Return two time zones on different days. The first has as many hours left of its day as possible."""
    hours = range(-12, 15)
    local = {hour: now + timedelta(hours=hour) for hour in hours}
    early = [hour for hour in hours if local[hour].date() < local[14].date()]
    playing = min(early, key=lambda hour: local[hour].time())
    # The names of these zones count westwards.
    return Zones(f"Etc/GMT{-playing:+d}", "Etc/GMT-14")


@dataclass
class DayAtRest:
    """The state of a day once nothing is in progress.

    ``tables`` are the day's tables, ``pending`` the games that wait for its end, ``archived`` the games in the archive.
    ``messages`` is everything people see, as JSON. ``results_shown`` counts the results that each person sees.
    """

    day: date
    chain: Chain
    tables: Sequence[Table]
    pending: Sequence[FinishedGame]
    archived: Sequence[FinishedGame]
    results: Mapping[str, SoloResult]
    messages: str
    results_shown: Mapping[str, int]

    @property
    def moves_of_people(self) -> list[tuple[str, Moves]]:
        """Each person with the moves of their game, which include the robots' answers."""
        finished: list[tuple[str, Moves]] = [
            (game.people[0], [entry[:2] for entry in game.record.deals[0].moves]) for game in self.pending
        ]
        return finished + [(find_player(table), list(table.game.moves)) for table in self.tables if table.game]


def day_is_played_once(state: DayAtRest) -> None:
    """No person has two tables, two games, or a table and a game of the day."""
    game_counts = Counter([find_player(table) for table in state.tables] + [game.people[0] for game in state.pending])
    if repeated := [person for person, count in game_counts.items() if count > 1]:
        raise Disagreement(f"the day is played twice by {repeated}")


def each_game_has_its_result(state: DayAtRest) -> None:
    """Each game has the one result that follows from it, and there are no other results."""
    results = {game.people[0]: result_of(game.record) for game in state.pending}
    if results != dict(state.results):
        raise Disagreement(f"the games give {results}, and the stored results are {state.results}")


def results_are_shown_once(state: DayAtRest) -> None:
    """Each person who has played sees their result in one message, and no other person sees a result."""
    if dict(state.results_shown) != dict.fromkeys(state.results, 1):
        raise Disagreement(f"results are shown to {state.results_shown}, and {sorted(state.results)} have one")


def all_games_have_the_cards_of_the_day(state: DayAtRest) -> None:
    secret = state.chain.secret(state.day)
    for table in state.tables:
        if table.day != state.day or table.secret != secret:
            raise Disagreement(f"table {table.code} does not have the cards of {state.day}")
    for game in state.pending:
        verify(game.record)
        proof = game.record.deals[0].proof
        if len(game.record.deals) > 1 or proof is None or proof.secret != secret.hex():
            raise Disagreement(f"game {game.id} does not have the cards of {state.day}")


def archive_has_no_game_of_the_day(state: DayAtRest) -> None:
    if state.archived:
        raise Disagreement(f"games of {state.day} are in the archive: {[game.id for game in state.archived]}")


def no_message_reveals_a_secret(state: DayAtRest) -> None:
    """No message contains the root of the chain, the secret of this day or the next two, or the id of a day's game."""
    secrets = {state.chain.root.hex(), *(state.chain.secret(state.day + timedelta(days=n)).hex() for n in range(3))}
    for secret in (*secrets, *(game.id for game in state.pending)):
        if secret in state.messages:
            raise Disagreement(f"a message contains {secret}")


INVARIANTS = (
    day_is_played_once,
    each_game_has_its_result,
    results_are_shown_once,
    all_games_have_the_cards_of_the_day,
    archive_has_no_game_of_the_day,
    no_message_reveals_a_secret,
)


class DayPlayers(SoloPlayers):
    """People who play the deal of the day, and ask for it again after they have played."""

    async def fill_tables(self, target: int) -> None:
        """Add a person if few people are left who have not finished the deal."""
        number = len(self.page.people) + 1
        if number - len(count_results_shown(self.page)) > MIN_PLAYING:
            return
        if await self.page.ask(do="add_person", name=f"Person {number}") == "done":
            await asyncio.sleep(0.1)
            for person in self.page.people[number - 1 :]:
                self._tasks.append(asyncio.create_task(self._play(person["id"])))

    async def press_something(self, person: str) -> None:
        moves, button = self.moves(person), self._play_button(person)
        if button is None:
            await self.page.ask(do="say", chat=f"@{person}", text="/daily", **{"as": person})
            await asyncio.sleep(0.2)
        elif self.random.random() < (ASK_AGAIN_CHANCE if moves else 0.2):
            await self.page.ask(do="press", chat=f"@{person}", message=button, payload=PLAY, **{"as": person})
        elif moves:
            await self.press_move(person, moves)
        await asyncio.sleep(0.02)

    def _play_button(self, person: str) -> int | None:
        """Return the id of a message with a *Play* button; None if there is none."""
        for message in self.page.chat(f"@{person}").values():
            if any(button["payload"] == PLAY for row in message.get("rows", ()) for button in row):
                return int(message["id"])
        return None


class DayHarness(Harness):
    """A harness for a page on which the deal of the day is played."""

    patience = 180.0  # the robot first waits for its searches to compile, which takes a minute

    def __init__(self, page: Page, seed: int, min_presses: int = 20) -> None:
        super().__init__(page, seed, min_presses)
        self.players = DayPlayers(page, Random(seed))
        self.day_results: dict[str, SoloResult] = {}
        self._zones = choose_zones(datetime.now(UTC))
        self._answers: RobotAnswers | None = None
        self._pending_ids: set[str] = set()
        page.bot.settings["BUONGIOCO_TIME_ZONE"] = self._zones.playing

    async def run(self, kills: int, *, show: bool = False) -> None:
        await super().run(kills, show=show)
        if show:
            print(f"{len(self.day_results)} of {len(self.page.people)} people have played the day")  # noqa: T201
        async with aiohttp.ClientSession() as session:
            try:
                await self.check_next_day(session)
            finally:
                await self.bot.kill()
                self.bot.kill_store()

    async def check_state(self, store: Store) -> None:
        state, day = await self._load_state(store), await self._load_day(store)
        check_tables(state, day.pending)
        for day_invariant in INVARIANTS:
            day_invariant(day)
        if self._answers is None:
            self._answers = RobotAnswers(await DayGames(store.client).todays_game(day.day), day.chain.secret(day.day))
        for person, moves in day.moves_of_people:
            self._answers.check(person, moves)
        self.day_results, self._pending_ids = dict(day.results), {game.id for game in day.pending}

    async def _load_day(self, store: Store) -> DayAtRest:
        results = DayResults(store.client)
        pending = await results.pending_games()
        [day] = {day for day, _game in pending} or {self._today()}
        tables = [table for table in (await self._load_state(store)).tables if table.day]
        return DayAtRest(
            day,
            await load_chain(store.client, day),
            tables,
            [game for _day, game in pending],
            [game async for game in Archive(store.client).games()],
            {ranked.person: ranked.result for ranked in await results.ranking(day)},
            json.dumps(self.page.messages),
            count_results_shown(self.page),
        )

    def _today(self) -> date:
        return (datetime.now(UTC) - timedelta(hours=int(self._zones.playing.removeprefix("Etc/GMT")))).date()

    async def check_next_day(self, session: aiohttp.ClientSession) -> None:
        """End the day. Check that all its games reach the archive once and follow from the published chain."""
        store = EmbeddedStore(self.bot.folder / "data")
        self.bot.settings["BUONGIOCO_TIME_ZONE"] = self._zones.after
        await self.bot.start()
        await self.page.connect(session)
        listening = asyncio.create_task(self.page.listen())
        async with open_store(store.url) as connected:
            remaining, since = len(self._pending_ids), time.monotonic()
            while pending := await DayResults(connected.client).pending_games():
                if len(pending) < remaining:
                    remaining, since = len(pending), time.monotonic()
                elif time.monotonic() > since + NEXT_DAY_SECONDS:
                    raise Disagreement(f"games of a finished day do not reach the archive\n{self.bot.log_tail()}")
                await asyncio.sleep(0.2)
            chain = await load_chain(connected.client, self._today())
            games = [game async for game in Archive(connected.client).games()]
        await self.bot.stop()
        await listening
        if Counter(game.id for game in games) != Counter(self._pending_ids):
            raise Disagreement(
                f"{self._pending_ids} were pending, and {[game.id for game in games]} are in the archive"
            )
        for game in games:
            verify(game.record)
            proof = game.record.deals[0].proof
            if proof is None or days_to_end(proof.commitment, chain.end) != (self._today() - chain.first).days:
                raise Disagreement(f"game {game.id} does not lead to the end of the chain")


def count_results_shown(page: Page) -> dict[str, int]:
    """Count the results of the day that each person sees, by ``platform:id``."""
    counts: Counter[str] = Counter()
    for chat, messages in page.messages.items():
        results = [message for message in messages.values() if message["by"] == "bot" and _is_result(message)]
        if results:
            counts[f"{page.platform}:{chat.removeprefix('@')}"] += len(results)
    return dict(counts)


def _is_result(message: dict[str, Any]) -> bool:
    return any(button["payload"] == "1pdaily today" for row in message.get("rows", ()) for button in row)


@asynccontextmanager
async def on_playground(folder: Path) -> AsyncIterator[Page]:
    yield Page(Bot(folder))


if __name__ == "__main__":
    main(on_playground, DayHarness)
