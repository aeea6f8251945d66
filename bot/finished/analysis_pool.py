"""Analyses of finished games, made deal by deal in the background and stored for a week."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import fields
from itertools import chain
from typing import Any, NamedTuple

import structlog

from bot.finished.game import FinishedGame
from bot.robots.pool import RobotPool
from bot.store import keys
from engine.robots.verdicts import Verdict

log = structlog.get_logger()
KEPT_SECONDS = 7 * 86400
WAIT_SECONDS = 1.0  # time after which a request returns an incomplete analysis
MAX_REQUESTED = 50
IDLE_SECONDS = 1.0  # interval at which an analysis without a request checks for idle robots


class Analysis(NamedTuple):
    """A game's analysis. Until it is finished, it covers only the first deals."""

    verdicts: list[Verdict]
    deals: int  # number of analysed deals


class AnalysisFailed(Exception):
    """The analysis of a game failed; the log has the reason."""


class AnalysisPool:
    """The analyses of one worker. Games that people wait for come first; others wait until robots are idle."""

    def __init__(self, client: Any, robot_pool: RobotPool) -> None:
        self._client, self._robot_pool = client, robot_pool
        self._verdicts_by_deal: dict[str, list[list[Verdict]]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._requested: set[str] = set()  # ids of games whose analysis a person waits for

    @property
    def requested_count(self) -> int:
        """Number of games whose analysis a person waits for."""
        return len(self._requested)

    @property
    def automatic(self) -> int:
        """Number of other games whose analysis is running or waiting."""
        return len(self._tasks) - len(self._requested)

    async def analyse(self, game: FinishedGame) -> Analysis | None:
        """Return the analysis so far, and start it if needed.

        Return None if too many games are requested. Raise AnalysisFailed if the analysis failed now.
        """
        if analysis := await self._stored_analysis(game):
            return analysis
        if game.id not in self._tasks and len(self._requested) >= MAX_REQUESTED:
            return None
        self._requested.add(game.id)
        task = self._start(game)
        by_deal = self._verdicts_by_deal.setdefault(game.id, [])
        await asyncio.wait([task], timeout=WAIT_SECONDS)
        if task.done() and len(by_deal) < len(game.record.deals):
            raise AnalysisFailed(game.id)
        return Analysis(list(chain(*by_deal)), len(by_deal))

    async def known_analysis(self, game: FinishedGame) -> Analysis | None:
        """Return the analysis so far, or None if it was not started."""
        if analysis := await self._stored_analysis(game):
            return analysis
        by_deal = self._verdicts_by_deal.get(game.id)
        return None if by_deal is None else Analysis(list(chain(*by_deal)), len(by_deal))

    async def analyse_when_idle(self, game: FinishedGame) -> list[Verdict] | None:
        """Analyse a game while robots are idle and no analysis is requested. Return None if it fails."""
        if await self._stored_analysis(game) is None:
            await asyncio.wait([self._start(game)])
        return (await self.stored_verdicts([game.id])).get(game.id)

    async def stored_verdicts(self, game_ids: Sequence[str]) -> dict[str, list[Verdict]]:
        async with self._client.pipeline(transaction=False) as pipe:
            for game_id in game_ids:
                pipe.get(keys.analysis(game_id))
            texts = await pipe.execute() if game_ids else []
        return {game_id: _parse_verdicts(text) for game_id, text in zip(game_ids, texts, strict=True) if text}

    async def _stored_analysis(self, game: FinishedGame) -> Analysis | None:
        text = await self._client.get(keys.analysis(game.id))
        return Analysis(_parse_verdicts(text), len(game.record.deals)) if text else None

    def _start(self, game: FinishedGame) -> asyncio.Task[None]:
        """Return the task that analyses a game. Start it if needed."""
        if game.id not in self._tasks:
            self._tasks[game.id] = asyncio.create_task(self._analyse_game(game))
        return self._tasks[game.id]

    def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    async def _analyse_game(self, game: FinishedGame) -> None:
        by_deal = self._verdicts_by_deal.setdefault(game.id, [])
        try:
            for number in range(1, len(game.record.deals) + 1):
                while game.id not in self._requested and (self._requested or self._robot_pool.is_busy):
                    await asyncio.sleep(IDLE_SECONDS)
                by_deal.append(await self._robot_pool.verdicts(game.record, number))
            rows = [tuple(vars(verdict).values()) for verdict in chain(*by_deal)]
            await self._client.set(keys.analysis(game.id), json.dumps(rows), ex=KEPT_SECONDS)
        except Exception:
            # The next request starts the analysis again.
            log.exception("analysis_failed", game=game.id)
        finally:
            self._requested.discard(game.id)
            del self._tasks[game.id], self._verdicts_by_deal[game.id]


def _parse_verdicts(text: bytes) -> list[Verdict]:
    # A later release might store more fields.
    return [Verdict(*row[: len(fields(Verdict))]) for row in json.loads(text)]
