"""Work that waits for the store: group migrations and chats that return."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from redis._parsers.base import BaseParser
from redis.exceptions import DataError, ResponseError
from structlog.testing import capture_logs

from bot.delivery.message_state import State
from bot.delivery.surface_names import Board
from bot.handlers.dispatcher import Dispatcher
from bot.store import EmbeddedStore, Store, keys, outage, retries
from bot.store.outage import Outage, is_temporary
from bot.store.retries import RetryQueue, WorkDropped, WorkFailed
from bot.store.store import open_store
from bot.tables.table import Table
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player, code_of, open_worker, seat_players
from tests.bot.worker.test_outage import store_process, wait_until_healthy

ELSEWHERE = "paper:777"
NONE = type(None)


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "PROBE_SECONDS", 0.05)


@asynccontextmanager
async def stop_store(embedded: EmbeddedStore, worker: Worker) -> AsyncIterator[None]:
    """Kill the store for the time of the block, and restart it afterwards."""
    os.kill(store_process(embedded), signal.SIGKILL)
    yield
    keeper = asyncio.create_task(embedded.keep_running())
    await wait_until_healthy(worker)
    keeper.cancel()
    await asyncio.wait([keeper])


@asynccontextmanager
async def open_table(embedded: EmbeddedStore) -> AsyncIterator[tuple[Worker, FakePlatform, list[Player], str]]:
    fake = FakePlatform(knows_keys=False)
    async with open_store(embedded.url) as store, open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        yield worker, fake, players, await code_of(worker, players[0])


async def test_group_migration_during_an_outage_moves_the_board(embedded: EmbeddedStore) -> None:
    async with open_table(embedded) as (worker, fake, players, code):
        dispatcher, tasks = players[0].dispatcher, len(asyncio.all_tasks())
        with capture_logs() as logs:
            async with stop_store(embedded, worker):
                # The migration is reported many times, with and without a caller that waits.
                migrations = [dispatcher.move_chat(GROUP, ELSEWHERE) for _ in range(500)]
                migration = asyncio.ensure_future(migrations[-1])
                await asyncio.sleep(0.3)
                assert not migration.done()
                assert len(asyncio.all_tasks()) <= tasks + 5
            async with asyncio.timeout(20):
                await asyncio.gather(*migrations)
                assert (await worker.room.table(code)).hosts == (ELSEWHERE,)
                while not fake.messages[ELSEWHERE]:
                    await asyncio.sleep(0.01)
        assert "Metà" in fake.last(ELSEWHERE).plain
        events = [line["event"] for line in logs]
        assert events.count("store_failed") == events.count("store_recovered") == 1
        assert not [line for line in logs if "exc_info" in line or line["event"] == "work_dropped"]


async def test_chat_returning_during_an_outage_gets_its_board(embedded: EmbeddedStore) -> None:
    async with open_table(embedded) as (worker, fake, players, code):
        board = worker.delivery._tables[code].get(Board(1, 0))
        assert board
        assert board.give_up(GROUP) is State.DROPPED
        fake.messages[GROUP].clear()
        async with stop_store(embedded, worker):
            refresh = players[0].dispatcher.refresh_chat(GROUP)
            await asyncio.sleep(0.2)
            assert not fake.messages[GROUP]
        async with asyncio.timeout(20):
            await refresh
            while not fake.messages[GROUP]:
                await asyncio.sleep(0.01)


async def test_retry_queue_is_bounded_and_ordered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "MAX_WAITING", 3)

    async def probe() -> None:
        return

    queue, completed = RetryQueue(Outage(probe)), list[int]()

    async def work(number: int) -> None:
        if number == 1:
            raise ValueError
        completed.append(number)

    with capture_logs() as logs:
        futures = [queue.add(f"work {number}", partial(work, number)) for number in range(10)]
        futures.append(queue.add("work 2", partial(work, 2)))
        results = await asyncio.gather(*futures, return_exceptions=True)
    assert completed == [0, 2]
    assert [line["event"] for line in logs] == ["work_dropped", "work_failed"]
    assert [type(result) for result in results] == [NONE, WorkFailed, NONE, *[WorkDropped] * 7, NONE]
    await queue.add("work 0", partial(work, 0))
    assert completed == [0, 2, 0]
    await queue.stop()


def _parse_error(text: str) -> Exception:
    """Return the exception that the client makes of the server's error."""
    error = BaseParser.parse_error(text)  # type: ignore[no-untyped-call]
    assert isinstance(error, Exception)
    return error


TEMPORARY_ERRORS = [
    "OOM command not allowed when used memory > 'maxmemory'.",
    "MISCONF Errors writing to the AOF file: No space left on device",
    "READONLY You can't write against a read only replica.",
    "LOADING Redis is loading the dataset in memory",
    "CLUSTERDOWN The cluster is down",
    "TRYAGAIN Multiple keys request during rehashing of slot",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "NOREPLICAS Not enough good replicas to write.",
    "EXECABORT Transaction discarded because of: BUSY Redis is busy running a script",
]


@pytest.mark.parametrize("text", TEMPORARY_ERRORS, ids=lambda text: text.split()[0])
def test_temporary_store_errors_are_retried(text: str) -> None:
    assert is_temporary(_parse_error(text))
    assert is_temporary(ResponseError(f"Command # 1 (HSET buongioco:moved a b) of pipeline caused error: {text}"))


@pytest.mark.parametrize(
    "error",
    [
        _parse_error("WRONGTYPE Operation against a key holding the wrong kind of value"),
        _parse_error("ERR unknown command 'MISCONF'"),
        DataError("Invalid input of type: 'NoneType'"),
    ],
    ids=repr,
)
async def test_permanent_error_fails_only_its_own_work(error: Exception) -> None:
    async def probe() -> None:
        return

    queue, tries, completed = RetryQueue(Outage(probe)), list[str](), list[str]()

    async def fail() -> None:
        tries.append("poison")
        raise error

    async def succeed() -> None:
        completed.append("good")

    with capture_logs() as logs:
        async with asyncio.timeout(5):
            failing, succeeding = queue.add("poison", fail), queue.add("good", succeed)
            with pytest.raises(WorkFailed):
                await failing
            await succeeding
    assert (tries, completed) == (["poison"], ["good"])
    assert [(line["event"], "exc_info" in line) for line in logs] == [("work_failed", True)]
    await queue.stop()


async def test_group_migration_with_a_wrong_key_type_fails(embedded: EmbeddedStore) -> None:
    async with open_store(embedded.url) as store, open_worker(store, FakePlatform()) as worker:
        await store.client.set(keys.MOVED, "no hash")
        with capture_logs() as logs, pytest.raises(WorkFailed):
            async with asyncio.timeout(5):
                await Dispatcher(worker).move_chat(GROUP, ELSEWHERE)
    assert [line["event"] for line in logs if line["log_level"] == "error"] == ["work_failed"]


async def test_ended_table_does_not_block_other_boards(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        for _ in range(3):
            await anna.say("/challenge testa")
        fake.closed.add(GROUP)
        for table in await worker.room.lists.tables_at(GROUP):
            await worker.challenges.sit(table.code, "paper:2", "Bruno", f"sits {table.code}")
        await worker.wait_until_idle()
        tables = await worker.room.lists.tables_at(GROUP)
        boards = [worker.delivery._tables[table.code].get(Board(1, 0)) for table in tables[1:]]
        assert [board and board.state for board in boards] == [State.DROPPED] * 2
        fake.closed.clear()

        async def tables_at(_chat: str) -> list[Table]:
            # The game ends before its board changes, and the worker does not have the table in memory.
            await worker.room.remove(tables[0])
            del worker.delivery._tables[tables[0].code]
            return tables

        monkeypatch.setattr(worker.room.lists, "tables_at", tables_at)
        await Dispatcher(worker).refresh_chat(GROUP)
        await worker.wait_until_idle()
        assert [board and board.state for board in boards] == [State.SHOWN] * 2
