"""Saving states: at once after a send, batched after edits, and no loss goes unnoticed."""

import asyncio
from typing import Any

import pytest
from redis.exceptions import ConnectionError  # noqa: A004

from bot.delivery import state_writer
from bot.delivery.names import Hand
from bot.delivery.state_writer import StateWriter
from bot.delivery.surface import Change
from bot.delivery.table_sync import TableSync

HOME, WORKER = "p:@0", "worker"


class Notes:
    """A fake store that lists the states it saved. It can fail or be slow."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.error: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.stuck: set[str] = set()  # codes of tables; a write for them waits until they leave this set
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
        self.told.append((code, set(texts), version))

    async def mark_changed(self, code: str, version: int, worker: str) -> None:
        assert worker == WORKER
        self.told.append((code, "to be shown", version))


class Writer:
    """A writer, its store, and the codes of tables that lost a state."""

    def __init__(self) -> None:
        self.notes = Notes()
        self.lost: list[str] = []
        self.writer = StateWriter(self.notes, WORKER, self.lost.append)  # type: ignore[arg-type]

    async def settled(self) -> None:
        async with asyncio.timeout(10):
            while self.writer.task and not self.writer.task.done():
                self.writer.flush()
                await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def _nothing_goes_out_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_writer, "GATHER_SECONDS", 3600.0)


def changed(code: str) -> TableSync:
    """A table with one unsaved hand."""
    sync = TableSync(code)
    change(sync)
    return sync


def change(sync: TableSync) -> None:
    sync.surface(Hand(0), HOME).apply(Change(pressed="7", genuine=True), HOME, len(sync.code))


async def test_delayed_writes_are_batched_with_the_latest_version() -> None:
    one = Writer()
    first, second = changed("A"), changed("B")
    one.writer.write_soon(first, 1)
    one.writer.write_soon(second, 5)
    one.writer.write_soon(first, 2)
    await asyncio.sleep(0)
    assert one.notes.told == []
    await one.settled()
    assert one.notes.told == [("A", {"h0"}, 2), ("B", {"h0"}, 5)]
    # The next batch starts empty, and saved states are not saved again.
    one.writer.write_soon(first, 3)
    await asyncio.sleep(0)
    assert len(one.notes.told) == 2
    await one.settled()
    assert one.notes.told[2:] == [("A", set(), 3)]


async def test_delayed_write_is_sent_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_writer, "GATHER_SECONDS", 0.001)
    one = Writer()
    one.writer.write_soon(changed("A"), 1)
    assert one.writer.task
    async with asyncio.timeout(10):
        await one.writer.task
    assert one.notes.told == [("A", {"h0"}, 1)]


async def test_states_added_during_a_write_follow_it() -> None:
    one = Writer()
    one.notes.gate.clear()
    one.writer.write_soon(changed("A"), 1)
    one.writer.flush()
    for _ in range(5):
        await asyncio.sleep(0)
    one.writer.write_soon(changed("B"), 2)
    one.notes.gate.set()
    await one.settled()
    assert one.notes.told == [("A", {"h0"}, 1), ("B", {"h0"}, 2)]


async def test_write_now_saves_no_version() -> None:
    one = Writer()
    await one.writer.write_now(changed("A"))
    assert one.notes.told == [("A", {"h0"}, None)]


async def test_failed_write_reports_its_tables_and_keeps_states() -> None:
    one = Writer()
    one.notes.error = ConnectionError("away")
    tables = [changed("A"), changed("B")]
    for sync in tables:
        one.writer.write_soon(sync, 1)
    await one.settled()
    assert one.lost == ["A", "B"]
    assert one.notes.outages == [one.notes.error]
    assert [set(sync.take_unsaved()) for sync in tables] == [{Hand(0)}] * 2


async def test_write_now_raises_and_can_be_retried() -> None:
    one, sync = Writer(), changed("A")
    one.notes.error = ConnectionError("away")
    with pytest.raises(ConnectionError):
        await one.writer.write_now(sync)
    assert one.lost == []
    one.notes.error = None
    await one.writer.write_now(sync)
    assert one.notes.told == [("A", {"h0"}, None)]


async def test_incomplete_mark_is_written_last_and_alone() -> None:
    one, sync, other = Writer(), changed("A"), changed("B")
    one.notes.gate.clear()
    one.writer.write_soon(sync, 1)
    one.writer.flush()
    for _ in range(5):
        await asyncio.sleep(0)
    # Version 1 is being written. Version 2 and another table wait.
    change(sync)
    one.writer.write_soon(sync, 2)
    one.writer.write_soon(other, 7)
    telling = asyncio.create_task(one.writer.write_incomplete(sync, 2))
    await asyncio.sleep(0)
    one.notes.gate.set()
    async with asyncio.timeout(10):
        await telling
    await one.settled()
    of_a = [told for told in one.notes.told if told[0] == "A"]
    assert of_a == [("A", {"h0"}, 1), ("A", set(), None), ("A", "to be shown", 2)]
    assert ("B", {"h0"}, 7) in one.notes.told
    # Without a write in progress there is no wait.
    idle = Writer()
    await idle.writer.write_incomplete(changed("A"), 3)
    assert idle.notes.told == [("A", {"h0"}, None), ("A", "to be shown", 3)]


async def test_mark_waits_for_no_other_tables() -> None:
    """On a busy bot, other tables are always being written."""
    one = Writer()
    one.notes.stuck = {"B"}
    one.writer.write_soon(changed("B"), 7)
    one.writer.flush()
    for _ in range(5):
        await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await one.writer.write_incomplete(changed("A"), 2)
    assert one.notes.told == [("A", {"h0"}, None), ("A", "to be shown", 2)]
    one.notes.stuck = set()
    await one.settled()
    assert one.notes.told[2:] == [("B", {"h0"}, 7)]
