"""`buongioco backup` and `buongioco restore`."""

import time
from pathlib import Path
from typing import Annotated

import typer
from redis.asyncio import RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from bot.atomic_files import STANDARD_OUTPUT
from bot.backup.file import BadBackup, Header, Line, open_writer
from bot.backup.restoring import restore as restore_store
from bot.backup.taking import BackupTaker
from bot.cli.output import progress, say
from bot.cli.store_commands import store_command
from bot.settings import Settings
from bot.settings_reader import read_settings
from bot.store import StoreError, keys
from bot.store.host_access import connect_beside_bot, connect_without_bot


@store_command
async def backup(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            dir_okay=False,
            help="Replaced if it exists. Can be a pipe or device. - is standard output.",
        ),
    ],
) -> None:
    """Write the whole store to a file. Works while the bot is running. The file holds secrets: keep it safe."""
    if file == Path("-"):
        file = STANDARD_OUTPUT
    settings = read_settings()
    try:
        is_empty = await _backup(settings, file)
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror or error}", param_hint="FILE") from None
    size = f"{file.stat().st_size:,} bytes" if file.is_file() else "written"
    say(f"{file}: {size}, of the store {settings.store_location}", err=True)
    if is_empty:
        say(f"warning: nobody has played {settings.store_location} yet. Is it the right store?", err=True)


async def _backup(settings: Settings, file: Path) -> bool:
    """Take a backup. Return whether it has no table, finished game or profile."""
    is_empty = True
    async with connect_beside_bot(settings) as client:
        try:
            layout = await client.get(keys.SCHEMA) or b"0"
            if not layout.isdigit() or not 0 < int(layout) <= keys.SCHEMA_VERSION:
                raise StoreError("The store is empty, or this version of Buongioco cannot read its layout.")
            header = Header(int(layout), int(time.time()))
            on_nodes = {"target_nodes": RedisCluster.PRIMARIES} if isinstance(client, RedisCluster) else {}
            key_count = int(await client.dbsize(**on_nodes))
            with progress(key_count, file.name) as bar, open_writer(file, header) as write:

                def write_line(line: Line) -> None:
                    nonlocal is_empty
                    write(line)
                    if "table" in line or "game" in line or str(line.get("hash")).startswith(keys.person("")):
                        is_empty = False

                await BackupTaker(client, write_line, bar.update).take()
        except (RedisError, RedisClusterException) as error:
            raise StoreError(f"The store cannot be read ({type(error).__name__}: {error}).") from None
    return is_empty


@store_command
async def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True)],
    replace: Annotated[bool, typer.Option("--replace", help="First delete everything in the store.")] = False,
) -> None:
    """Fill an empty store from a backup. Stop all workers of the bot first."""
    settings = read_settings()
    try:
        async with connect_without_bot(settings, "would overwrite the restored data") as client:
            # This command has locked an embedded store's folder. So a worker that the store still lists was killed.
            is_alone = settings.redis_url is None
            with progress(2 * file.stat().st_size, file.name) as bar:
                header = await restore_store(client, file, replace=replace, alone=is_alone, on_read=bar.update)
    except (RedisError, RedisClusterException) as error:
        raise StoreError(f"The store cannot be filled ({type(error).__name__}: {error}).") from None
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror or error}", param_hint="FILE") from None
    except BadBackup as error:
        raise typer.BadParameter(f"{file}: {error}", param_hint="FILE") from None
    backup_time = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(header.begun))
    say(f"{file} is restored. The store is as it was on {backup_time}.", err=True)
    say(
        "People forgotten after that time are back. Forget them again before you start the bot: "
        "`buongioco forget PERSON`.",
        err=True,
    )
