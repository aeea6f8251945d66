"""The layout's number, and the way from older layouts to this one."""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import structlog
from redis.exceptions import LockError

from bot.store import keys
from bot.store.attendance import WORKERS_PATIENCE, require_no_workers
from bot.store.folder import StoreError, StoreUnavailable
from bot.store.lua import read_script
from bot.store.migrations import MIGRATIONS, Migration
from bot.store.outage import STORE_ERRORS, describe_error, is_temporary

log = structlog.get_logger()

RESTORING = "restoring"
"""What stands in place of the number while the store is being filled from a backup."""

OLDEST_SERVER = (7, 0)
"""The first Redis that knows all that is asked of it. Valkey names one that it can stand for, and that is newer."""

SERVER_VERSION = read_script(__file__, "server_version")

LOCK = f"{keys.SCHEMA}:lock"
LOCK_SECONDS = 30.0
"""How long others wait for a worker that was killed as it migrated; one that lives keeps the lock until it is done."""


async def check(
    client: Any,
    version: int = keys.SCHEMA_VERSION,
    migrations: Mapping[int, Migration] = MIGRATIONS,
    *,
    migrate: bool = True,
) -> None:
    """Have the store in this version's layout; an empty one is, an older one is brought up to it, one step at a time.
    Without ``migrate`` nothing is written, and an older one is a StoreError: its bot may be running.

    StoreAway where it cannot be reached or workers of an older version are running on it, StoreError where it refuses,
    its server is too old, or its layout is newer than this version or older than any way leads from.
    """
    try:
        await check_server(client)
        if migrate:
            await client.set(keys.SCHEMA, version, nx=True)
        stored = await client.get(keys.SCHEMA)
        if stored == RESTORING.encode():
            raise StoreError(
                "The store is being filled from a backup, or that was cut short: then run `buongioco restore FILE "
                "--replace` again."
            )
        # Nobody has used one without a number yet.
        found = version if stored is None else int(stored)
        if found < version and all(step in migrations for step in range(found, version)):
            if not migrate:
                raise StoreError(
                    f"The store's layout is number {found}, that of an older version, and number {version} is this "
                    "one's: stop the bot, every worker of it, and start this version first."
                )
            await _migrate(client, version, migrations)
            found = int(await client.get(keys.SCHEMA))
    except LockError:
        raise StoreUnavailable(
            "Another worker is bringing the store up to date: start this one again afterwards."
        ) from None
    except (*STORE_ERRORS, ValueError) as error:
        if not is_temporary(error):
            raise refusal_error(error) from None
        raise StoreUnavailable(
            f"The store cannot be reached ({type(error).__name__}): is it running, is REDIS_URL right?"
        ) from None
    if found != version:
        raise StoreError(
            f"The store's layout is number {found}, and this version of Buongioco knows number {version}: "
            "run the version that wrote it, or give this one another store."
        )


def refusal_error(error: BaseException) -> StoreError:
    """What is said where the store answers, and will not do what it is asked (`may_pass`)."""
    return StoreError(
        f"The store refuses the bot's commands ({describe_error(error)}): allow the user in REDIS_URL every command, "
        "and use a store that holds no other program's data."
    )


async def check_server(client: Any) -> None:
    """StoreError where the server is too old to know every command."""
    version = (await client.eval(SERVER_VERSION, 1, keys.SCHEMA)).decode()
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < OLDEST_SERVER:
        raise StoreError(
            f"The store is a Redis {version}, but Buongioco needs Redis {'.'.join(map(str, OLDEST_SERVER))} or newer, "
            "or Valkey: upgrade the server, or set REDIS_URL to another."
        )


async def _migrate(client: Any, version: int, migrations: Mapping[int, Migration]) -> None:
    """One worker migrates, and the others wait for it; the number is raised after each step, so that a step cut short
    is done again.
    """
    lock = client.lock(LOCK, timeout=LOCK_SECONDS)
    if await lock.locked():
        log.info("waiting_for_migration", why="another worker is about it, or was killed just now")
    # Whoever lost the lock, as after a long sleep, has to stop: by then the step is another's.
    async with lock, asyncio.timeout(LOCK_SECONDS) as limit:
        holding = asyncio.create_task(_renew_lock(lock, limit))
        try:
            steps = range(int(await client.get(keys.SCHEMA)), version)
            if steps:
                await require_no_workers(client, WORKERS_PATIENCE)
            for step in steps:
                log.info("migration_started", layout=step + 1)
                await migrations[step](client)
                await client.set(keys.SCHEMA, step + 1)
        finally:
            holding.cancel()


async def _renew_lock(lock: Any, limit: asyncio.Timeout) -> None:
    """Have the lock last, and the time limit with it, until cancelled."""
    now = asyncio.get_running_loop().time
    while True:
        await asyncio.sleep(LOCK_SECONDS / 3)
        until = now() + LOCK_SECONDS
        with suppress(*STORE_ERRORS):
            await lock.reacquire()
            limit.reschedule(until)
