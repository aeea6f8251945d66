"""Restoring a store from a backup.

A worker trusts its own memory, so a restore is refused while workers are alive. The store's layout gets its version at
the end, so no worker starts before all is written.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bot.backup.file import BadBackup, Header, Line, check_backup, decode_bytes, ignore_progress, read_lines
from bot.backup.taking import TABLES
from bot.delivery.message_state import UNKNOWN, decode_state, encode_state
from bot.store import Store, StoreError, keys, schema
from bot.store.leases import require_no_workers
from bot.store.log import unfold
from bot.store.migrations import MIGRATIONS
from bot.store.naming import people_in
from bot.tables import Room
from bot.tables.table import Table

BATCH_SIZE = 500  # commands sent together


async def restore(
    client: Any, path: Path, *, replace: bool, alone: bool = False, on_read: Callable[[int], None] = ignore_progress
) -> Header:
    """Fill a store from a backup, migrate it to this version's layout, and return the backup's header.

    The whole file is checked before the store is touched. StoreError if the store holds data and ``replace`` is False,
    or if it has workers. ``alone`` skips the check for workers. ``on_read`` gets progress in bytes, twice the file's
    size in all. BadBackup for a bad file, OSError for an unreadable one.
    """
    header, _ = check_backup(path, on_read)
    if header.schema not in (*MIGRATIONS, keys.SCHEMA_VERSION):
        raise BadBackup(f"its layout has version {header.schema}, but this Buongioco reads up to {keys.SCHEMA_VERSION}")
    await schema.check_server(client)
    if not alone:
        await require_no_workers(client)
    if not replace and await _has_data(client):
        raise StoreError("The store is not empty. Add --replace to delete all of it first.")
    await client.set(keys.SCHEMA, schema.RESTORING)
    await _delete_all(client)
    async with _StoreWriter(client) as writing:
        for number, line in enumerate(read_lines(path, on_read), 2):
            try:
                await writing.add(line)
            except (ValueError, KeyError, TypeError) as error:
                raise BadBackup(f"line {number}: {error}") from error
    for step in range(header.schema, keys.SCHEMA_VERSION):
        await MIGRATIONS[step](client)
    await _list_tables(Store(client))
    # Last, so that an interrupted restore is noticed.
    await client.set(keys.SCHEMA, keys.SCHEMA_VERSION)
    return header


async def _list_tables(store: Store) -> None:
    """Rebuild the lists that follow from the tables' logs. Those in the backup were read at another moment."""
    lists = Room(store).lists
    async for key in store.client.scan_iter(match=TABLES, count=BATCH_SIZE):
        code = key.decode().rpartition(":")[2]
        try:
            table = Table.from_log(code, await store.load(code))
        except ValueError:
            continue
        for person in people_in(table.log.entries):
            await store.client.sadd(keys.named(person), code)
        if not table.error:
            await lists.restore_entries(table)


async def _has_data(client: Any) -> bool:
    async for key in client.scan_iter(count=BATCH_SIZE):
        if key.decode() not in (keys.SCHEMA, keys.WORKERS):
            return True
    return False


async def _delete_all(client: Any) -> None:
    """Delete all keys but the layout's version, which keeps workers away."""
    doomed: list[bytes] = []
    async for key in client.scan_iter(count=BATCH_SIZE):
        doomed += [key] if key.decode() != keys.SCHEMA else []
        if len(doomed) >= BATCH_SIZE:
            await _unlink(client, doomed)
            doomed = []
    await _unlink(client, doomed)


async def _unlink(client: Any, doomed: Iterable[bytes]) -> None:
    async with client.pipeline(transaction=False) as pipe:
        for key in doomed:
            pipe.unlink(key)
        await pipe.execute()


class _StoreWriter:
    """Writes a backup's lines to the store, in batches of commands."""

    def __init__(self, client: Any) -> None:
        self._pipe = client.pipeline(transaction=False)

    async def __aenter__(self) -> "_StoreWriter":
        return self

    async def __aexit__(self, error: type[BaseException] | None, *_more: object) -> None:
        if error is None:
            await self._pipe.execute()

    async def add(self, line: Line) -> None:
        match next(iter(line)):
            case "table":
                self._add_table(line)
            case "game":
                self._add_game(line)
            case _:
                self._add_key(line)
        if len(self._pipe) >= BATCH_SIZE:
            await self._pipe.execute()

    def _add_table(self, line: Line) -> None:
        code, log = line["table"], list(map(decode_bytes, line["log"]))
        shard = keys.shard_of(code)
        # A cluster's client can send a batch twice, so clear the log first.
        self._pipe.delete(keys.table(code))
        self._pipe.rpush(keys.table(code), *log)
        shown = {name: _mark_unknown(decode_bytes(text).decode()) for name, text in line["shown"]}
        if shown:
            self._pipe.hset(keys.shown(code), mapping=shown)
        if line["timer"] is not None:
            self._pipe.zadd(keys.timers(shard), {code: line["timer"]})
        try:
            version = unfold(log).version
        except ValueError:
            version = 1  # an unreadable table, which the bot will set aside
        # The bot then shows the whole table again.
        self._pipe.zadd(keys.changed(shard), {code: version})

    def _add_game(self, line: Line) -> None:
        self._pipe.set(keys.game(line["game"]), decode_bytes(line["stored"]))
        self._pipe.zadd(keys.GAMES_ORDER, {line["game"]: line["number"]})

    def _add_key(self, line: Line) -> None:
        kind, value = next(iter(line)), line["value"]
        key = line[kind]
        match kind:
            case "string":
                self._pipe.set(key, decode_bytes(value))
            case "list":
                self._pipe.delete(key)
                self._pipe.rpush(key, *map(decode_bytes, value))
            case "set":
                self._pipe.sadd(key, *map(decode_bytes, value))
            case "hash":
                self._pipe.hset(key, mapping={decode_bytes(field): decode_bytes(text) for field, text in value})
            case _:
                self._pipe.zadd(key, {decode_bytes(member): float(score) for member, score in value})
        if "expires" in line:
            self._pipe.pexpireat(key, line["expires"])


def _mark_unknown(text: str) -> str:
    """Mark a surface's shown panel as unknown, because its chat can have changed since the backup."""
    return encode_state(decode_state(text)._replace(digest=UNKNOWN))
