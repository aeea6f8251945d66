"""`buongioco export`, `rebuild` and `archive`: the finished games, and what follows from them."""

import asyncio
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from redis.exceptions import RedisClusterException, RedisError

from bot.cli.asking import format_count
from bot.cli.errors import report_errors
from bot.cli.output import line_output, say
from bot.cli.person import PERSON_HELP, UnknownPerson, check_person, find_person_id
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
    person: Annotated[str | None, typer.Option(help=f"Only games of this person. {PERSON_HELP}")] = None,
    files: Files = None,
) -> None:
    """Write the records of finished games, one a line, oldest first; `buongioco verify` checks them.

    Also while the bot is running.
    """
    games = _read_files(files)
    if chat is not None and ":" not in chat:
        raise typer.BadParameter(
            f"{chat!r} is no chat: write platform:id, such as telegram:-1001234", param_hint="--chat"
        )
    with report_errors():
        try:
            if out and out.exists() and any(out.samefile(file) for file in files or []):
                raise typer.BadParameter(
                    f"{out} is to be read (--from), and would be emptied first: name another file.", param_hint="--out"
                )
            written = asyncio.run(
                _export(read_settings(), out, chat, None if person is None else check_person(person), games)
            )
        except UnknownPerson as error:
            raise typer.BadParameter(str(error), param_hint="--person") from None
    say(format_count(written, "game"), err=True)


def _read_files(files: list[Path] | None) -> list[FileEntry]:
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
            person = await find_person_id(client, person)
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
    games = _read_files(files)
    with report_errors():
        made = asyncio.run(_rebuild(read_settings(), games, incomplete))
    for line in _missing_lines(made):
        say(line, err=True)
    say(f"ratings made anew from {format_count(made.games, 'game')}")


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
                f"{format_count(moved, 'game')} left the store by `buongioco archive`, but the files given have "
                f"{format_count(len(games), 'game')}. Give all files with --from, or add --incomplete."
            )
        return await Ratings(client, archive).rebuild(games)


def _missing_lines(made: RebuildResult) -> Iterator[str]:
    """What was missing, a line each."""
    for hole in made.holes:
        numbers = f"number {hole[0]} is" if len(hole) == 1 else f"numbers {hole[0]} to {hole[-1]} are"
        yield f"missing: {numbers} not in the store"
    for entry in made.lost:
        yield f"missing: number {entry.number}, {entry.id}, is gone or cannot be read"
    for id in made.adopted:  # noqa: A001
        yield f"{id} was kept without a number, and has one now"


UNITS = {"h": 3600, "d": 86400, "w": 7 * 86400}


def parse_duration(text: str) -> int:
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
        before = int(time.time()) - parse_duration(older_than)
    except ValueError as fault:
        raise typer.BadParameter(str(fault), param_hint="--older-than") from None
    with report_errors():
        settings = read_settings()
        try:
            moved = asyncio.run(_archive(settings, out, before))
        except OSError as error:
            raise typer.BadParameter(f"{out}: {error.strerror or error}", param_hint="--out") from None
        except UnreadableGame as fault:
            raise typer.BadParameter(str(fault), param_hint="--out") from None
    for game in moved.faulty:
        say(f"{game} does not verify, and stays in the store", err=True)
    say(f"{out}: {format_count(moved.games, 'game')} moved out of the store {settings.store_location}")
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
