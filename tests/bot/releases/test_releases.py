"""Stores of all releases load, and people continue their games."""

import asyncio
import json
import signal
import sys
from random import Random
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.finished.ratings import Scope
from bot.store import EmbeddedStore, keys, layout_version, open_store
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, Player, open_worker
from tests.bot.releases.store import load_recording, restore_keys, restore_platform
from tests.long import long

LAYOUTS = range(1, keys.SCHEMA_VERSION)
PEOPLE = ("Anna", "Bruno", "Carla", "Dino")


async def check_tables(worker: Worker, recording: dict[str, Any]) -> None:
    """Check that the recorded facts hold for the loaded tables."""
    for code, facts in recording["tables"].items():
        table = await worker.room.table(code)
        game = table.game
        assert table.version == facts["version"]
        assert (table.game_id, table.phase, list(table.hosts)) == (facts["game"], facts["phase"], facts["hosts"])
        assert [list(chair) if chair else None for chair in table.chairs] == facts["chairs"]
        assert {str(seat): list(chair) for seat, chair in table.asking.items()} == facts["asking"]
        assert [table.clock, table.strict, table.alarm] == facts["clock"]
        if game:
            rules = game.kind.rules.complete(facts["rules"])
            assert (game.turn, list(game.totals), game.rules.model_dump()) == (facts["turn"], facts["totals"], rules)
            assert [game.legal_moves(seat) for seat in range(game.kind.seats)] == facts["legal"]
            assert json.loads(game.record().to_json()) == facts["record"] | {"rules": rules}
    for person, standing in recording["standings"].items():
        assert (await worker.ratings.standing(Scope(), person)).to_text() == standing
    assert await worker.archive.count() == recording["games"]


@pytest.mark.parametrize("layout", LAYOUTS)
async def test_every_release_store_loads_and_its_buttons_work(embedded: EmbeddedStore, layout: int) -> None:
    recording = load_recording(layout)
    async with Redis.from_url(embedded.url) as client:
        await restore_keys(client, recording["keys"])
    async with open_store(embedded.url) as store:
        fake = restore_platform(recording["shown"])
        # A reposted message would be edited again after the restart, so nothing is reposted.
        async with open_worker(store, fake, ring_after=1e9) as worker:
            await check_tables(worker, recording)
            players = [Player(worker, fake, name, number) for number, name in enumerate(PEOPLE, 1)]
            codes = await _play_each_hand(recording, players)
            assert len(codes) > 10
            await worker.wait_until_idle()
            for code in codes:
                assert (await worker.room.table(code)).version > recording["tables"][code]["version"], code
            # Lists of tables are complete, and open challenges can be accepted.
            assert len(await worker.room.lists.tables_of("paper:1")) > 10
            await players[1].press("Accept", "paper:200")  # the label in the recording
            [table] = await worker.room.lists.tables_at("paper:200")
            assert table.phase == "playing"
            assert (await players[0].say("/leaderboard", GROUP)).panel


async def _play_each_hand(recording: dict[str, Any], players: list[Player]) -> list[str]:
    """Make one move with a recorded button at each table that has one; return the codes of these tables."""
    random, codes = Random(1), []
    for code, facts in recording["tables"].items():
        if facts["phase"] != "playing":
            continue
        player = players[int(facts["chairs"][facts["turn"]][0].partition(":")[2]) - 1]
        buttons = [
            (message, button)
            for message, panel in player.fake.messages[player.private].items()
            for row in panel.rows
            for button in row
            if button.payload.startswith(f"1m{code}:")
        ]
        if not buttons:
            continue
        codes.append(code)
        message, button = random.choice(buttons)
        # The test's own update keys might already be in the recording.
        reply = await player.send(button.payload, player.private, message, key=f"new {code}")
        assert not reply.toast, (code, button, reply.toast)
    return codes


async def test_migrated_first_release_logs_name_all_rules(embedded: EmbeddedStore) -> None:
    recording = load_recording(1)
    async with Redis.from_url(embedded.url) as client:
        await restore_keys(client, recording["keys"])
    async with open_store(embedded.url) as store:
        for code, facts in recording["tables"].items():
            deals = [entry for entry in (await store.load(code)).entries if entry.startswith(b"deal ")]
            if facts["rules"] is None:
                assert not deals
                continue
            fields = deals[0].partition(b"\t")[0].decode().split(" ")
            assert fields[2] == "1"
            assert fields[3:] == [f"{name}={str(value).lower()}" for name, value in facts["rules"].items()]
            assert all(deal.partition(b"\t")[0].count(b" ") == 1 for deal in deals[1:])


@pytest.mark.long
@pytest.mark.parametrize(("attempts", "tables"), [(1, 50), long(30, 1500)])
async def test_migration_continues_after_a_kill(embedded: EmbeddedStore, attempts: int, tables: int) -> None:
    recording = load_recording(1)
    random = Random(2)
    async with Redis.from_url(embedded.url) as client:
        await restore_keys(client, [*recording["keys"], *_copy_tables(recording["keys"], tables)])
        kills = 0
        for _ in range(attempts):
            old_lock = await client.get(layout_version.LOCK)
            # Run the first part of a start in its own process.
            process = await asyncio.create_subprocess_exec(sys.executable, "-c", START, embedded.url)
            await _wait_until_begun(client, old_lock)
            # A fast machine can finish within the longest pause, so the first kill comes at once.
            await asyncio.sleep(random.uniform(0, 0.3) if kills else 0)
            if process.returncode is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
            await process.wait()
            if await client.get(keys.SCHEMA) != b"1":
                break
        assert kills > attempts // 10
    async with open_store(embedded.url) as store:
        async with open_worker(store, restore_platform(recording["shown"])) as worker:
            await check_tables(worker, recording)
        assert not [key async for key in store.client.scan_iter("seated:*", _type="set")]


START = """
import asyncio, sys
from bot.store import open_store
from bot.store import layout_version
# The next start waits this long after a kill.
layout_version.LOCK_SECONDS = 2.0
async def start():
    async with open_store(sys.argv[1]):
        pass
asyncio.run(start())
"""


async def _wait_until_begun(client: Any, old_lock: object) -> None:
    """Wait until the new start has the lock, or the migration is finished."""
    while await client.get(layout_version.LOCK) in (None, old_lock) and await client.get(keys.SCHEMA) == b"1":
        await asyncio.sleep(0.01)


def _copy_tables(recorded: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """Return copies of the tables under new codes, which make the migration slower."""
    logs = [entry for entry in recorded if ":table:" in entry["key"]]
    lists = [entry for entry in recorded if entry["key"].startswith("seated:")]
    return [
        *({**logs[n % len(logs)], "key": keys.table(f"MORE{n:04}")} for n in range(number)),
        *({**lists[n % len(lists)], "key": keys.tables_of_person(f"paper:{1000 + n}")} for n in range(number)),
    ]
