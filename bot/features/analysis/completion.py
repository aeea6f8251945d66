"""Results that are completed later: how well everybody played is added to a game's result once that is known.

Nothing waits for it, and it is no part of bringing a table to rest: the table is gone by then. What a crash, a stop or
much to do keeps from being added is left out; /analyse tells it to who asks.
"""

import asyncio
from collections.abc import Mapping
from functools import partial

import structlog

from bot.background import TaskSet
from bot.delivery.answers import Answers
from bot.delivery.drawing import draw
from bot.delivery.message_state import MessageState
from bot.delivery.names import Result
from bot.delivery.surfaces import home_of
from bot.delivery.table_sync import NO_EXTRAS
from bot.finished.analysis_pool import AnalysisPool
from bot.finished.archive import Archive
from bot.pictures.pool import PicturePool
from bot.platform import Adapter, SentMessage, is_private, platform_of
from bot.store import STORE_ERRORS
from bot.table_policy import Outcome, Policies
from bot.tables.table import Table
from bot.viewers import Viewers
from engine.robots.findings import Summary, summary

MOST_PENDING = 20
"""Games that may wait for being looked at; those beyond are left as they are."""

TIMEOUT_SECONDS = 900.0
"""After so long nobody reads a result any more."""

log = structlog.get_logger()


class Completion:
    """Adds to results how well everybody played: one game after the other, while nobody wants anything."""

    def __init__(
        self,
        archive: Archive,
        analysis_pool: AnalysisPool,
        viewers: Viewers,
        pictures: PicturePool,
        adapters: Mapping[str, Adapter],
        answers: Answers,
        policies: Policies,
    ) -> None:
        self._policies = policies
        self._archive, self._analysis_pool = archive, analysis_pool
        self._viewers, self._pictures, self._adapters, self._answers = viewers, pictures, adapters, answers
        self._lock = asyncio.Lock()
        self._tasks = TaskSet()

    def start(self, table: Table, outcome: Outcome, results: Mapping[Result, SentMessage]) -> None:
        """A game is over, and these messages show its result.

        In a private chat the pages that its buttons bring take a result's place, so that one is left alone.
        """
        shared = {home_of(table, name): sent for name, sent in results.items() if not is_private(home_of(table, name))}
        if shared and len(self._tasks) < MOST_PENDING:
            self._tasks.start(self._complete(table, outcome, shared))

    def stop(self) -> None:
        self._tasks.cancel()

    async def wait(self) -> None:
        """Wait until nothing is to be completed; for tests."""
        await self._tasks.wait()

    async def _complete(self, table: Table, outcome: Outcome, results: Mapping[str, SentMessage]) -> None:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS), self._lock:
                summaries = await self._summarize(outcome.game_id)
            if summaries:
                for place, sent in results.items():
                    await self._edit_result(table, outcome._replace(summaries=summaries), place, sent)
        except TimeoutError:
            log.info("result_not_completed", table=table.code, why="there was no time for an analysis")
        except STORE_ERRORS as error:
            log.info("result_not_completed", table=table.code, why=type(error).__name__)
        except Exception:
            log.exception("completion_failed", table=table.code)

    async def _summarize(self, game_id: str) -> list[Summary]:
        """How well each seat played; empty where nobody decided anything, or it cannot be told."""
        game = await self._archive.get(game_id)
        if game is None or not game.record.deals:
            return []
        verdicts = await self._analysis_pool.analyse_when_idle(game)
        return [summary(verdicts, seat) for seat in range(len(game.record.seats))] if verdicts else []

    async def _edit_result(self, table: Table, outcome: Outcome, place: str, sent: SentMessage) -> None:
        adapter = self._adapters.get(platform_of(place))
        if adapter is None:
            return
        viewer = await self._viewers.viewer_at(place)
        panel = draw(
            table,
            Result(table.hosts.index(place)),
            MessageState(),
            viewer,
            NO_EXTRAS,
            outcome,
            self._policies.policy_of(table),
        )
        ready = await self._pictures.paint_panel(panel)
        while panel.picture and not ready.picture:
            # What stands there has its picture, and is not to lose it.
            if not self._pictures.is_painting(panel.picture.subject):
                log.info("result_not_completed", table=table.code, why="its picture could not be painted")
                return
            await self._pictures.wait_until_done(panel.picture.subject, asyncio.Event())
            ready = await self._pictures.paint_panel(panel)
        self._answers.send(place, partial(adapter.edit, place, sent, ready), message=sent.message)
