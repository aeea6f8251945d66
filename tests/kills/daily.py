"""Kills while people play the deal of the day: python -m tests.kills.daily --kills 30 --seed 1

What holds for any table holds for theirs (`tests.kills.invariants`), and what a day promises besides: each invariant
is a function of a `DayAtRest`. At the end the day is over, and the bot is asked for its games.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import aiohttp

from bot.features.daily import deal
from bot.features.daily.chain import Chain, days_to_end
from bot.features.daily.days import load_chain
from bot.features.daily.deal import DayResult, result_of, seed_for_move
from bot.features.daily.games import DayGames
from bot.features.daily.store import DayResults
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.robot_pool import choose_unhurried
from bot.store import EmbeddedStore, Store, open_store
from bot.tables.table import Table
from engine import GAMES, Game, verify
from tests.kills.bot_process import Bot
from tests.kills.harness import Harness, main, moves_in_record
from tests.kills.invariants import INVARIANTS as OF_ALL_TABLES
from tests.kills.invariants import Disagreement, no_move_is_made_twice
from tests.kills.pages import Page
from tests.kills.players import RESIGN_CHANCE, Players

PLAY = "1pdaily play"
MIN_PLAYING = 4
"""So many people have not played yet, or are at it: others come when there are fewer."""

DOUBLE_PRESS_CHANCE = 0.1
"""How often somebody does not wait for what their press does before they press again."""

PANEL_SECONDS = 2.0
"""How long somebody who has made a move waits for their panel to change."""

ASK_AGAIN_CHANCE = 0.03
"""How often somebody presses *Play* where they could as well make a move."""

NEXT_DAY_SECONDS = 90.0
"""Seconds in which at least one more game reaches the archive after the day."""

Moves = Sequence[tuple[int | None, str]]


class Zones(NamedTuple):
    """Where the host is while people play, and where the day is over at the same moment."""

    playing: str
    after: str


def zones(now: datetime) -> Zones:
    """Two time zones on different days, the first with as many hours left of its day as there can be."""
    hours = range(-12, 15)
    local = {hour: now + timedelta(hours=hour) for hour in hours}
    early = [hour for hour in hours if local[hour].date() < local[14].date()]
    playing = min(early, key=lambda hour: local[hour].time())
    # The names of these zones count westwards.
    return Zones(f"Etc/GMT{-playing:+d}", "Etc/GMT-14")


@dataclass
class DayAtRest:
    """All there is of a day once nothing is under way.

    ``tables`` are those at which it is played, ``held`` the games that wait for its end, ``archived`` those in the
    archive. ``messages`` is all that people see, as JSON, and ``results_shown`` how often each reads what came of it.
    """

    day: date
    chain: Chain
    tables: Sequence[Table]
    held: Sequence[FinishedGame]
    archived: Sequence[FinishedGame]
    results: Mapping[str, DayResult]
    messages: str
    results_shown: Mapping[str, int]

    @property
    def lines(self) -> list[tuple[str, Moves]]:
        """Everybody's moves, with the robots' answers."""
        over: list[tuple[str, Moves]] = [
            (one.people[0], [entry[:2] for entry in one.record.deals[0].moves]) for one in self.held
        ]
        return over + [(_player(table), list(table.game.moves)) for table in self.tables if table.game]


def day_is_played_once(rest: DayAtRest) -> None:
    """Nobody has two tables of a day, two games, or one of each; a table that is over has its game held already."""
    counted = Counter([_player(table) for table in rest.tables] + [game.people[0] for game in rest.held])
    if twice := [person for person, count in counted.items() if count > 1]:
        raise Disagreement(f"the day is played twice by {twice}")


def each_game_has_its_result(rest: DayAtRest) -> None:
    """Who has played has the one result that their game comes to, and nobody else has one."""
    made = {game.people[0]: result_of(game.record) for game in rest.held}
    if made != dict(rest.results):
        raise Disagreement(f"games come to {made}, and results are {rest.results}")


def results_are_shown_once(rest: DayAtRest) -> None:
    """Who has played reads what came of it in one message, and nobody else reads any."""
    if dict(rest.results_shown) != dict.fromkeys(rest.results, 1):
        raise Disagreement(f"results are told {rest.results_shown}, and there are those of {sorted(rest.results)}")


def all_games_have_the_cards_of_the_day(rest: DayAtRest) -> None:
    secret = rest.chain.secret(rest.day)
    for table in rest.tables:
        if table.day != rest.day or table.secret != secret:
            raise Disagreement(f"table {table.code} has other cards than those of {rest.day}")
    for game in rest.held:
        verify(game.record)
        proof = game.record.deals[0].proof
        if len(game.record.deals) > 1 or proof is None or proof.secret != secret.hex():
            raise Disagreement(f"game {game.id} has other cards than those of {rest.day}")


def archive_has_no_game_of_the_day(rest: DayAtRest) -> None:
    """Before the day is over."""
    if rest.archived:
        raise Disagreement(f"games of {rest.day} are in the archive: {[game.id for game in rest.archived]}")


def no_message_reveals_a_secret(rest: DayAtRest) -> None:
    """Nobody reads the secret of the day, or of one to come, nor is led to a game of the day."""
    secrets = {rest.chain.root.hex(), *(rest.chain.secret(rest.day + timedelta(days=n)).hex() for n in range(3))}
    for secret in (*secrets, *(game.id for game in rest.held)):
        if secret in rest.messages:
            raise Disagreement(f"a message has {secret}")


class RobotAnswers:
    """What the robot of the day answers, worked out here, where nothing is killed."""

    def __init__(self, game_id: str, secret: bytes) -> None:
        self._game_id, self._secret = game_id, secret
        self._known: dict[tuple[tuple[int | None, str], ...], tuple[int, str | None] | None] = {}

    def check(self, person: str, moves: Moves) -> None:
        """Raise Disagreement where a robot has moved otherwise than here, in the same place."""
        game = Game(self._game_id, {}, ["p"] * GAMES[self._game_id].seats)
        game.deal(self._secret)
        for place, (seat, move) in enumerate(moves):
            if seat not in (None, 0):
                answer = self._answer(game, tuple(moves[:place]))
                if answer != (seat, move):
                    raise Disagreement(f"after {moves[:place]} {person} met {seat, move}, and it should be {answer}")
            if seat is not None:
                game.play(seat, move)

    def _answer(self, game: Game, before: tuple[tuple[int | None, str], ...]) -> tuple[int, str | None] | None:
        if before not in self._known:
            seat = game.turn
            answer = None
            if seat is not None:
                seed = seed_for_move(self._secret, len(game.moves))
                answer = seat, choose_unhurried(deal.LEVEL, game.view(seat), game.history(seat), seed)
            self._known[before] = answer
        return self._known[before]


OF_TABLES = tuple(one for one in OF_ALL_TABLES if one is not no_move_is_made_twice)
INVARIANTS = (
    day_is_played_once,
    each_game_has_its_result,
    results_are_shown_once,
    all_games_have_the_cards_of_the_day,
    archive_has_no_game_of_the_day,
    no_message_reveals_a_secret,
)


class DayPlayers(Players):
    """People who play the deal of the day: every other one by the first move that is offered, so that their lines are
    the same, the others at random. They ask for it again and again, also when they have played it.
    """

    async def fill_tables(self, wanted: int) -> None:
        """Have others come where few are left who have not played."""
        number = len(self.page.people) + 1
        if number - len(count_results_shown(self.page)) > MIN_PLAYING:
            return
        if await self.page.ask(do="add_person", name=f"Person {number}") == "done":
            await asyncio.sleep(0.1)
            for person in self.page.people[number - 1 :]:
                self._tasks.append(asyncio.create_task(self._play(person["id"])))

    async def press_something(self, person: str) -> None:
        moves, button = self._moves(person), self._play_button(person)
        if button is None:
            await self.page.ask(do="say", chat=f"@{person}", text="/daily", **{"as": person})
            await asyncio.sleep(0.2)
        elif self.random.random() < (ASK_AGAIN_CHANCE if moves else 0.2):
            await self.page.ask(do="press", chat=f"@{person}", message=button, payload=PLAY, **{"as": person})
        elif moves:
            await self._press(person, moves)
        await asyncio.sleep(0.02)

    async def _press(self, person: str, moves: list[tuple[int, str]]) -> None:
        is_first = self.page.people.index(next(one for one in self.page.people if one["id"] == person)) % 2 == 0
        played = sorted(one for one in moves if ":play " in one[1]) or sorted(moves)
        message, payload = played[0] if is_first and played[0][1].startswith("1m") else self.random.choice(moves)
        name = f"m{len(self.pressed):07}"
        self.pressed[name] = (person, payload)
        await self.page.ask(name, do="press", chat=f"@{person}", message=message, payload=payload, **{"as": person})
        if self.random.random() >= DOUBLE_PRESS_CHANCE:
            until = time.monotonic() + PANEL_SECONDS
            while (message, payload) in self.page.buttons(person) and time.monotonic() < until:
                await asyncio.sleep(0.02)

    def _moves(self, person: str) -> list[tuple[int, str]]:
        gives_up = self.random.random() < RESIGN_CHANCE / 10
        return [
            (message, payload)
            for message, payload in self.page.buttons(person)
            if not payload.endswith(":automatic") and (not payload.endswith("resign") or gives_up)
        ]

    def _play_button(self, person: str) -> int | None:
        """The message in which somebody may ask for the deal."""
        for message in self.page.chat(f"@{person}").values():
            if any(button["payload"] == PLAY for row in message.get("rows", ()) for button in row):
                return int(message["id"])
        return None


class DayHarness(Harness):
    """Rounds and checks for one page on which the deal of the day is played."""

    patience = 180.0
    """The robot waits until its searches are compiled, which takes a minute the first time."""

    def __init__(self, page: Page, seed: int, least: int = 20) -> None:
        super().__init__(page, seed, least)
        self.players = DayPlayers(page, Random(seed))
        self.played: dict[str, DayResult] = {}
        self._zones = zones(datetime.now(UTC))
        self._answers: RobotAnswers | None = None
        self._held: set[str] = set()
        page.bot.settings["BUONGIOCO_TIME_ZONE"] = self._zones.playing

    async def run(self, kills: int, *, show: bool = False) -> None:
        await super().run(kills, show=show)
        if show:
            print(f"{len(self.played)} people have played the day, of {len(self.page.people)}")  # noqa: T201
        async with aiohttp.ClientSession() as session:
            try:
                await self.check_next_day(session)
            finally:
                await self.bot.kill()
                self.bot.kill_store()

    async def check_state(self, store: Store) -> None:
        rest, day = await self._load_state(store), await self._load_day(store)
        made = {code: _moves_of_people(moves) for code, moves in rest.made.items()}
        made |= {game.code: _moves_of_people(moves_in_record(game)) for game in day.held}
        rest = replace(rest, made=made)
        for table in rest.tables:
            # Robots' moves are stamped with the version that they followed, which tables share.
            no_move_is_made_twice(replace(rest, tables=[table]))
        for of_tables in OF_TABLES:
            of_tables(rest)
        for of_days in INVARIANTS:
            of_days(day)
        if self._answers is None:
            self._answers = RobotAnswers(await DayGames(store.client).todays_game(day.day), day.chain.secret(day.day))
        for person, moves in day.lines:
            self._answers.check(person, moves)
        self.played, self._held = dict(day.results), {game.id for game in day.held}

    async def _load_day(self, store: Store) -> DayAtRest:
        results = DayResults(store.client)
        held = await results.pending_games()
        [day] = {day for day, _game in held} or {self._today()}
        tables = [table for table in (await self._load_state(store)).tables if table.day]
        return DayAtRest(
            day,
            await load_chain(store.client, day),
            tables,
            [game for _day, game in held],
            [game async for game in Archive(store.client).all()],
            {line.person: line.result for line in await results.ranking(day)},
            json.dumps(self.page.messages),
            count_results_shown(self.page),
        )

    def _today(self) -> date:
        return (datetime.now(UTC) - timedelta(hours=int(self._zones.playing.removeprefix("Etc/GMT")))).date()

    async def check_next_day(self, session: aiohttp.ClientSession) -> None:
        """The day is over: all its games come into the archive, once, and its secret is told."""
        store = EmbeddedStore(self.bot.folder / "data")
        self.bot.settings["BUONGIOCO_TIME_ZONE"] = self._zones.after
        await self.bot.start()
        await self.page.connect(session)
        listening = asyncio.create_task(self.page.listen())
        async with open_store(store.url) as there:
            left, since = len(self._held), time.monotonic()
            while held := await DayResults(there.client).pending_games():
                if len(held) < left:
                    left, since = len(held), time.monotonic()
                elif time.monotonic() > since + NEXT_DAY_SECONDS:
                    raise Disagreement(f"games of a day that is over do not come\n{self.bot.log_tail()}")
                await asyncio.sleep(0.2)
            chain = await load_chain(there.client, self._today())
            games = [game async for game in Archive(there.client).all()]
        await self.bot.stop()
        await listening
        if Counter(game.id for game in games) != Counter(self._held):
            raise Disagreement(f"{self._held} were held, and in the archive are {[game.id for game in games]}")
        for game in games:
            verify(game.record)
            proof = game.record.deals[0].proof
            if proof is None or days_to_end(proof.commitment, chain.end) != (self._today() - chain.first).days:
                raise Disagreement(f"game {game.id} does not lead to the end of the chain")


def count_results_shown(page: Page) -> dict[str, int]:
    """How many messages tell each person what came of the day, by ``platform:id``."""
    shown: Counter[str] = Counter()
    for chat, messages in page.messages.items():
        told = [message for message in messages.values() if message["by"] == "bot" and _is_result(message)]
        if told:
            shown[f"{page.platform}:{chat.removeprefix('@')}"] += len(told)
    return dict(shown)


def _is_result(message: dict[str, Any]) -> bool:
    return any(button["payload"] == "1pdaily today" for row in message.get("rows", ()) for button in row)


def _moves_of_people(moves: Counter[tuple[str, str]]) -> Counter[tuple[str, str]]:
    return Counter({made: count for made, count in moves.items() if not made[0].startswith("robot:")})


def _player(table: Table) -> str:
    return next(chair.person for chair in table.chairs if chair and not chair.is_robot)


@asynccontextmanager
async def on_playground(folder: Path) -> AsyncIterator[Page]:
    yield Page(Bot(folder))


if __name__ == "__main__":
    main(on_playground, DayHarness)
