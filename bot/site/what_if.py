"""Other continuations of finished games: a reader tries moves, and the strong robot can answer for the other seats.

Nothing is stored. A line is the list of its moves, which the reader's page keeps in its address.
"""

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeVar

from bot.concurrency.processes import ProcessDied
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame, UnreadableGame
from bot.robots.pool import PoolBusy, RobotPool, choose, solve_line
from bot.site.api_models import LineVerdicts, ReplayedLine, replayed_line
from bot.site.game_reader import Reader
from engine import Game
from engine.errors import EngineError
from engine.game import ENDING_MOVES
from engine.replay import continue_record

T = TypeVar("T")


class ImpossibleLine(Exception):
    """The line has a move that is not legal. The error's text is for programs."""


class WhatIfBusy(Exception):
    """The robots are busy, or their process died. The caller can try again later."""


class Line(NamedTuple):
    """Moves that replace those of the record after the first ``place`` moves of a deal."""

    game_id: str
    deal: int  # from 1
    place: int
    moves: tuple[str, ...]


class WhatIf:
    """The lines that readers try.

    The methods return None if the game or the position does not exist, and raise ImpossibleLine or WhatIfBusy.
    """

    def __init__(self, archive: Archive, robot_pool: RobotPool) -> None:
        self._archive, self._robot_pool = archive, robot_pool

    async def get_line(self, line: Line, reader: Reader, seat: int | None) -> ReplayedLine | None:
        """Return the positions of a line.

        With ``seat``, the strong robot makes one move if it is another seat's turn.
        """
        game = await self._load_game(line)
        if game is None:
            return None
        position = _play(game, line)
        if seat is not None and position.turn not in (None, seat):
            line = line._replace(moves=(*line.moves, await self._choose_move(position)))
        return replayed_line(game, line.deal, line.place, line.moves, *reader)

    async def judge(self, line: Line) -> LineVerdicts | None:
        """Return the points that each move after the line loses, by perfect play with open cards.

        ``lost`` is None if nobody is to move, or if the position is too large to solve.
        """
        game = await self._load_game(line)
        if game is None:
            return None
        if _play(game, line).turn is None:
            return LineVerdicts(lost=None)
        record = game.record.to_json()
        return LineVerdicts(lost=await self._think(solve_line, record, line.deal, line.place, line.moves))

    async def _load_game(self, line: Line) -> FinishedGame | None:
        content = await self._archive.get_bytes(line.game_id)
        try:
            game = FinishedGame.parse(content) if content else None
        except UnreadableGame:
            return None
        deals = game.record.deals if game else []
        is_there = line.deal <= len(deals) and line.place <= len(deals[line.deal - 1].moves)
        return game if is_there else None

    async def _choose_move(self, game: Game) -> str:
        """Return the strong robot's move for the seat to move. The robot knows only what that seat knows."""
        assert game.turn is not None
        view = game.view(game.turn)
        view = replace(view, moves=tuple(move for move in view.moves if move not in ENDING_MOVES))
        seed = secrets.randbits(64)
        move = await self._think(choose, "strong", view, game.history(game.turn), seed)
        assert move
        return move

    async def _think(self, work: Callable[..., T], *args: object) -> T:
        try:
            return await self._robot_pool.think_aside(work, *args)
        except (PoolBusy, ProcessDied):
            raise WhatIfBusy() from None


def _play(game: FinishedGame, line: Line) -> Game:
    try:
        *_, position = continue_record(game.record, line.deal, line.place, line.moves)
    except EngineError as error:
        raise ImpossibleLine(str(error)) from None
    return position
