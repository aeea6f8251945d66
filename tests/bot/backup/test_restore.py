"""Backups of every kind of data, and files and stores that a restore refuses."""

import base64
import gzip
import hashlib
import json
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.backup.file import BadBackup, Header, check_backup, open_writer
from bot.backup.restoring import restore
from bot.backup.taking import BackupTaker
from bot.store import Store, StoreError, keys, layout_version
from bot.tables import Room
from bot.tables.chairs import Invited
from bot.tables.challenges import Challenges
from tests.bot.backup.test_playing_on import read_store, write_backup
from tests.bot.finished.games import finished_game, store_game
from tests.long import mostly_long


async def fill_store(store: Store) -> None:
    """Write keys of every type and size, and tables that are readable, unreadable and damaged."""
    client = store.client
    for number in range(1, 8):
        await store_game(store, finished_game(number))
    await client.set("handle:discord:lock", "discord:1")
    await client.set("handle:discord:confirmed", "discord:2")
    await client.set("bytes", bytes(range(256)))
    await client.set("text", 'perché "no"\n\t\u2028 \x00')
    await client.set("empty", b"")
    await client.set("analysis:x", "[]", ex=5000)
    await client.rpush("list", "a", b"\xff", "a")
    await client.hset("hash", mapping={f"field {number}": f"value {number}" for number in range(3000)})
    await client.hset("hash", b"\xfe", b"\xfd")
    await client.sadd("set", *range(5000), b"\xff")
    await client.zadd("zset", {f"member {number}": number / 7 for number in range(3000)} | {b"\xff": -1e300})
    await store.append(
        "TBLE", await store.load("TBLE"), [b"open testa paper:1 Anna\t1", b"sit 0 paper:1 Anna\t1"], clock=17.5
    )
    await store.append("NONE", await store.load("NONE"), [b"what is this\t1"])
    await store.client.rpush(keys.table("TORN"), b"3 \xff\xff damaged")
    await store.save_shown("TBLE", {"c0": "3\tdigest\ttag"}, None)
    await client.zadd(keys.WORKERS, {"long ago": 1})


# Seats and names are rebuilt from the logs.
FROM_LOGS = {"seated:paper:1": {b"TBLE": b"0.log"}, "named:paper:1": {b"TBLE"}}


async def test_restore_brings_back_the_whole_store(any_store: Store, tmp_path: Path) -> None:
    store = any_store
    await fill_store(store)
    before = await read_store(store)
    await write_backup(store, tmp_path / "backup")
    await store.client.flushall()
    await restore(store.client, tmp_path / "backup", replace=False)
    after = await read_store(store)
    assert after == {**before, **FROM_LOGS}
    assert 4000 < await store.client.ttl("analysis:x") <= 5000
    assert not await store.client.exists(keys.WORKERS)
    # Every table is synced again, and no message is assumed unchanged.
    assert await store.changed_tables(range(keys.SHARDS)) == {"TBLE": 2, "NONE": 1, "TORN": 1}
    assert await store.load_shown("TBLE") == {"c0": "3\t\ttag"}


async def test_backup_is_a_gzip_of_json_lines(store: Store, tmp_path: Path) -> None:
    await fill_store(store)
    await write_backup(store, tmp_path / "backup")
    assert stat.S_IMODE((tmp_path / "backup").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name != "data"] == ["backup"]
    backup_lines = [json.loads(line) for line in gzip.decompress((tmp_path / "backup").read_bytes()).splitlines()]
    assert backup_lines[0] == {"format": "buongioco-backup/1", "schema": keys.SCHEMA_VERSION, "begun": 0}
    assert backup_lines[-1]["end"] == len(backup_lines) - 1
    [table] = [line for line in backup_lines if line.get("table") == "TBLE"]
    assert table["log"] == ["0 ", "open testa paper:1 Anna\t1", "sit 0 paper:1 Anna\t1"]
    assert table["timer"] == 17.5
    [binary] = [line for line in backup_lines if line.get("string") == "bytes"]
    assert base64.b64decode(binary["value"]["base64"]) == bytes(range(256))


def cut_in_half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def drop_end(data: bytes) -> bytes:
    return gzip.compress(b"".join(gzip.decompress(data).splitlines(keepends=True)[:-1]))


def drop_a_line(data: bytes) -> bytes:
    backup_lines = gzip.decompress(data).splitlines(keepends=True)
    return gzip.compress(b"".join([*backup_lines[:3], *backup_lines[4:]]))


def change_a_line(data: bytes) -> bytes:
    return gzip.compress(gzip.decompress(data).replace(b'"value 7"', b'"value 8"'))


def append_data(data: bytes) -> bytes:
    return data + gzip.compress(b'{"string":"more","value":"x"}\n')


def raise_layout(data: bytes) -> bytes:
    lines = gzip.decompress(data).splitlines(keepends=True)
    return compress_lines([lines[0].replace(b'"schema":2', b'"schema":3'), *lines[1:-1]])


def add_unknown_type(data: bytes) -> bytes:
    lines = gzip.decompress(data).splitlines(keepends=True)
    return compress_lines([*lines[:-1], b'{"stream":"x","value":[]}\n'])


def change_format(data: bytes) -> bytes:
    return gzip.compress(gzip.decompress(data).replace(b"buongioco-backup/1", b"buongioco-backup/9"))


def compress_lines(lines: list[bytes]) -> bytes:
    """Compress the lines with a correct last line."""
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    return gzip.compress(b"".join([*lines, json.dumps({"end": len(lines), "sha256": digest}).encode() + b"\n"]))


def break_checksum(data: bytes) -> bytes:
    """Change gzip's checksum of the contents."""
    return data[:-8] + bytes([data[-8] ^ 255]) + data[-7:]


def zero_bytes(data: bytes) -> bytes:
    """Zero 100 bytes. A single changed byte might leave the decompressed data the same."""
    return data[:300] + bytes(100) + data[400:]


DAMAGES: list[Callable[[bytes], bytes]] = [
    cut_in_half,
    drop_end,
    drop_a_line,
    change_a_line,
    append_data,
    raise_layout,
    add_unknown_type,
    change_format,
    lambda data: data[:-1],
    break_checksum,
    zero_bytes,
    lambda _: b"",
    lambda _: b"REDIS0011",
    lambda _: gzip.compress(b"hello\n"),
    lambda _: gzip.compress(b"[" * 100_000),
    lambda _: gzip.compress(b'{"format":"buongioco/1"}\n'),
]


@pytest.mark.parametrize("damage", mostly_long(DAMAGES, cut_in_half, change_a_line, raise_layout, break_checksum))
async def test_damaged_backup_changes_nothing(store: Store, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    await fill_store(store)
    await write_backup(store, tmp_path / "good")
    (tmp_path / "bad").write_bytes(damage((tmp_path / "good").read_bytes()))
    before = await read_store(store)
    with pytest.raises(BadBackup):
        await restore(store.client, tmp_path / "bad", replace=True)
    assert await read_store(store) == before


async def test_full_store_is_replaced_only_on_request(store: Store, tmp_path: Path) -> None:
    await fill_store(store)
    await write_backup(store, tmp_path / "backup")
    before = await read_store(store)
    await store.client.set("person:new", "x")
    with pytest.raises(StoreError, match="--replace"):
        await restore(store.client, tmp_path / "backup", replace=False)
    assert await store.client.exists("person:new")
    await restore(store.client, tmp_path / "backup", replace=True)
    assert await read_store(store) == {**before, **FROM_LOGS}


async def test_running_workers_prevent_a_restore(store: Store, tmp_path: Path) -> None:
    """Running workers would overwrite the restored store with what they hold in memory."""
    await write_backup(store, tmp_path / "backup")
    await store.client.zadd(keys.WORKERS, {"one": time.time() - 3, "two": time.time() - 4, "dead": 5})
    with pytest.raises(StoreError, match="2 workers are running"):
        await restore(store.client, tmp_path / "backup", replace=True)


async def test_old_server_prevents_a_restore(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await write_backup(store, tmp_path / "backup")
    monkeypatch.setattr(layout_version, "SERVER_VERSION", "return '6.2.7'")
    with pytest.raises(StoreError, match="needs Redis 7"):
        await restore(store.client, tmp_path / "backup", replace=True)
    assert await store.client.get(keys.SCHEMA) == str(keys.SCHEMA_VERSION).encode()


@pytest.mark.parametrize("step", ["_add_table", "_list_tables"])
async def test_unfinished_restore_blocks_bots_and_can_be_repeated(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    await fill_store(store)
    await write_backup(store, tmp_path / "backup")
    before = await read_store(store)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"bot.backup.restoring.{step}", interrupt)
        with pytest.raises(KeyboardInterrupt):
            await restore(store.client, tmp_path / "backup", replace=True)
    with pytest.raises(StoreError, match="restore FILE --replace"):
        await layout_version.check(store.client)
    await restore(store.client, tmp_path / "backup", replace=True)
    assert await read_store(store) == {**before, **FROM_LOGS}


async def test_old_backup_is_migrated(store: Store, tmp_path: Path) -> None:
    for number in (1, 2, 3):
        await store_game(store, finished_game(number))
    await store.client.delete(keys.GAMES_COUNTER)
    with open_writer(tmp_path / "backup", Header(1, 0)) as write:
        await BackupTaker(store.client, write).take()
    await store.client.flushall()
    await restore(store.client, tmp_path / "backup", replace=False)
    assert await store.client.get(keys.SCHEMA) == str(keys.SCHEMA_VERSION).encode()
    assert await store.client.get(keys.GAMES_COUNTER) == b"3"


async def test_restore_interrupted_in_a_migration_is_unfinished(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_writer(tmp_path / "backup", Header(1, 0)) as write:
        await BackupTaker(store.client, write).take()

    async def interrupt(_client: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bot.backup.restoring.MIGRATIONS", {1: interrupt})
    with pytest.raises(KeyboardInterrupt):
        await restore(store.client, tmp_path / "backup", replace=True)
    with pytest.raises(StoreError, match="restore FILE --replace"):
        await layout_version.check(store.client)


async def test_backup_keeps_people_of_a_table_removed_meanwhile(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Room(store)
    challenges = Challenges(room)
    take_tables, take_games = BackupTaker._take_tables, BackupTaker._take_games
    codes: list[str] = []

    async def add_table_first(taking: BackupTaker) -> None:
        invited = Invited("paper:2", "bea", "Bea")
        table = await challenges.open_table("testa", "paper:1", "Anna", "u1", host="paper:100", invited=invited)
        codes.append(table.code)
        await take_tables(taking)

    async def remove_table_first(taking: BackupTaker, rated: int) -> None:
        await room.remove(await challenges.cancel(codes[0], "paper:1", "u2"))
        await take_games(taking, rated)

    monkeypatch.setattr(BackupTaker, "_take_tables", add_table_first)
    monkeypatch.setattr(BackupTaker, "_take_games", remove_table_first)
    await write_backup(store, tmp_path / "backup")
    await restore(store.client, tmp_path / "backup", replace=True)
    for person in ("paper:1", "paper:2"):
        assert await store.client.smembers(keys.tables_naming(person)) == {codes[0].encode()}


def test_failed_backup_keeps_the_previous_file(tmp_path: Path) -> None:
    (tmp_path / "backup").write_bytes(b"previous backup")

    def fail_while_writing() -> None:
        with open_writer(tmp_path / "backup", Header(2, 0)) as write:
            write({"string": "x", "value": "y"})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_while_writing()
    assert [path.name for path in tmp_path.iterdir()] == ["backup"]
    assert (tmp_path / "backup").read_bytes() == b"previous backup"
    with open_writer(tmp_path / "backup", Header(2, 0)) as write:
        write({"string": "x", "value": "y"})
    assert check_backup(tmp_path / "backup") == (Header(2, 0), 1)
