"""What the store has to hear of though it is away: groups that move, chats that can be written to again."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from structlog.testing import capture_logs

from bot.delivery.message_state import State
from bot.delivery.names import Board
from bot.house import House
from bot.store import EmbeddedStore, outage, retries, store
from bot.store.outage import Outage
from bot.store.retries import RetryQueue
from bot.store.store import opened
from tests.bot.house.test_outage import process_of, until_well
from tests.bot.paper import GROUP, Paper, Player, code_of, open_house, seated

ELSEWHERE = "paper:777"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "ANSWER_SECONDS", 0.4)
    monkeypatch.setattr(store, "COMMIT_SECONDS", 0.8)
    monkeypatch.setattr(outage, "PROBE_SECONDS", 0.05)


@asynccontextmanager
async def away(embedded: EmbeddedStore, house: House) -> AsyncIterator[None]:
    """While the store is down; it is started again behind that."""
    os.kill(process_of(embedded), signal.SIGKILL)
    yield
    keeper = asyncio.create_task(embedded.keep())
    await until_well(house)
    keeper.cancel()
    await asyncio.wait([keeper])


@asynccontextmanager
async def at_table(embedded: EmbeddedStore) -> AsyncIterator[tuple[House, Paper, list[Player], str]]:
    paper = Paper(knows_keys=False)
    async with opened(embedded.url) as there, open_house(there, paper) as house:
        players = await seated(house, paper, "metamazzo")
        yield house, paper, players, await code_of(house, players[0])


async def test_a_group_that_moves_while_the_store_is_away_takes_its_board_along(embedded: EmbeddedStore) -> None:
    async with at_table(embedded) as (house, paper, players, code):
        desk, tasks = players[0].desk, len(asyncio.all_tasks())
        with capture_logs() as logs:
            async with away(embedded, house):
                # However often it is told, and whether somebody waits for it or not.
                told = [desk.move_chat(GROUP, ELSEWHERE) for _ in range(500)]
                waiting = asyncio.ensure_future(told[-1])
                await asyncio.sleep(0.3)
                assert not waiting.done()
                assert len(asyncio.all_tasks()) <= tasks + 5
            async with asyncio.timeout(20):
                await asyncio.gather(*told)
                assert (await house.room.table(code)).hosts == (ELSEWHERE,)
                while not paper.messages[ELSEWHERE]:
                    await asyncio.sleep(0.01)
        assert "Metà" in paper.last(ELSEWHERE).plain
        said = [line["event"] for line in logs]
        assert said.count("store_away") == said.count("store_back") == 1
        assert not [line for line in logs if "exc_info" in line or line["event"] == "work_dropped"]


async def test_a_chat_that_is_back_while_the_store_is_away_gets_its_board(embedded: EmbeddedStore) -> None:
    async with at_table(embedded) as (house, paper, players, code):
        board = next(one for one in house.delivery._tables[code].surfaces if isinstance(one.name, Board))
        assert board.give_up(GROUP) is State.DROPPED
        paper.messages[GROUP].clear()
        async with away(embedded, house):
            told = players[0].desk.back_in_chat(GROUP)
            await asyncio.sleep(0.2)
            assert not paper.messages[GROUP]
        async with asyncio.timeout(20):
            await told
            while not paper.messages[GROUP]:
                await asyncio.sleep(0.01)


async def test_what_waits_is_bounded_done_in_order_and_a_fault_of_ours_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retries, "MOST_WAITING", 3)

    async def probe() -> None:
        return

    queue, done = RetryQueue(Outage(probe)), list[int]()

    async def work(number: int) -> None:
        if number == 1:
            raise ValueError
        done.append(number)

    with capture_logs() as logs:
        told = [queue.add(f"work {number}", partial(work, number)) for number in range(10)]
        told.append(queue.add("work 2", partial(work, 2)))
        await asyncio.gather(*told)
    assert done == [0, 2]
    assert [line["event"] for line in logs] == ["work_dropped"] * 7 + ["work_failed"]
    await queue.add("work 0", partial(work, 0))
    assert done == [0, 2, 0]
    await queue.stop()
