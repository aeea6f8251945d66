"""Whole games on a cluster: with one worker, and with three while primaries die."""

import asyncio
from contextlib import AsyncExitStack
from random import Random

import pytest

from benchmarks.cluster import LocalCluster
from bot.store import Store, keys, open_store
from engine import verify
from tests.bot.fake_platform import GROUP, FakePlatform, code_of, open_worker, play_until, seat_players
from tests.bot.worker.test_games import shortest_target
from tests.long import mostly_long

pytestmark = pytest.mark.xdist_group("cluster")


@pytest.mark.parametrize("game", mostly_long(["metamazzo", "testa", "tavolo"], "testa"))
async def test_whole_game_can_be_played_on_a_cluster(cluster_store: Store, game: str) -> None:
    fake = FakePlatform()
    async with open_worker(cluster_store, fake) as worker:
        players = await seat_players(worker, fake, game, *shortest_target(game))
        await play_until(
            worker,
            players.copy(),
            Random(game),
            lambda: "Rematch" in str([panel.rows for panel in fake.messages[GROUP].values()]),
        )
        assert not [key async for key in cluster_store.client.scan_iter("{s*}:table:*")]
        [finished] = [game async for game in worker.archive.games()]
        verify(finished.record)
        await players[0].say("/leaderboard")
        assert (await worker.ratings.rebuild()).games == 1
        await players[0].dispatcher.move_chat(GROUP, "paper:200")
        assert (await worker.check_health())["healthy"]


@pytest.mark.long
async def test_three_workers_play_on_during_failover(cluster: LocalCluster) -> None:
    """Presses go to random workers. Each acknowledged move is made once, and the last hand offers the legal plays."""
    await asyncio.to_thread(cluster.clear)
    fake, random = FakePlatform(), Random(1)
    async with AsyncExitStack() as stack:
        workers = []
        for _ in range(3):
            store = await stack.enter_async_context(open_store(cluster.url, replicas=1))
            workers.append(await stack.enter_async_context(open_worker(store, fake, alone=False)))
        players = await seat_players(workers[0], fake, "metamazzo")
        code = await code_of(workers[0], players[0])

        acknowledged = 0
        failover: asyncio.Task[None] | None = None
        async with asyncio.timeout(90):
            while acknowledged < 30:
                if acknowledged == 10 and failover is None:
                    failover = asyncio.create_task(fail_over(cluster, code))
                for player in players:
                    worker = random.choice(workers)
                    for message, button in player.moves()[:1]:
                        player.dispatcher.worker = worker
                        reply = await player.send(button.payload, player.private, message)
                        acknowledged += not reply.toast
                await asyncio.sleep(0.01)
        assert failover
        await failover

        log = (await workers[0].store.load(code)).entries
        stamps = [entry.partition(b"\t")[2] for entry in log if entry[:1].isdigit() and b"\t" in entry]
        assert len(stamps) == len(set(stamps))
        assert sum(entry[:1].isdigit() for entry in log) >= acknowledged

        async with asyncio.timeout(30):
            while await workers[0].store.changed_tables(range(keys.SHARDS)):
                await asyncio.sleep(0.1)
        table = await workers[0].room.table(code)
        assert table.game
        assert table.game.turn is not None
        legal = {move for move in table.game.legal_moves(table.game.turn) if move.count(" ") == 1}
        offered = {button.payload.split(":", 2)[2] for _, button in players[table.game.turn].moves()}
        assert {move for move in legal if move.startswith("play")} <= offered


async def fail_over(cluster: LocalCluster, code: str) -> None:
    """Kill the primary of a table and restart it as a replica."""
    primary = await asyncio.to_thread(cluster.primary_of, keys.table(code))
    replica = await asyncio.to_thread(cluster.replica_of, primary)
    await asyncio.to_thread(primary.kill)
    while not await asyncio.to_thread(lambda: replica.is_primary):
        await asyncio.sleep(0.05)
    await asyncio.to_thread(primary.start)
    await asyncio.to_thread(cluster.wait_until_healthy)
