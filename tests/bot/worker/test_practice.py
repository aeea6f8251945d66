"""Tables with robots."""

import asyncio
from random import Random

import pytest
import structlog

from bot.concurrency.processes import ProcessDied
from bot.robots.names import STAND_IN_LEVEL
from bot.store import Store, keys
from bot.store.entries import Move, decode
from bot.store.log import strip_stamp
from bot.tables.clock import COME_BACK_SECONDS
from tests.bot.fake_platform import GROUP, FakePlatform, Player, code_of, open_worker, seat_players
from tests.bot.test_hints import start_practice, wait_for_turn
from tests.tricks import tricks_played


async def test_stop_while_a_robot_thinks_logs_no_error(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fake, thinking, stopped = FakePlatform(), asyncio.Event(), asyncio.Event()

    async def move(*_args: object) -> str:
        """Think until the pool stops. This stands for `seeded_move`, which can think for seconds."""
        thinking.set()
        await stopped.wait()
        raise ProcessDied

    with structlog.testing.capture_logs() as logs:
        async with open_worker(store, fake) as worker:
            monkeypatch.setattr(worker.robot_pool, "move", move)
            stop = worker.robot_pool.stop

            def stop_pool() -> None:
                stopped.set()
                stop()

            monkeypatch.setattr(worker.robot_pool, "stop", stop_pool)
            anna, random = await start_practice(worker, fake), Random(1)
            while not thinking.is_set():
                await anna.play(random)
                await asyncio.sleep(0.01)
        await worker.alarms.wait_until_idle()
    assert [line for line in logs if line["log_level"] == "error"] == []


async def test_strong_robot_plays(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await start_practice(worker, fake)
        [table] = await worker.room.lists.tables_of(anna.person.id)
        assert [chair.person for chair in table.chairs if chair] == ["paper:1", "robot:strong"]
        random = Random(1)
        async with asyncio.timeout(60):
            while tricks_played(fake.last(GROUP).plain) < 4:
                await anna.play(random)
                await asyncio.sleep(0.01)
                await worker.wait_until_idle()


async def test_robot_in_a_persons_seat_says_nothing_about_the_hand(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "tressette")
        table = await worker.room.table(await code_of(worker, players[0]))
        assert table.game
        assert table.game.turn is not None
        busso = next(move for move in table.game.legal_moves(table.game.turn) if move.endswith(" busso"))

        async def move(*_: object) -> str:
            return busso

        monkeypatch.setattr(worker.robot_pool, "move", move)
        table = await worker.alarms.play_for(table, STAND_IN_LEVEL)
        made = [decode(strip_stamp(entry).decode()) for entry in table.log.entries[-2:]]
        assert [entry.move for entry in made if isinstance(entry, Move)] == [busso.removesuffix(" busso")]


async def test_abandoned_practice_game_is_cancelled(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = await start_practice(worker, fake, robots=("Easy",))
        [table] = await worker.room.lists.tables_of(anna.person.id)
        await wait_for_turn(worker, anna)
        seconds = await store.leases.clock_rings_in(table.code)
        assert seconds is not None
        assert 0 <= COME_BACK_SECONDS - seconds < 60

        # The player's time runs out.
        timers = keys.timers(keys.shard_of(table.code))
        await store.client.zadd(timers, {table.code: 0})
        await worker.alarms.poll()
        async with asyncio.timeout(20):
            while await worker.room.lists.tables_of(anna.person.id):
                await asyncio.sleep(0.01)
        await worker.wait_until_idle()
        assert "The game was cancelled." in "".join(anna.fake.texts(GROUP))
        remaining = {key.decode() async for key in store.client.scan_iter(f"*{table.code}")}
        assert remaining <= {keys.tombstone(table.code), keys.removed_log(table.code)}
        [game] = [game async for game in worker.archive.games()]
        assert not game.is_rated


async def test_new_deal_waits_until_the_player_goes_on(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, random = await start_practice(worker, fake, robots=("Easy",)), Random(1)
        async with asyncio.timeout(60):
            while "Go on" not in labels(anna):
                await anna.play(random)
                await asyncio.sleep(0.01)
                await worker.wait_until_idle()
            await wait_for_turn(worker, anna)
            await worker.wait_until_idle()
            # The hand is not shown when the robot leads.
            assert labels(anna) == ["Go on"]
            assert fake.last(anna.private).plain.startswith("Deal 1: ")
            message, go_on = anna.button("Go on", anna.private)
            await anna.press("Go on")
            assert "This deal: you 0, " in fake.last(anna.private).plain
            await anna.say("/resign", anna.private)
            await anna.press("No, play on")
            assert "Go on" not in labels(anna)
            await anna.play(random)
            await worker.wait_until_idle()
        assert "Go on" not in labels(anna)
        assert "expired" in (await anna.send(go_on.payload, anna.private, message)).toast


def labels(player: Player) -> list[str]:
    return [button.label for row in player.fake.last(player.private).rows for button in row]
