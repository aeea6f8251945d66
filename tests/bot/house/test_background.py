"""What runs beside everything else outlives a fault, and says so."""

import asyncio
import json

import pytest
from structlog.testing import capture_logs

from bot import background
from bot.background import Loops
from bot.store import Store, keys
from tests.bot.paper import Paper, open_house


async def test_strange_words_of_other_workers_are_passed_over(store: Store) -> None:
    async with open_house(store, Paper(), alone=False) as house:
        forgotten = asyncio.Event()
        house.shards.on_forget = lambda _key: forgotten.set()
        while not await store.client.publish(keys.POKES, "[]"):
            await asyncio.sleep(0.005)
        await house.shards.share_out()
        with capture_logs() as logs:
            strange = [
                {"new_kind_of_word": 1},
                7,
                {"code": "ABCD", "name": "c0", "change": [1, 2, 3, 4, 5, 6, 7]},
                {"code": "ABCD", "name": "c0", "change": ["", None, False, "paper:1", False]},
                {"forget": "person:paper:1", "by": "another"},
            ]
            for text in ("no JSON", "7", json.dumps(strange)):
                await store.client.publish(keys.POKES, text)
            async with asyncio.timeout(5):
                await forgotten.wait()
            while house._told:
                await asyncio.wait(set(house._told))
        assert [entry["event"] for entry in logs].count("poke_not_understood") == 3
        assert [entry["event"] for entry in logs].count("poke_unreadable") == 2
        # Of a table that is not there.
        assert [entry["event"] for entry in logs].count("table_gone_meanwhile") == 1


async def test_a_loop_that_breaks_is_started_again_and_the_worker_unwell_meanwhile(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "RESTART_SECONDS", 0.01)
    monkeypatch.setattr(background, "STEADY_SECONDS", 0.05)
    async with open_house(store, Paper()) as house:
        runs = 0

        async def breaks_twice() -> None:
            nonlocal runs
            runs += 1
            if runs < 3:
                raise ValueError("broken")
            await asyncio.Event().wait()

        assert (await house.healthy())["healthy"]
        house._tasks.append(house._loops.start("leases", breaks_twice))
        with capture_logs() as logs:
            async with asyncio.timeout(5):
                while not house._loops.failing:
                    await asyncio.sleep(0)
                health = await house.healthy()
                assert not health["healthy"]
                assert health["failing_loops"] == ["leases"]
                while house._loops.failing:
                    await asyncio.sleep(0.01)
        assert runs == 3
        assert [entry["event"] for entry in logs] == ["loop_broke"] * 2
        assert (await house.healthy())["healthy"]


async def test_a_loop_that_is_cancelled_stays_so() -> None:
    loops = Loops()
    task = loops.start("one", asyncio.Event().wait)  # type: ignore[arg-type]
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not loops.failing
