"""`buongioco tables` and the doctor's lines about tables, with and without a running bot."""

import asyncio
from pathlib import Path
from random import Random
from typing import Any

from bot.delivery.message_state import MessageState, decode_state, encode_state
from bot.features.tournaments import keys as tournament_keys
from bot.features.tournaments.feature import TournamentsFeature
from bot.features.tournaments.store import Tournaments
from bot.store import EmbeddedStore, keys, open_store
from bot.store.log import add_stamp
from tests.bot.command import run_command
from tests.bot.fake_platform import GROUP, FakePlatform, Player, code_of, mover_of, open_worker, seat_players


async def run_and_read(folder: Path, *words: str, code: int = 0) -> str:
    answer = await asyncio.to_thread(run_command, folder, *words, BUONGIOCO_PLAYGROUND_PORT="0")
    assert answer.returncode == code, answer.stderr
    return answer.stdout + answer.stderr


async def test_tables_command_works_while_the_bot_runs(tmp_path: Path, embedded: EmbeddedStore) -> None:
    async with open_store(embedded.url) as store:
        fake = FakePlatform()
        async with open_worker(store, fake) as worker:
            players = await seat_players(worker, fake, "metamazzo")
            playing_code = await code_of(worker, players[0])
            secret = next(entry for entry in (await store.load(playing_code)).entries if entry.startswith(b"deal "))
            await Player(worker, fake, "Carla", 3).say("/challenge testa", "paper:200")
            [open_code] = [table.code for table in await worker.room.lists.tables_of("paper:3")]

            # The test holds the lock of the folder, like a running bot.
            output = await run_and_read(tmp_path, "tables")
            assert f"{playing_code}  playing" in output
            assert "Anna, Bruno" in output
            assert f"{open_code}  open" in output
            assert "age unknown" not in output
            assert "2 tables" in output
            assert playing_code not in await run_and_read(tmp_path, "tables", "--state", "open")
            details = await run_and_read(tmp_path, "tables", "show", playing_code.lower())
            assert "seat 0: Anna (paper:1)" in details
            assert "target=51" in details
            assert secret.split(b" ")[1].decode() not in details
            assert "There’s no table QQQQ" in await run_and_read(tmp_path, "tables", "show", "QQQQ", code=2)
            assert "--yes skips this question" in await run_and_read(tmp_path, "tables", "close", playing_code, code=1)
            for code in (playing_code, open_code):
                assert f"table {code} is ended" in await run_and_read(tmp_path, "tables", "close", code, "--yes")
            for code in (playing_code, open_code):
                worker.delivery.touch(code, reload=True)
            await worker.wait_until_idle()
            assert "cancelled" in fake.last(GROUP).plain
            assert "withdrawn" in fake.last("paper:200").plain
            assert not await worker.room.lists.tables_of("paper:1")
            [game] = [game async for game in worker.archive.games()]
            assert (game.record.ending, game.is_rated) == ("cancelled", False)


async def test_idle_time_counts_from_last_press(tmp_path: Path, embedded: EmbeddedStore) -> None:
    async with open_store(embedded.url) as store:
        fake = FakePlatform()
        async with open_worker(store, fake) as worker:
            players = await seat_players(worker, fake, "testa")
            old_code = await code_of(worker, players[0])
            # The stored times are moved back by three days after the worker stops.
            await worker.wait_until_idle()
        states = {name: decode_state(text) for name, text in (await store.load_shown(old_code)).items()}
        assert all(state.seen_at for state in states.values() if state.message)

        def encode_aged(state: MessageState) -> str:
            return encode_state(state._replace(seen_at=state.seen_at - 3 * 86400 - 60 * bool(state.seen_at)))

        await store.client.hset(
            keys.message_states(old_code), mapping={name: encode_aged(state) for name, state in states.items()}
        )
        async with open_worker(store, fake) as worker:
            carla = Player(worker, fake, "Carla", 3)
            await carla.say("/challenge testa", "paper:200")
            new_code = await code_of(worker, carla)
            await carla.say("/tables")
        for _ in range(2):
            output_lines = (await run_and_read(tmp_path, "tables")).splitlines()
            assert [line.split()[0] for line in output_lines] == [old_code, new_code, "2"]
            assert "idle 3 days" in output_lines[0]
            assert "idle 3 days" not in output_lines[1]
        assert "1 table" in await run_and_read(tmp_path, "tables", "--idle", "2d")
        assert new_code not in await run_and_read(tmp_path, "tables", "--idle", "2d")
        assert "is not a duration" in await run_and_read(tmp_path, "tables", "--idle", "long", code=2)
        async with open_worker(store, fake) as worker:
            mover = mover_of(players)
            await Player(worker, fake, mover.person.name, int(mover.person.id[6:])).play(Random(1))
            await worker.wait_until_idle()
        assert "idle 3 days" not in await run_and_read(tmp_path, "tables")


async def test_unreadable_table_is_named_and_can_be_closed(tmp_path: Path) -> None:
    valkey = EmbeddedStore(tmp_path / "data")
    await valkey.start()
    async with open_store(valkey.url) as store:
        fake = FakePlatform()
        async with open_worker(store, fake) as worker:
            players = await seat_players(worker, fake, "metamazzo")
            code = await code_of(worker, players[0])
            await store.append(code, await store.load(code), [add_stamp("conquer 3", "broken")])
            worker.delivery.touch(code, reload=True)
            await worker.wait_until_idle()
    await valkey.stop()
    assert f"{code} cannot be read" in await run_and_read(tmp_path, "doctor", code=1)
    details = await run_and_read(tmp_path, "tables", "show", code)
    assert "cannot be read: entry" in details
    assert "conquer 3" in details
    assert f"table {code} was unreadable and is deleted" in await run_and_read(
        tmp_path, "tables", "close", code, "--yes"
    )
    assert "cannot be read" not in await run_and_read(tmp_path, "doctor")
    assert "0 tables" in await run_and_read(tmp_path, "tables")
    await valkey.start()
    async with open_store(valkey.url) as store:
        remaining_keys: list[Any] = [key async for key in store.client.scan_iter(f"*{code}*")]
        assert remaining_keys == [keys.tombstone(code).encode()]
        assert not await store.index.entries("seated:paper:1")
    await valkey.stop()


async def test_unreadable_tournament_is_listed_and_called_off(tmp_path: Path, embedded: EmbeddedStore) -> None:
    async with open_store(embedded.url) as store:
        fake = FakePlatform()
        async with open_worker(store, fake) as worker:
            await Player(worker, fake, "Anna", 1).say("/tournament testa")
            [code] = await worker.feature(TournamentsFeature).director.tournaments.live_codes()
            assert "There’s no table" in await run_and_read(tmp_path, "tables", "close", code, "--yes", code=2)
            await store.client.rpush(tournament_keys.log(code), add_stamp("newer 1 2", "x"))
            report = await asyncio.to_thread(run_command, tmp_path, "doctor", BUONGIOCO_PLAYGROUND_PORT="0")
            assert f"tournaments: {code} cannot be read" in report.stdout
            output = await run_and_read(tmp_path, "tables")
            assert f"{code}  unreadable" in output
            assert "0 tables\n1 tournament\n" in output
            assert code not in await run_and_read(tmp_path, "tables", "--state", "open")
            assert "--yes skips this question" in await run_and_read(tmp_path, "tables", "close", code, code=1)
            assert f"tournament {code} is called off" in await run_and_read(tmp_path, "tables", "close", code, "--yes")
            assert (await Tournaments(store).load(code)).phase == "cancelled"
            assert "tournament" not in await run_and_read(tmp_path, "tables")
