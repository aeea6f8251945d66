"""`buongioco export`, `rebuild` and `archive`: the finished games, and what follows from them."""

import asyncio
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from redis.exceptions import RedisClusterException, RedisError

from bot.cli.asking import counted
from bot.cli.errors import told
from bot.cli.output import line_output, say
from bot.cli.person import HELP, NoPerson, checked, id_of
from bot.cli.progress import progress
from bot.features.ratings.honours import closed_month
from bot.finished.archive import Archive
from bot.finished.file import FileEntry, merge_with_files, read_all_entries
from bot.finished.game import UnreadableGame
from bot.finished.moving import GameMover, MoveResult
from bot.finished.ratings import Ratings, RebuildResult
from bot.settings import Settings, read_settings
from bot.store import StoreError, schema
from bot.store.attendance import require_no_workers
from bot.store.opening import connect_beside_bot, connect_without_bot, require_store

Files = Annotated[
    list[Path] | None,
    typer.Option("--from", exists=True, dir_okay=False, help="A file that `archive` wrote; several may follow."),
]


def export(
    out: Annotated[Path | None, typer.Option(help="Write here; to the screen without it, or with -.")] = None,
    chat: Annotated[str | None, typer.Option(help="Only games that this chat watched, as platform:id.")] = None,
    person: Annotated[str | None, typer.Option(help=f"Only games of this person. {HELP}")] = None,
    files: Files = None,
) -> None:
    """Write the records of finished games, one a line, oldest first; `buongioco verify` checks them.

    Also while the bot is running.
    """
    games = _filed(files)
    if chat is not None and ":" not in chat:
        raise typer.BadParameter(
            f"{chat!r} is no chat: write platform:id, such as telegram:-1001234", param_hint="--chat"
        )
    with told():
        try:
            if out and out.exists() and any(out.samefile(file) for file in files or []):
                raise typer.BadParameter(
                    f"{out} is to be read (--from), and would be emptied first: name another file.", param_hint="--out"
                )
            written = asyncio.run(
                _export(read_settings(), out, chat, None if person is None else checked(person), games)
            )
        except NoPerson as error:
            raise typer.BadParameter(str(error), param_hint="--person") from None
    say(counted(written, "game"), err=True)


def _filed(files: list[Path] | None) -> list[FileEntry]:
    try:
        return read_all_entries(files or [])
    except UnreadableGame as fault:
        raise typer.BadParameter(str(fault), param_hint="--from") from None


async def _export(
    settings: Settings, out: Path | None, chat: str | None, person: str | None, games: list[FileEntry]
) -> int:
    written = 0
    async with connect_beside_bot(settings) as client:
        await schema.check(client, migrate=False)
        if person is not None:
            person = await id_of(client, person)
        with line_output(out) as write:
            async for _, _, game in merge_with_files(Archive(client), games):
                if game is None or chat not in (None, *game.chats) or person not in (None, *game.people):
                    continue
                write(game.record.to_json())
                written += 1
    return written


def rebuild(
    files: Files = None,
    incomplete: Annotated[bool, typer.Option("--incomplete", help="Do without games that were archived.")] = False,
) -> None:
    """Make all ratings and leaderboards anew from the finished games. Not while a bot is running."""
    games = _filed(files)
    with told():
        made = asyncio.run(_rebuild(read_settings(), games, incomplete))
    for line in _missing(made):
        say(line, err=True)
    say(f"ratings made anew from {counted(made.games, 'game')}")


async def _rebuild(settings: Settings, games: list[FileEntry], incomplete: bool) -> RebuildResult:
    require_store(settings)
    async with connect_without_bot(settings, "rates games that end while all ratings are made anew") as client:
        await schema.check(client, migrate=False)
        if settings.redis_url:
            await require_no_workers(client)
        archive = Archive(client)
        moved = await archive.count_moved()
        if moved > len(games) and not incomplete:
            raise StoreError(
                f"{counted(moved, 'game')} moved out of the store by `buongioco archive`, and the files that are named "
                f"have {counted(len(games), 'game')}: name all of the files with --from, or say --incomplete."
            )
        return await Ratings(client, archive).rebuild(games)


def _missing(made: RebuildResult) -> Iterator[str]:
    """What was missing, a line each."""
    for hole in made.holes:
        numbers = f"number {hole[0]} is" if len(hole) == 1 else f"numbers {hole[0]} to {hole[-1]} are"
        yield f"missing: {numbers} not in the store"
    for entry in made.lost:
        yield f"missing: number {entry.number}, {entry.id}, is gone or cannot be read"
    for id in made.adopted:  # noqa: A001
        yield f"{id} was kept without a number, and has one now"


UNITS = {"h": 3600, "d": 86400, "w": 7 * 86400}


def seconds_of(text: str) -> int:
    """The seconds of a duration such as ``24h``, ``365d`` or ``12w``; ValueError for anything else."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})([hdw])", text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a duration: write hours, days or weeks, such as 24h, 365d or 12w")
    return int(found[1]) * UNITS[found[2]]


def archive(
    older_than: Annotated[str, typer.Option(help="Games that ended so long ago: 24h, 365d, 12w.")],
    out: Annotated[Path, typer.Option(dir_okay=False, help="The file to write them to, or to go on with.")],
) -> None:
    """Move old finished games out of the store into a file; ratings stay. Also while the bot is running."""
    try:
        before = int(time.time()) - seconds_of(older_than)
    except ValueError as fault:
        raise typer.BadParameter(str(fault), param_hint="--older-than") from None
    with told():
        settings = read_settings()
        try:
            moved = asyncio.run(_archive(settings, out, before))
        except OSError as error:
            raise typer.BadParameter(f"{out}: {error.strerror or error}", param_hint="--out") from None
        except UnreadableGame as fault:
            raise typer.BadParameter(str(fault), param_hint="--out") from None
    for game in moved.faulty:
        say(f"{game} does not verify, and stays in the store", err=True)
    say(f"{out}: {counted(moved.games, 'game')} moved out of the store {settings.store_location}")
    if moved.faulty:
        raise typer.Exit(1)


async def _archive(settings: Settings, out: Path, before: int) -> MoveResult:
    async with connect_beside_bot(settings) as client:
        try:
            await schema.check(client, migrate=False)
            with progress(await Archive(client).count(), out.name) as bar:
                return await GameMover(client, out, bar.update).move(before, await closed_month(client))
        except (RedisError, RedisClusterException) as error:
            raise StoreError(f"The store went away ({type(error).__name__}): run the same again.") from None
