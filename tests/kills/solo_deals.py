"""Tables at which a person plays a deal alone with robots: their players and their invariants."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from bot.finished.game import FinishedGame
from bot.robots.pool import choose_unhurried
from bot.solo_deals.results import LEVEL, seed_for_move
from bot.tables.table import Table
from engine import GAMES, Game
from tests.kills.harness import count_moves_in_record
from tests.kills.invariants import INVARIANTS, Disagreement, StateAtRest, no_move_is_made_twice
from tests.kills.players import RESIGN_CHANCE, Players

DOUBLE_PRESS_CHANCE = 0.1  # chance that a person presses again before the first press takes effect
PANEL_SECONDS = 2.0  # seconds that a person waits for their panel to change after a move

Moves = Sequence[tuple[int | None, str]]


class RobotAnswers:
    """The robots' answers in one deal, calculated in this process, which is never killed."""

    def __init__(self, game_id: str, secret: bytes, level: str = LEVEL) -> None:
        self._game_id, self._secret, self._level = game_id, secret, level
        self._cache: dict[tuple[tuple[int | None, str], ...], tuple[int, str | None] | None] = {}

    def check(self, person: str, moves: Moves) -> None:
        """Raise Disagreement if a robot moved differently in the same position."""
        game = Game(self._game_id, {}, ["p"] * GAMES[self._game_id].seats)
        game.deal(self._secret)
        for move_index, (seat, move) in enumerate(moves):
            if seat not in (None, 0):
                answer = self._answer(game, tuple(moves[:move_index]))
                if answer != (seat, move):
                    raise Disagreement(
                        f"{person}: after {moves[:move_index]} the robot played {seat, move} instead of {answer}"
                    )
            if seat is not None:
                game.play(seat, move)

    def _answer(self, game: Game, before: tuple[tuple[int | None, str], ...]) -> tuple[int, str | None] | None:
        if before not in self._cache:
            seat = game.turn
            answer = None
            if seat is not None:
                seed = seed_for_move(self._secret, len(game.moves))
                answer = seat, choose_unhurried(self._level, game.view(seat), game.history(seat), seed)
            self._cache[before] = answer
        return self._cache[before]


class SoloPlayers(Players):
    """People who play deals alone.

    Every second person presses the first move offered, so their lines are the same. The others choose at random.
    """

    async def press_move(self, person: str, moves: list[tuple[int, str]]) -> None:
        is_first = self.page.people.index(next(entry for entry in self.page.people if entry["id"] == person)) % 2 == 0
        plays = sorted(entry for entry in moves if ":play " in entry[1]) or sorted(moves)
        message, payload = plays[0] if is_first and plays[0][1].startswith("1m") else self.random.choice(moves)
        name = f"m{len(self.pressed):07}"
        self.pressed[name] = (person, payload)
        await self.page.ask(name, do="press", chat=f"@{person}", message=message, payload=payload, **{"as": person})
        if self.random.random() >= DOUBLE_PRESS_CHANCE:
            deadline = time.monotonic() + PANEL_SECONDS
            while (message, payload) in self.page.buttons(person) and time.monotonic() < deadline:
                await asyncio.sleep(0.02)

    def moves(self, person: str) -> list[tuple[int, str]]:
        gives_up = self.random.random() < RESIGN_CHANCE / 10
        return [
            (message, payload)
            for message, payload in self.page.buttons(person)
            if not payload.endswith(":automatic") and (not payload.endswith("resign") or gives_up)
        ]


def check_tables(state: StateAtRest, pending: Sequence[FinishedGame]) -> None:
    """Check the invariants of all tables. ``pending`` are finished games that are not in the archive yet."""
    made_moves = {code: _select_moves_of_people(moves) for code, moves in state.made_moves.items()}
    made_moves |= {game.code: _select_moves_of_people(count_moves_in_record(game)) for game in pending}
    state = replace(state, made_moves=made_moves)
    for table in state.tables:
        # The stamp of a robot's move is the version before it, which can be the same at several tables.
        no_move_is_made_twice(replace(state, tables=[table]))
    for invariant in INVARIANTS:
        if invariant is not no_move_is_made_twice:
            invariant(state)


def _select_moves_of_people(moves: Counter[tuple[str, str]]) -> Counter[tuple[str, str]]:
    return Counter({move: count for move, count in moves.items() if not move[0].startswith("robot:")})


def find_player(table: Table) -> str:
    return next(chair.person for chair in table.chairs if chair and not chair.is_robot)
