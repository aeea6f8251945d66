"""Adding each player's accuracy to the result in a group, once the game is analysed.

The table is removed by then. After a crash, a stop or a timeout, or if too many games wait, only /analyse shows the
accuracy.
"""

import asyncio
from collections.abc import Mapping
from functools import partial

import structlog

from bot.concurrency.background import TaskSet
from bot.delivery.answer_queue import AnswerQueue
from bot.delivery.message_state import MessageState
from bot.delivery.surface_names import Result
from bot.delivery.surface_panels import draw_surface
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
from engine.robots.verdicts import summarize

MAX_PENDING = 20  # largest number of games in the queue; the results of other games get no accuracy
TIMEOUT_SECONDS = 900.0  # after this time a result is left without accuracy, because few people still read it

log = structlog.get_logger()


class Completion:
    """Adds each player's accuracy to results, one game at a time, while the robots are idle."""

    def __init__(
        self,
        archive: Archive,
        analysis_pool: AnalysisPool,
        viewers: Viewers,
        pictures: PicturePool,
        adapters: Mapping[str, Adapter],
        answers: AnswerQueue,
        policies: Policies,
    ) -> None:
        self._policies = policies
        self._archive, self._analysis_pool = archive, analysis_pool
        self._viewers, self._pictures, self._adapters, self._answers = viewers, pictures, adapters, answers
        self._lock = asyncio.Lock()
        self._tasks = TaskSet()

    def start(self, table: Table, outcome: Outcome, results: Mapping[Result, SentMessage]) -> None:
        """Complete these messages in the background, unless the queue is full.

        Skip private chats, where other pages can replace a result.
        """
        group_messages = {
            home_of(table, name): message for name, message in results.items() if not is_private(home_of(table, name))
        }
        if group_messages and len(self._tasks) < MAX_PENDING:
            self._tasks.start(self._complete(table, outcome, group_messages))

    def stop(self) -> None:
        self._tasks.cancel()

    async def wait(self) -> None:
        """Wait until all results are completed; for tests."""
        await self._tasks.wait()

    async def _complete(self, table: Table, outcome: Outcome, results: Mapping[str, SentMessage]) -> None:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS), self._lock:
                game = await self._archive.get(outcome.game_id)
                verdicts = await self._analysis_pool.analyse_when_idle(game) if game and game.record.deals else []
            if game and verdicts:
                summaries = [summarize(verdicts, seat) for seat in range(len(game.record.seats))]
                for place, message in results.items():
                    await self._edit_result(table, outcome._replace(summaries=summaries), place, message)
        except TimeoutError:
            log.info("result_analysis_skipped", table=table.code, why="the analysis did not finish in time")
        except STORE_ERRORS as error:
            log.info("result_analysis_skipped", table=table.code, why=type(error).__name__)
        except Exception:
            log.exception("result_analysis_failed", table=table.code)

    async def _edit_result(self, table: Table, outcome: Outcome, place: str, sent_message: SentMessage) -> None:
        adapter = self._adapters.get(platform_of(place))
        if adapter is None:
            return
        viewer = await self._viewers.viewer_at(place)
        name, policy = Result(table.hosts.index(place)), self._policies.policy_of(table)
        panel = draw_surface(table, name, MessageState(), viewer, NO_EXTRAS, outcome, policy)
        painted_panel = await self._pictures.paint_panel(panel)
        while panel.picture and not painted_panel.picture:
            # The message has a picture and must not lose it.
            if not self._pictures.is_painting(panel.picture.subject):
                log.info("result_analysis_skipped", table=table.code, why="the picture could not be painted")
                return
            await self._pictures.wait_until_done(panel.picture.subject, asyncio.Event())
            painted_panel = await self._pictures.paint_panel(panel)
        self._answers.send(
            place, partial(adapter.edit, place, sent_message, painted_panel), message=sent_message.message
        )
