"""Saving states: at once after a send, batched after edits. Every lost state is reported."""

import asyncio
from typing import Any

import pytest
from redis.exceptions import ConnectionError  # noqa: A004

from bot.delivery import state_writer
from bot.delivery.state_writer import StateWriter
from bot.delivery.surface import Change
from bot.delivery.surface_names import Hand
from bot.delivery.table_sync import TableSync

HOME, WORKER = "p:@0", "worker"


class FakeStore:
    """A fake store that lists the states it saved. It can fail or be slow."""

    def __init__(self) -> None:
        self.saved: list[Any] = []
        self.error: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.stuck: set[str] = set()  # codes of tables whose writes wait
        self.outage = self
        self.outages: list[Exception] = []

    def begin(self, error: Exception) -> None:
        self.outages.append(error)

    async def save_shown(self, code: str, texts: dict[str, str], version: int | None, worker: str) -> None:
        await self.gate.wait()
        while code in self.stuck:
            await asyncio.sleep(0)
        if self.error:
            raise self.error
        assert worker == WORKER
        self.saved.append((code, set(texts), version))

    async def mark_changed(self, code: str, version: int, worker: str) -> None:
        assert worker == WORKER
        self.saved.append((code, "to be shown", version))


class Writer:
    """A writer, its store, and the codes of tables that lost a state."""

    def __init__(self) -> None:
        self.store = FakeStore()
        self.tables_with_losses: list[str] = []
        self.writer = StateWriter(self.store, WORKER, self.tables_with_losses.append)  # type: ignore[arg-type]

    async def wait_until_idle(self) -> None:
        async with asyncio.timeout(10):
            while self.writer.task and not self.writer.task.done():
                self.writer.flush()
                await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def _no_automatic_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_writer, "GATHER_SECONDS", 3600.0)


def changed_table(code: str) -> TableSync:
    """Return a table with one unsaved hand."""
    sync = TableSync(code)
    change(sync)
    return sync


def change(sync: TableSync) -> None:
    sync.surface(Hand(0), HOME).apply(Change(pressed="7", genuine=True), HOME, len(sync.code))


async def test_delayed_writes_are_batched_with_the_latest_version() -> None:
    setup = Writer()
    first, second = changed_table("A"), changed_table("B")
    setup.writer.write_soon(first, 1)
    setup.writer.write_soon(second, 5)
    setup.writer.write_soon(first, 2)
    await asyncio.sleep(0)
    assert setup.store.saved == []
    await setup.wait_until_idle()
    assert setup.store.saved == [("A", {"h0"}, 2), ("B", {"h0"}, 5)]
    # The next batch starts empty, and saved states are not saved again.
    setup.writer.write_soon(first, 3)
    await asyncio.sleep(0)
    assert len(setup.store.saved) == 2
    await setup.wait_until_idle()
    assert setup.store.saved[2:] == [("A", set(), 3)]


async def test_delayed_write_is_sent_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_writer, "GATHER_SECONDS", 0.001)
    setup = Writer()
    setup.writer.write_soon(changed_table("A"), 1)
    assert setup.writer.task
    async with asyncio.timeout(10):
        await setup.writer.task
    assert setup.store.saved == [("A", {"h0"}, 1)]


async def test_states_added_during_a_write_follow_it() -> None:
    setup = Writer()
    setup.store.gate.clear()
    setup.writer.write_soon(changed_table("A"), 1)
    setup.writer.flush()
    for _ in range(5):
        await asyncio.sleep(0)
    setup.writer.write_soon(changed_table("B"), 2)
    setup.store.gate.set()
    await setup.wait_until_idle()
    assert setup.store.saved == [("A", {"h0"}, 1), ("B", {"h0"}, 2)]


async def test_write_now_saves_no_version() -> None:
    setup = Writer()
    await setup.writer.write_now(changed_table("A"))
    assert setup.store.saved == [("A", {"h0"}, None)]


async def test_failed_write_reports_its_tables_and_keeps_states() -> None:
    setup = Writer()
    setup.store.error = ConnectionError("away")
    tables = [changed_table("A"), changed_table("B")]
    for sync in tables:
        setup.writer.write_soon(sync, 1)
    await setup.wait_until_idle()
    assert setup.tables_with_losses == ["A", "B"]
    assert setup.store.outages == [setup.store.error]
    assert [set(sync.take_unsaved()) for sync in tables] == [{Hand(0)}] * 2


async def test_write_now_raises_and_can_be_retried() -> None:
    setup, sync = Writer(), changed_table("A")
    setup.store.error = ConnectionError("away")
    with pytest.raises(ConnectionError):
        await setup.writer.write_now(sync)
    assert setup.tables_with_losses == []
    setup.store.error = None
    await setup.writer.write_now(sync)
    assert setup.store.saved == [("A", {"h0"}, None)]


async def test_incomplete_mark_is_written_last_and_alone() -> None:
    setup, sync, other = Writer(), changed_table("A"), changed_table("B")
    setup.store.gate.clear()
    setup.writer.write_soon(sync, 1)
    setup.writer.flush()
    for _ in range(5):
        await asyncio.sleep(0)

    # Version 1 is being written. Version 2 and another table wait.
    change(sync)
    setup.writer.write_soon(sync, 2)
    setup.writer.write_soon(other, 7)
    marking = asyncio.create_task(setup.writer.write_incomplete(sync, 2))
    await asyncio.sleep(0)
    setup.store.gate.set()
    async with asyncio.timeout(10):
        await marking
    await setup.wait_until_idle()
    saved_of_a = [saved for saved in setup.store.saved if saved[0] == "A"]
    assert saved_of_a == [("A", {"h0"}, 1), ("A", set(), None), ("A", "to be shown", 2)]
    assert ("B", {"h0"}, 7) in setup.store.saved

    # Without a write in progress there is no wait.
    idle = Writer()
    await idle.writer.write_incomplete(changed_table("A"), 3)
    assert idle.store.saved == [("A", {"h0"}, None), ("A", "to be shown", 3)]


async def test_mark_waits_for_no_other_tables() -> None:
    """On a busy bot, other tables are always being written."""
    setup = Writer()
    setup.store.stuck = {"B"}
    setup.writer.write_soon(changed_table("B"), 7)
    setup.writer.flush()
    for _ in range(5):
        await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await setup.writer.write_incomplete(changed_table("A"), 2)
    assert setup.store.saved == [("A", {"h0"}, None), ("A", "to be shown", 2)]
    setup.store.stuck = set()
    await setup.wait_until_idle()
    assert setup.store.saved[2:] == [("B", {"h0"}, 7)]
