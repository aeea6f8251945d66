"""`buongioco backup` and `buongioco restore`: the whole store in a file, and back."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from redis.asyncio import RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from bot.backup.file import BadBackup, Header, writing
from bot.backup.restoring import restore as restore_store
from bot.backup.taking import Taking
from bot.cli.errors import told
from bot.cli.progress import progress
from bot.settings import Settings, read_settings
from bot.store import EmbeddedStore, FolderTaken, StoreError, connected, keys

PATIENCE = 60.0
"""Seconds for an answer: much is read and written at a time, and nobody waits for it."""


@asynccontextmanager
async def beside(settings: Settings) -> AsyncIterator[Any]:
    """The store that a running bot uses, or would: the host's own, or the embedded one, started if none runs."""
    embedded = None if settings.redis_url else EmbeddedStore(settings.data)
    if embedded and not embedded.is_taken:
        async with _started(embedded) as client:
            yield client
        return
    async with connected(embedded.url if embedded else settings.redis_url or "", PATIENCE) as client:
        yield client


@asynccontextmanager
async def alone(settings: Settings, why: str) -> AsyncIterator[Any]:
    """The same, but an embedded store that a bot runs with is a StoreFault; ``why`` says what the bot would spoil."""
    if settings.redis_url:
        async with connected(settings.redis_url, PATIENCE) as client:
            yield client
        return
    try:
        async with _started(EmbeddedStore(settings.data)) as client:
            yield client
    except FolderTaken:
        raise StoreError(
            f"A bot is running with the data folder {settings.data}, and {why}. Nothing was changed: stop the bot, run "
            "this again, and start it afterwards."
        ) from None


@asynccontextmanager
async def _started(embedded: EmbeddedStore) -> AsyncIterator[Any]:
    """An embedded store that runs for as long as it is in use; FolderTaken where a bot has it."""
    await embedded.start()
    try:
        async with connected(embedded.url, PATIENCE) as client:
            yield client
    finally:
        await embedded.stop()


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", dir_okay=False, help="Written anew if it is there already.")],
) -> None:
    """Write all that the store holds to a file, also while the bot is running. The file holds secrets: keep it safe."""
    with told():
        try:
            asyncio.run(_backup(read_settings(), file))
        except OSError as error:
            raise typer.BadParameter(f"{file}: {error.strerror or error}", param_hint="FILE") from None
    typer.echo(f"{file}: {file.stat().st_size:,} bytes", err=True)


async def _backup(settings: Settings, file: Path) -> None:
    async with beside(settings) as client:
        try:
            layout = await client.get(keys.SCHEMA) or b"0"
            if not layout.isdigit() or not 0 < int(layout) <= keys.SCHEMA_VERSION:
                raise StoreError("The store is empty, or has a layout that this version of Buongioco cannot read.")
            header = Header(int(layout), int(time.time()))
            with progress(await _size(client), file.name) as bar, writing(file, header) as write:
                await Taking(client, write, bar.update).take()
        except (RedisError, RedisClusterException) as error:
            raise StoreError(f"The store cannot be read ({type(error).__name__}: {error}).") from None


async def _size(client: Any) -> int:
    """How many keys there are."""
    if isinstance(client, RedisCluster):
        return int(await client.dbsize(target_nodes=RedisCluster.PRIMARIES))
    return int(await client.dbsize())


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True)],
    replace: Annotated[bool, typer.Option("--replace", help="Delete first all that the store holds.")] = False,
) -> None:
    """Fill an empty store from a backup. Stop the bot first, every worker of it."""
    with told():
        try:
            taken_at = asyncio.run(_restore(read_settings(), file, replace))
        except OSError as error:
            raise typer.BadParameter(f"{file}: {error.strerror or error}", param_hint="FILE") from None
        except BadBackup as fault:
            raise typer.BadParameter(f"{file}: {fault}", param_hint="FILE") from None
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(taken_at))
    typer.echo(f"{file} is restored: all is as it was on {when}.", err=True)
    typer.echo(
        "Whoever was forgotten after that is back, by /forget or by `buongioco forget`: forget them again before you "
        "start the bot (`buongioco forget PERSON`).",
        err=True,
    )


async def _restore(settings: Settings, file: Path, replace: bool) -> int:
    """When the backup was taken, Unix seconds."""
    async with alone(settings, "would write its own memory over what is restored") as client:
        with progress(2 * file.stat().st_size, file.name) as bar:
            try:
                # The embedded store's folder is locked: a worker that it names was killed.
                locked = settings.redis_url is None
                header = await restore_store(client, file, replace=replace, alone=locked, on_read=bar.update)
            except (RedisError, RedisClusterException) as error:
                raise StoreError(f"The store cannot be filled ({type(error).__name__}: {error}).") from None
    return header.begun
