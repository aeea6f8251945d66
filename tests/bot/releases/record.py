"""Record a store of this release as test data. Every later release must load it.

    python -m tests.bot.releases.record layout1.json.gz

The tables cover every game and stage: open challenges, first and later deals, nudged and flagged clocks, rated games.
The file holds every key of the store, the messages on the fake platform and the facts of each table.
Run it in a checkout of the release to record.
"""

import argparse
import asyncio
import gzip
import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from bot.finished.ratings import Scope
from bot.platform import Person
from bot.store import EmbeddedStore, Store, open_store
from bot.worker import Worker
from engine import GAMES
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker, play_until, seat_players

SKIPPED_ENDINGS = (b"workers", b":owner", b":attended", b"schema:lock")  # keys that only a running bot has


async def dump_keys(store: Store) -> list[dict[str, Any]]:
    """Return every lasting key with its value. Bytes are decoded as Latin-1, one character each."""
    entries = []
    async for key in store.client.scan_iter():
        if key.endswith(SKIPPED_ENDINGS) or b":ended:" in key:
            continue
        kind = (await store.client.type(key)).decode()
        value: Any
        if kind == "string":
            value = decode_text(await store.client.get(key))
        elif kind == "list":
            value = [decode_text(item) for item in await store.client.lrange(key, 0, -1)]
        elif kind == "hash":
            value = {decode_text(name): decode_text(item) for name, item in (await store.client.hgetall(key)).items()}
        elif kind == "set":
            value = sorted(decode_text(item) for item in await store.client.smembers(key))
        else:
            value = {decode_text(name): score for name, score in await store.client.zrange(key, 0, -1, withscores=True)}
        entries.append({"key": decode_text(key), "type": kind, "value": value})
    return sorted(entries, key=lambda item: str(item["key"]))


def decode_text(value: bytes) -> str:
    return value.decode("latin-1")


async def collect_facts(worker: Worker, people: list[str]) -> dict[str, Any]:
    """Return the facts of each table that must be equal after loading."""
    tables: dict[str, Any] = {}
    for person in people:
        for table in await worker.room.lists.tables_of(person):
            game = table.game
            tables[table.code] = {
                "game": table.game_id,
                "phase": table.phase,
                "version": table.version,
                "chairs": [list(chair) if chair else None for chair in table.chairs],
                "asking": {str(seat): list(chair) for seat, chair in table.asking.items()},
                "hosts": list(table.hosts),
                "clock": [table.clock, table.strict, table.alarm],
                "turn": game.turn if game else None,
                "totals": list(game.totals) if game else None,
                "rules": game.rules.model_dump() if game else None,
                "legal": [game.legal_moves(seat) for seat in range(game.kind.seats)] if game else None,
                "record": json.loads(game.record().to_json()) if game else None,
            }
    standings = {person: (await worker.ratings.standing(Scope(), person)).to_text() for person in people}
    return {"tables": tables, "standings": standings, "games": await worker.archive.count()}


async def play_moves(worker: Worker, players: list[Player], random: Random, presses: int) -> None:
    for _ in range(presses):
        for player in random.sample(players, len(players)):
            if await player.play(random):
                await worker.wait_until_idle()
                break


async def open_live_tables(worker: Worker, fake: FakePlatform, random: Random) -> None:
    """Begin games, play some for a few deals, and open challenges in separate groups."""
    for game in GAMES:
        for presses in (2, 60):
            players = await seat_players(worker, fake, game, *(["no clock"] if presses == 60 else []))
            await play_moves(worker, players, random, presses)
    anna, bruno, carla = (
        Player(worker, fake, name, number) for number, name in enumerate(("Anna", "Bruno", "Carla"), 1)
    )
    await anna.say("/challenge testa", "paper:200")
    await anna.say("/challenge @dora pizzichino", "paper:300", about=(Person("", "dora", "Dora"),))
    await anna.press("Change", "paper:300")
    await anna.press("to 21", "paper:300")
    await anna.say("/challenge tavolo", "paper:400")
    await bruno.press("Sit North", "paper:400")
    await carla.press("Sit East", "paper:400")
    await carla.say("/challenge tressette", "paper:500")
    await carla.press("Add robot", "paper:500")
    await carla.press("🤖 Easy", "paper:500")
    await anna.say("/challenge spades", "paper:600")
    [code] = [table.code for table in await worker.room.lists.tables_at("paper:600")]
    await bruno.say(f"/join {code}", "paper:700")


async def finish_games(worker: Worker, fake: FakePlatform, random: Random) -> None:
    for game, count in (("testa", 3), ("metamazzo", 1), ("tressette", 1), ("spades", 1)):
        for _ in range(count):
            players = await seat_players(worker, fake, game)
            if count > 1:
                await play_until(
                    worker,
                    players.copy(),
                    random,
                    lambda: any(" won " in text for text in fake.texts(GROUP)[-2:]),
                )
            else:
                await play_moves(worker, players, random, 10)
                await players[-1].say("/resign")
                await players[-1].press("Yes, I resign")
            fake.messages.clear()


async def record_store() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        embedded = EmbeddedStore(Path(folder))
        await embedded.start()
        try:
            async with open_store(embedded.url) as store:
                fake, random = FakePlatform(), Random(1)
                async with open_worker(store, fake) as worker:
                    await finish_games(worker, fake, random)
                    await open_live_tables(worker, fake, random)
                    await worker.wait_until_idle()
                    await asyncio.sleep(0.5)
                    facts = await collect_facts(worker, [f"paper:{number}" for number in range(1, 5)])
                panels = {
                    place: {
                        number: {
                            "text": [list(span) for span in panel.text],
                            "rows": [[list(button) for button in row] for row in panel.rows],
                        }
                        for number, panel in panels.items()
                    }
                    for place, panels in fake.messages.items()
                }
                return {"keys": await dump_keys(store), "shown": panels, **facts}
        finally:
            await embedded.stop()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("out", type=Path)
    output = options.parse_args().out
    recorded = asyncio.run(record_store())
    output.write_bytes(gzip.compress(json.dumps(recorded, indent=0).encode(), 9, mtime=0))
    print(f"{len(recorded['keys'])} keys, {len(recorded['tables'])} tables, {output.stat().st_size} bytes")  # noqa: T201


if __name__ == "__main__":
    main()
