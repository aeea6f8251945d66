"""Metrics that alerts use."""

import asyncio
import io
import logging

import pytest
import structlog
from prometheus_client import REGISTRY, generate_latest
from structlog.testing import capture_logs

from bot.finished import analysis_pool
from bot.running.logs import count_event
from bot.settings import Settings
from bot.store import Store
from bot.worker import Worker
from engine import Record
from engine.robots.verdicts import Verdict
from tests.bot.finished.games import finished_game


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def count_lines(level: str, event: str) -> float:
    return value("buongioco_log_events_total", level=level, event=event)


def test_creation_times_of_counters_are_not_exported() -> None:
    assert b"_created" not in generate_latest()


def test_logged_warnings_and_errors_are_counted_by_event() -> None:
    processors: list[structlog.typing.Processor] = [
        structlog.processors.add_log_level,
        count_event,
        structlog.processors.JSONRenderer(),
    ]
    log = structlog.wrap_logger(structlog.PrintLogger(io.StringIO()), processors=processors)
    log.info("test_of_metrics")
    log.warning("test_of_metrics")
    for _ in range(2):
        log.error("test_of_metrics")
    log.exception("test_of_metrics")
    line_counts = {level: count_lines(level, "test_of_metrics") for level in ("info", "warning", "error")}
    assert line_counts == {"info": 0, "warning": 1, "error": 3}


def test_library_log_lines_are_counted_by_logger() -> None:
    handler = logging.StreamHandler(io.StringIO())
    before = [structlog.processors.add_log_level, count_event]
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(structlog.processors.JSONRenderer(), foreign_pre_chain=before)
    )
    logger = logging.Logger("library.part")
    logger.addHandler(handler)
    for number in range(2):
        logger.error("failed for request %s", number)
    assert count_lines("error", "library.part") == 2


async def test_store_is_down_until_it_takes_writes_again(store: Store) -> None:
    worker = Worker(store, Settings(_env_file=None))
    await worker.update_metrics()
    assert value("buongioco_store_up") == 1
    with capture_logs():
        store.outage.begin(OSError())
        await worker.update_metrics()
        assert value("buongioco_store_up") == 0
        await store.outage.wait_until_over()
    await worker.update_metrics()
    assert value("buongioco_store_up") == 1


async def test_pending_analyses_are_counted_by_their_cause(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis_pool, "WAIT_SECONDS", 0.01)
    worker = Worker(store, Settings(_env_file=None))

    async def never_answer(_record: Record, _deal: int) -> list[Verdict]:
        return await asyncio.Future()

    monkeypatch.setattr(worker.robot_pool, "verdicts", never_answer)
    automatic = [asyncio.create_task(worker.analysis_pool.analyse_when_idle(finished_game(n, "testa"))) for n in (1, 2)]
    while worker.analysis_pool.automatic < 2:
        await asyncio.sleep(0)
    assert await worker.analysis_pool.analyse(finished_game(3, "testa")) == ([], 0)
    await worker.update_metrics()
    pending_counts = {kind: value("buongioco_analyses_pending", kind=kind) for kind in ("requested", "automatic")}
    assert pending_counts == {"requested": 1, "automatic": 2}
    worker.analysis_pool.stop()
    await asyncio.wait(automatic)
