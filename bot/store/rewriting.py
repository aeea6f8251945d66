"""Rewrites of a store's append-only file, so that deleted data leaves the disk.

The file keeps every change until it is rewritten. Valkey and Redis rewrite it only if it has doubled and exceeds 64 MB
(``auto-aof-rewrite-percentage`` and ``-min-size``).
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from redis.exceptions import ResponseError

from bot.store.cluster import Cluster

CHECK_SECONDS, MAX_CHECK_SECONDS = 0.1, 5.0  # first and longest pause between checks of a server that is rewriting
ALREADY = "already in progress"  # part of the error while an earlier rewrite is running; a new one must follow it

# Files that a server never deletes if it is killed during a rewrite. They hold the whole store.
LEFTOVERS = ("temp-rewriteaof-*.aof", "temp-*.rdb")

Ask = Callable[..., Awaitable[Any]]


class RewriteFailed(Exception):
    """A server began to rewrite its file and could not finish, as on a full disk."""


async def rewrite_files(client: Any) -> bool:
    """Rewrite the append-only file of every server and wait for it. Return False if no server has one.

    Raise RewriteFailed, ResponseError if a server refuses, or another error of the store.
    """
    if not isinstance(client, Cluster):
        return await _rewrite(client.execute_command)
    await client.initialize()
    # Rewrite one server after the other, because each needs memory and disk for a copy.
    return any([await _rewrite(partial(client.execute_command, target_nodes=node)) for node in client.get_nodes()])


async def _rewrite(ask: Ask) -> bool:
    """Rewrite one server's file. Return False if it has no file."""
    if not (await ask("INFO", "persistence")).get("aof_enabled"):
        # BGREWRITEAOF would create a file. Servers that only resemble Redis can lack the field.
        return False
    is_begun = False
    while not is_begun:
        try:
            await ask("BGREWRITEAOF")
            is_begun = True
        except ResponseError as error:
            if ALREADY not in str(error):
                raise
        info = await _wait_until_idle(ask)
    if info.get("aof_last_bgrewrite_status", "ok") != "ok":
        raise RewriteFailed
    return True


async def _wait_until_idle(ask: Ask) -> Any:
    """Wait until a server neither rewrites its file nor waits to do so after a snapshot. Return its information."""
    pause = CHECK_SECONDS
    while True:
        info = await ask("INFO", "persistence")
        if not info.get("aof_rewrite_in_progress") and not info.get("aof_rewrite_scheduled"):
            return info
        await asyncio.sleep(pause)
        pause = min(2 * pause, MAX_CHECK_SECONDS)


def remove_leftovers(folder: Path) -> None:
    """Delete the leftovers of killed servers from a folder in which no server is running."""
    for pattern in LEFTOVERS:
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)
