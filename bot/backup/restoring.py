"""Restoring a store from a backup.

A restore is refused while workers are alive, because they trust what they have in memory. The layout's number is
written last, so no worker starts before the store is complete.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.backup.file import BadBackup, Header, Line, check_backup, decode_bytes, ignore_progress, read_lines
from bot.backup.taking import TABLES
from bot.delivery.message_state import UNKNOWN, decode_state, encode_state
from bot.store import Store, StoreError, keys, layout_version
from bot.store.leases import require_no_workers
from bot.store.log import unfold
from bot.store.migrations import MIGRATIONS
from bot.store.people_in_logs import people_in
from bot.tables import Room
from bot.tables.table import Table

BATCH_SIZE = 500  # commands sent together


async def restore(
    client: Any, path: Path, *, replace: bool, alone: bool = False, on_read: Callable[[int], None] = ignore_progress
) -> Header:
    """Fill a store from a backup, migrate it to this version's layout, and return the backup's header.

    The whole file is checked before the store is changed. ``alone`` skips the check for workers. ``on_read`` gets the
    number of bytes read since its last call; in all, twice the file's size. Raise StoreError if the store has workers,
    or if it holds data and ``replace`` is False. Raise BadBackup for a bad file, and OSError for an unreadable one.
    """
    header, _ = check_backup(path, on_read)
    if header.schema not in (*MIGRATIONS, keys.SCHEMA_VERSION):
        raise BadBackup(f"its layout has version {header.schema}, but this Buongioco reads up to {keys.SCHEMA_VERSION}")
    await layout_version.check_server(client)
    if not alone:
        await require_no_workers(client)
    if not replace and await _has_data(client):
        raise StoreError("The store is not empty. Add --replace to delete all of it first.")
    await client.set(keys.SCHEMA, layout_version.RESTORING)
    await _delete_all(client)
    pipe = client.pipeline(transaction=False)
    for number, line in enumerate(read_lines(path, on_read), 2):
        try:
            _add_line(pipe, line)
        except (ValueError, KeyError, TypeError) as error:
            raise BadBackup(f"line {number}: {error}") from error
        if len(pipe) >= BATCH_SIZE:
            await pipe.execute()
    await pipe.execute()
    for step in range(header.schema, keys.SCHEMA_VERSION):
        await MIGRATIONS[step](client)
    await _list_tables(Store(client))
    await client.set(keys.SCHEMA, keys.SCHEMA_VERSION)
    return header


async def _list_tables(store: Store) -> None:
    """Rebuild the lists that follow from the tables' logs. The backup read its lists before or after the logs."""
    lists = Room(store).lists
    async for key in store.client.scan_iter(match=TABLES, count=BATCH_SIZE):
        code = key.decode().rpartition(":")[2]
        try:
            table = Table.from_log(code, await store.load(code))
        except ValueError:
            continue
        for person in people_in(table.log.entries):
            await store.client.sadd(keys.tables_naming(person), code)
        if not table.error:
            await lists.restore_entries(table)


async def _has_data(client: Any) -> bool:
    async for key in client.scan_iter(count=BATCH_SIZE):
        if key.decode() not in (keys.SCHEMA, keys.WORKERS):
            return True
    return False


async def _delete_all(client: Any) -> None:
    """Delete all keys but the layout's number, which keeps workers away."""
    pipe = client.pipeline(transaction=False)
    async for key in client.scan_iter(count=BATCH_SIZE):
        if key.decode() != keys.SCHEMA:
            pipe.unlink(key)
        if len(pipe) >= BATCH_SIZE:
            await pipe.execute()
    await pipe.execute()


def _add_line(pipe: Any, line: Line) -> None:
    """Add the commands that write a backup's line to a pipeline."""
    kind = next(iter(line))
    key: str = line[kind]
    value: Any = line.get("value")
    match kind:
        case "table":
            _add_table(pipe, line)
        case "game":
            pipe.set(keys.game(line["game"]), decode_bytes(line["stored"]))
            pipe.zadd(keys.GAMES_ORDER, {line["game"]: line["number"]})
        case "string":
            pipe.set(key, decode_bytes(value))
        case "list":
            # A cluster's client can send a batch twice, so delete the list first.
            pipe.delete(key)
            pipe.rpush(key, *map(decode_bytes, value))
        case "set":
            pipe.sadd(key, *map(decode_bytes, value))
        case "hash":
            pipe.hset(key, mapping={decode_bytes(field): decode_bytes(text) for field, text in value})
        case "zset":
            pipe.zadd(key, {decode_bytes(member): float(score) for member, score in value})
    if "expires" in line:
        pipe.pexpireat(key, line["expires"])


def _add_table(pipe: Any, line: Line) -> None:
    code, log = line["table"], list(map(decode_bytes, line["log"]))
    shard = keys.shard_of(code)
    # A cluster's client can send a batch twice, so delete the log first.
    pipe.delete(keys.table(code))
    pipe.rpush(keys.table(code), *log)
    # The chats might have changed since the backup, so the panels on display are unknown.
    states = {name: decode_state(decode_bytes(text).decode()) for name, text in line["shown"]}
    if states:
        shown_states = {name: encode_state(state._replace(digest=UNKNOWN)) for name, state in states.items()}
        pipe.hset(keys.message_states(code), mapping=shown_states)
    if line["timer"] is not None:
        pipe.zadd(keys.timers(shard), {code: line["timer"]})
    try:
        version = unfold(log).version
    except ValueError:
        version = 1  # an unreadable table, which the bot will set aside
    # Mark the table as changed, so that the bot shows it again.
    pipe.zadd(keys.changed(shard), {code: version})
