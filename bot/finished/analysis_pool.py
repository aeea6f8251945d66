"""Analyses of finished games: made deal by deal in the background, and kept for a while."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import structlog

from bot.finished.game import FinishedGame
from bot.robot_pool import RobotPool
from bot.store import keys
from engine.robots.findings import Verdict

log = structlog.get_logger()

KEPT_SECONDS = 7 * 86400
WAIT_SECONDS = 1.0
"""How long one who asks waits before being told how far it has come."""

MOST_REQUESTED = 50

IDLE_SECONDS = 1.0
"""How often it is looked whether there is time for a game that nobody has asked about."""


class Analysis(NamedTuple):
    """The verdicts of the deals that have been looked at, and how many those are."""

    verdicts: list[Verdict]
    deals: int


class AnalysisFailed(Exception):
    """A game could not be looked at; why stands in the log."""


class AnalysisPool:
    """Looks at games as people ask for them; ``client`` is the store's."""

    def __init__(self, client: Any, robot_pool: RobotPool) -> None:
        self._client, self._robot_pool = client, robot_pool
        self._made: dict[str, list[list[Verdict]]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._asked: set[str] = set()
        """The games that somebody waits for."""

    async def analyse(self, game: FinishedGame) -> Analysis | None:
        """What is known of a game by now; whoever asks again later learns more. None with too much to do already."""
        stored = await self._stored_verdicts(game)
        if stored is not None:
            return Analysis(stored, len(game.record.deals))
        self._asked.add(game.id)
        task = self._tasks.get(game.id)
        if task is None:
            if len(self._asked) > MOST_REQUESTED:
                self._asked.discard(game.id)
                return None
            task = self._start(game)
        made = self._made[game.id] = self._made.get(game.id, [])
        await asyncio.wait([task], timeout=WAIT_SECONDS)
        if task.done() and len(made) < len(game.record.deals):
            raise AnalysisFailed(game.id)
        return Analysis([verdict for deal in made for verdict in deal], len(made))

    async def known_analysis(self, game: FinishedGame) -> Analysis | None:
        """What is known of a game, without looking at any more of it; None if nobody has asked, or not lately."""
        stored = await self._stored_verdicts(game)
        if stored is not None:
            return Analysis(stored, len(game.record.deals))
        made = self._made.get(game.id)
        return None if made is None else Analysis([verdict for deal in made for verdict in deal], len(made))

    async def analyse_when_idle(self, game: FinishedGame) -> list[Verdict] | None:
        """All verdicts on a game that nobody has asked about; None if they cannot be had.

        Its deals are looked at while no robot thinks about a move and nobody waits for another analysis.
        """
        if await self._stored_verdicts(game) is None:
            await asyncio.wait([self._tasks.get(game.id) or self._start(game)])
        return await self._stored_verdicts(game)

    async def stored_verdicts(self, game_ids: Sequence[str]) -> dict[str, list[Verdict]]:
        """The verdicts on games that have been looked at to their end, by their ids; the others are left out."""
        async with self._client.pipeline(transaction=False) as pipe:
            for game_id in game_ids:
                pipe.get(keys.analysis(game_id))
            stored = await pipe.execute() if game_ids else []
        return {game_id: _parse_verdicts(text) for game_id, text in zip(game_ids, stored, strict=True) if text}

    async def _stored_verdicts(self, game: FinishedGame) -> list[Verdict] | None:
        stored = await self._client.get(keys.analysis(game.id))
        return _parse_verdicts(stored) if stored else None

    def _start(self, game: FinishedGame) -> asyncio.Task[None]:
        task = self._tasks[game.id] = asyncio.create_task(self._analyse_game(game))
        return task

    async def _wait_for_turn(self, game_id: str) -> None:
        """Wait until a game's next deal is to be looked at: at once if somebody has asked for it."""
        while game_id not in self._asked and (self._asked or self._robot_pool.is_busy):
            await asyncio.sleep(IDLE_SECONDS)

    def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    async def _analyse_game(self, game: FinishedGame) -> None:
        made = self._made.setdefault(game.id, [])
        try:
            for number in range(1, len(game.record.deals) + 1):
                await self._wait_for_turn(game.id)
                made.append(await self._robot_pool.verdicts(game.record, number))
            said = [tuple(vars(verdict).values()) for deal in made for verdict in deal]
            await self._client.set(keys.analysis(game.id), json.dumps(said), ex=KEPT_SECONDS)
        except Exception:
            # Who asks again has it tried again.
            log.exception("analysis_failed", game=game.id)
        finally:
            self._asked.discard(game.id)
            del self._tasks[game.id], self._made[game.id]


def _parse_verdicts(stored: bytes) -> list[Verdict]:
    # A later release may say more of each.
    return [Verdict(*said[: len(fields(Verdict))]) for said in json.loads(stored)]
