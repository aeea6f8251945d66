"""The store's layout number, and the migration of older layouts."""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import structlog
from redis.exceptions import LockError

from bot.store import keys
from bot.store.folder import StoreError, StoreUnavailable
from bot.store.leases import JOIN_SECONDS, require_no_workers
from bot.store.lua import read_script
from bot.store.migrations import MIGRATIONS, Migration
from bot.store.outage import STORE_ERRORS, describe_error, is_temporary

log = structlog.get_logger()

RESTORING = "restoring"  # value stored instead of the number while a backup is being restored

# The first Redis with all commands that the bot uses. Valkey reports the newer Redis with which it is compatible.
OLDEST_SERVER = (7, 0)

SERVER_VERSION = read_script(__file__, "server_version")

LOCK = f"{keys.SCHEMA}:lock"
LOCK_SECONDS = 30.0  # how long other workers wait for a killed one's migration; a live one renews its lock


async def check(
    client: Any,
    version: int = keys.SCHEMA_VERSION,
    migrations: Mapping[int, Migration] = MIGRATIONS,
    *,
    migrate: bool = True,
) -> None:
    """Bring the store to this version's layout, one migration at a time.

    Without ``migrate`` nothing is written, and an older layout raises StoreError, because a bot that uses it could be
    running. Raise StoreUnavailable if the store cannot be reached or workers of an older version are running. Raise
    StoreError if the store refuses commands, its server is too old, or its layout is unknown.
    """
    try:
        await check_server(client)
        if migrate:
            await client.set(keys.SCHEMA, version, nx=True)
        stored_number = await client.get(keys.SCHEMA)
        if stored_number == RESTORING.encode():
            raise StoreError(
                "A backup is being restored into the store. If that was interrupted, run `buongioco restore FILE "
                "--replace` again."
            )
        # A store without a number is new.
        layout = version if stored_number is None else int(stored_number)
        if layout < version and all(step in migrations for step in range(layout, version)):
            if not migrate:
                raise StoreError(
                    f"The store has layout {layout} of an older version, and this version needs layout {version}: stop "
                    "every worker of the bot, and start this version first."
                )
            await _migrate(client, version, migrations)
            layout = int(await client.get(keys.SCHEMA))
    except LockError:
        raise StoreUnavailable("Another worker is migrating the store: start this one again afterwards.") from None
    except (*STORE_ERRORS, ValueError) as error:
        if not is_temporary(error):
            raise refusal_error(error) from None
        raise StoreUnavailable(
            f"The store cannot be reached ({type(error).__name__}): check that it runs and that REDIS_URL is right."
        ) from None
    if layout != version:
        raise StoreError(
            f"The store's layout is number {layout}, and this version of Buongioco knows number {version}: "
            "run the version that wrote it, or set REDIS_URL to another store."
        )


def refusal_error(error: BaseException) -> StoreError:
    """Return the StoreError for a refusal that is not temporary (`is_temporary`)."""
    return StoreError(
        f"The store refuses the bot's commands ({describe_error(error)}): allow the user in REDIS_URL every command, "
        "and use a store that holds no other program's data."
    )


async def check_server(client: Any) -> None:
    """Raise StoreError if the server is too old."""
    version = (await client.eval(SERVER_VERSION, 1, keys.SCHEMA)).decode()
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < OLDEST_SERVER:
        raise StoreError(
            f"The store is a Redis {version}, but Buongioco needs Redis {'.'.join(map(str, OLDEST_SERVER))} or newer, "
            "or Valkey: upgrade the server, or set REDIS_URL to another."
        )


async def _migrate(client: Any, version: int, migrations: Mapping[int, Migration]) -> None:
    """Migrate while other workers wait. The number rises after each migration, so an interrupted one is repeated."""
    lock = client.lock(LOCK, timeout=LOCK_SECONDS)
    if await lock.locked():
        log.info("waiting_for_migration", why="another worker is migrating the store, or was just killed")
    # A worker that lost the lock, as after a long sleep, must stop, because another one migrates now.
    async with lock, asyncio.timeout(LOCK_SECONDS) as limit:
        renewal = asyncio.create_task(_renew_lock(lock, limit))
        try:
            steps = range(int(await client.get(keys.SCHEMA)), version)
            if steps:
                await require_no_workers(client, JOIN_SECONDS)
            for step in steps:
                log.info("migration_started", layout=step + 1)
                await migrations[step](client)
                await client.set(keys.SCHEMA, step + 1)
        finally:
            renewal.cancel()


async def _renew_lock(lock: Any, limit: asyncio.Timeout) -> None:
    now = asyncio.get_running_loop().time
    while True:
        await asyncio.sleep(LOCK_SECONDS / 3)
        lock_end = now() + LOCK_SECONDS
        with suppress(*STORE_ERRORS):
            await lock.reacquire()
            limit.reschedule(lock_end)
