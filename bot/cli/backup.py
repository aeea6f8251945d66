"""`buongioco backup` and `buongioco restore`: the whole store in a file, and back."""

import asyncio
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from redis.asyncio import RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from bot.backup.file import BadBackup, Header, Line, open_writer
from bot.backup.restoring import restore as restore_store
from bot.backup.taking import BackupTaker
from bot.cli.errors import report_errors
from bot.cli.output import say
from bot.cli.progress import progress
from bot.settings import Settings, read_settings
from bot.store import StoreError, keys
from bot.store.opening import connect_beside_bot, connect_without_bot

STANDARD_OUTPUT = Path("/dev/stdout")


def backup(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            dir_okay=False,
            help="Replaced if it exists. Pipes and devices are written through; - is standard output.",
        ),
    ],
) -> None:
    """Write all that the store holds to a file, also while the bot is running. The file holds secrets: keep it safe."""
    if file == Path("-"):
        file = STANDARD_OUTPUT
    with report_errors():
        settings = read_settings()
        try:
            is_empty = asyncio.run(_backup(settings, file))
        except OSError as error:
            raise typer.BadParameter(f"{file}: {error.strerror or error}", param_hint="FILE") from None
    size = f"{file.stat().st_size:,} bytes" if file.is_file() else "written"
    say(f"{file}: {size}, of the store {settings.store_location}", err=True)
    if is_empty:
        say(f"warning: nobody has played {settings.store_location} yet: is it the store that you mean?", err=True)


async def _backup(settings: Settings, file: Path) -> bool:
    """Whether there is nothing in it that people have made: no table, no finished game, nobody's profile."""
    is_empty = True
    async with connect_beside_bot(settings) as client:
        try:
            layout = await client.get(keys.SCHEMA) or b"0"
            if not layout.isdigit() or not 0 < int(layout) <= keys.SCHEMA_VERSION:
                raise StoreError("The store is empty, or has a layout that this version of Buongioco cannot read.")
            header = Header(int(layout), int(time.time()))
            with progress(await _size(client), file.name) as bar, open_writer(file, header) as write:

                def noted(line: Line) -> None:
                    nonlocal is_empty
                    write(line)
                    if "table" in line or "game" in line or str(line.get("hash")).startswith(keys.person("")):
                        is_empty = False

                await BackupTaker(client, noted, bar.update).take()
        except (RedisError, RedisClusterException) as error:
            raise StoreError(f"The store cannot be read ({type(error).__name__}: {error}).") from None
    return is_empty


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
    with report_errors():
        try:
            taken_at = asyncio.run(_restore(read_settings(), file, replace))
        except OSError as error:
            raise typer.BadParameter(f"{file}: {error.strerror or error}", param_hint="FILE") from None
        except BadBackup as fault:
            raise typer.BadParameter(f"{file}: {fault}", param_hint="FILE") from None
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(taken_at))
    say(f"{file} is restored: all is as it was on {when}.", err=True)
    say(
        "Whoever was forgotten after that is back, by /forget or by `buongioco forget`: forget them again before you "
        "start the bot (`buongioco forget PERSON`).",
        err=True,
    )


async def _restore(settings: Settings, file: Path, replace: bool) -> int:
    """When the backup was taken, Unix seconds."""
    async with connect_without_bot(settings, "would write its own memory over what is restored") as client:
        with progress(2 * file.stat().st_size, file.name) as bar:
            try:
                # The embedded store's folder is locked: a worker that it names was killed.
                locked = settings.redis_url is None
                header = await restore_store(client, file, replace=replace, alone=locked, on_read=bar.update)
            except (RedisError, RedisClusterException) as error:
                raise StoreError(f"The store cannot be filled ({type(error).__name__}: {error}).") from None
    return header.begun
