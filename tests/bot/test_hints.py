"""Hints in practice: one legal card and a reason at a time."""

import asyncio

import pytest

from bot.robots import pool as robot_pool
from bot.robots.pool import RobotPool
from bot.store import Store
from bot.tables.table import Table
from bot.worker import Worker
from engine import View
from engine.robots.findings import Hint
from tests.bot.fake_platform import GROUP, FakePlatform, Player, create_players, open_worker, resign, seat_players


async def start_practice(
    worker: Worker, fake: FakePlatform, game: str = "testa", robots: tuple[str, ...] = ("Strong",)
) -> Player:
    anna = create_players(worker, fake)[0]
    await anna.say(f"/challenge {game}")
    await anna.press("Add robot", GROUP)
    for level in robots:
        await anna.press(f"🤖 {level}", GROUP)
    return anna


async def wait_for_turn(worker: Worker, player: Player) -> int:
    """Wait for the player's turn and return their panel's version."""
    async with asyncio.timeout(60):
        while True:
            [table] = await worker.room.lists.tables_of(player.person.id)
            seat = table.seat_of(player.person.id)
            assert seat is not None
            assert table.game
            if table.game.turn == seat:
                await worker.settled()
                return max(table.moved_at[seat], table.dealt_at)
            await asyncio.sleep(0.01)


async def test_hint_names_a_legal_card_and_why(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robot_pool, "HINT_SECONDS", 90.0)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await start_practice(worker, fake, robots=("Easy",))
        await wait_for_turn(worker, anna)
        toast = (await anna.press("Hint")).toast
        assert toast.startswith("💡 ")
        assert len(toast) <= 200
        # Cards have a word joiner before the suit. A hint can also be a declaration.
        move = toast.removeprefix("💡 ").split(":")[0].replace("\u2060", "")
        labels = [button.label for _, button in anna.moves()]
        assert move in [f"Declare {label[2:]}" if label.startswith("📣 ") else f"Play {label}" for label in labels]


async def test_same_decision_gives_the_same_single_hint(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    may_answer, calls = asyncio.Event(), 0

    async def hint(_pool: RobotPool, view: View, _history: object) -> Hint:
        nonlocal calls
        calls += 1
        await may_answer.wait()
        return Hint(next(move for move in view.moves if move.startswith("play ")), "only")

    monkeypatch.setattr(RobotPool, "hint", hint)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await start_practice(worker, fake, robots=("Easy",))
        [table] = await worker.room.lists.tables_of(anna.person.id)
        version = await wait_for_turn(worker, anna)
        payload = f"1t{table.code}:hint {version}"
        presses = [asyncio.create_task(anna.send(payload)) for _ in range(5)]
        presses[0].cancel()
        other = await worker.challenges.open_practice("testa", anna.person.id, "Anna", "easy", "another")
        other = await wait_for_seat(worker, other.code, 0)
        assert "busy" in (await anna.send(f"1t{other.code}:hint {other.oldest_panel(0)}")).toast
        may_answer.set()
        assert len({(await press).toast for press in presses[1:]}) == 1
        assert (await anna.send(payload)).toast.startswith("💡 ")
        assert calls == 1
        assert (await anna.send(f"1t{other.code}:hint {other.oldest_panel(0)}")).toast.startswith("💡 ")
        assert calls == 2


async def wait_for_seat(worker: Worker, code: str, seat: int) -> Table:
    async with asyncio.timeout(20):
        while not (table := await worker.room.table(code)).game or table.game.turn != seat:
            await asyncio.sleep(0.01)
    return table


async def test_hints_need_practice_and_a_current_panel(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await start_practice(worker, fake, robots=("Easy",))
        [table] = await worker.room.lists.tables_of(anna.person.id)
        version = await wait_for_turn(worker, anna)
        bruno = create_players(worker, fake)[1]
        assert "have no seat" in (await bruno.send(f"1t{table.code}:hint {version}")).toast
        assert (await anna.send(f"1t{table.code}:hint {version + 7}")).toast
        assert "💡" not in (await anna.send(f"1t{table.code}:hint {version + 7}")).toast
        await resign(worker, fake, [anna], 0)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "testa")
        for player in players:
            assert "Hint" not in str(fake.last(player.private).rows)
        [table] = await worker.room.lists.tables_of(players[0].person.id)
        assert table.game
        mover = players[table.game.turn or 0]
        assert "practice" in (await mover.send(f"1t{table.code}:hint 0")).toast
