"""The layout's number, and the way from older layouts to this one."""

from collections.abc import Mapping
from typing import Any

import structlog
from redis.exceptions import LockError

from bot.store import keys
from bot.store.folder import StoreAway, StoreError
from bot.store.migrations import MIGRATIONS, Migration
from bot.store.outage import STORE_ERRORS

log = structlog.get_logger()

RESTORING = "restoring"
"""What stands in place of the number while the store is being filled from a backup."""

LOCK_SECONDS = 600
"""The longest that a migration may take before another worker believes that it died."""


async def check(
    client: Any,
    version: int = keys.SCHEMA_VERSION,
    migrations: Mapping[int, Migration] = MIGRATIONS,
    *,
    migrate: bool = True,
) -> None:
    """Have the store in this version's layout; an empty one is, an older one is brought up to it, one step at a time.
    Without ``migrate`` nothing is written, and an older one is a StoreError: its bot may be running.

    StoreAway where it cannot be reached or another worker is about that, StoreError where its layout is newer than this
    version or older than any way leads from.
    """
    try:
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
        raise StoreAway("Another worker is bringing the store up to date: start this one again afterwards.") from None
    except (*STORE_ERRORS, ValueError) as error:
        raise StoreAway(
            f"The store cannot be reached ({type(error).__name__}): is it running, is REDIS_URL right?"
        ) from None
    if found != version:
        raise StoreError(
            f"The store's layout is number {found}, and this version of Buongioco knows number {version}: "
            "run the version that wrote it, or give this one another store."
        )


async def _migrate(client: Any, version: int, migrations: Mapping[int, Migration]) -> None:
    """One worker migrates; the number is raised after each step, so that a step cut short is done again."""
    async with client.lock(f"{keys.SCHEMA}:lock", timeout=LOCK_SECONDS, blocking=False):
        for step in range(int(await client.get(keys.SCHEMA)), version):
            log.info("migrating", layout=step + 1)
            await migrations[step](client)
            await client.set(keys.SCHEMA, step + 1)
