"""`buongioco export`, `rebuild` and `archive`: finished games and their ratings."""

import time
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.arguments import parse_duration
from bot.cli.output import format_count, line_output, progress, say
from bot.cli.person import PERSON_HELP, check_person, find_person_id
from bot.cli.store_commands import open_store_client, store_command
from bot.features.ratings.honours import closed_month
from bot.finished.archive import Archive
from bot.finished.archive_file import FileEntry, merge_with_files, read_all_entries
from bot.finished.game import UnreadableGame
from bot.finished.moving_to_file import GameMover
from bot.finished.ratings import Ratings, RebuildResult
from bot.settings_reader import read_settings
from bot.store import StoreError, layout_version
from bot.store.host_access import connect_without_bot, require_store
from bot.store.leases import require_no_workers

Files = Annotated[
    list[Path] | None,
    typer.Option("--from", exists=True, dir_okay=False, help="A file that `archive` wrote. Can be repeated."),
]


@store_command
async def export(
    out: Annotated[Path | None, typer.Option(help="Output file. Default, or -: the screen.")] = None,
    chat: Annotated[str | None, typer.Option(help="Only games shown in this chat, as platform:id.")] = None,
    person: Annotated[
        str | None, typer.Option(parser=check_person, metavar="TEXT", help=f"Only games of this person. {PERSON_HELP}")
    ] = None,
    files: Files = None,
) -> None:
    """Write the records of finished games, one per line, oldest first. Works while the bot is running.

    `buongioco verify` checks them.
    """
    games = _read_files(files)
    if chat is not None and ":" not in chat:
        raise typer.BadParameter(
            f"{chat!r} is not a chat. Write platform:id, such as telegram:-1001234.", param_hint="--chat"
        )
    if out and out.exists() and any(out.samefile(file) for file in files or []):
        raise typer.BadParameter(
            f"{out} is also an input (--from) and would be emptied: name another file.", param_hint="--out"
        )
    written_count = 0
    async with open_store_client() as client:
        if person is not None:
            person = await find_person_id(client, person, "--person")
        with line_output(out) as write:
            async for _, _, game in merge_with_files(Archive(client), games):
                if game and chat in (None, *game.chats) and person in (None, *game.people):
                    write(game.record.to_json())
                    written_count += 1
    say(format_count(written_count, "game"), err=True)


def _read_files(files: list[Path] | None) -> list[FileEntry]:
    try:
        return read_all_entries(files or [])
    except UnreadableGame as error:
        raise typer.BadParameter(str(error), param_hint="--from") from None


@store_command
async def rebuild(
    files: Files = None,
    incomplete: Annotated[bool, typer.Option("--incomplete", help="Leave out archived games.")] = False,
) -> None:
    """Rebuild all ratings and leaderboards from the finished games. Stop the bot first."""
    games = _read_files(files)
    settings = read_settings()
    require_store(settings)
    async with connect_without_bot(settings, "rates games that end during a rebuild") as client:
        await layout_version.check(client, migrate=False)
        if settings.redis_url:
            await require_no_workers(client)
        archive = Archive(client)
        moved_count = await archive.count_moved()
        if moved_count > len(games) and not incomplete:
            raise StoreError(
                f"`buongioco archive` has moved {format_count(moved_count, 'game')} out of the store, but the given "
                f"files have {format_count(len(games), 'game')}. Give all files with --from, or add --incomplete."
            )
        result = await Ratings(client, archive).rebuild(games)
    _report_rebuild(result)


def _report_rebuild(result: RebuildResult) -> None:
    for hole in result.holes:
        numbers = f"number {hole[0]} is" if len(hole) == 1 else f"numbers {hole[0]} to {hole[-1]} are"
        say(f"missing: {numbers} not in the store", err=True)
    for entry in result.lost:
        say(f"missing: number {entry.number}, {entry.id}, was deleted or cannot be read", err=True)
    for game_id in result.adopted:
        say(f"{game_id} had no number, and has one now", err=True)
    say(f"ratings rebuilt from {format_count(result.games, 'game')}")


@store_command
async def archive(
    older_than: Annotated[
        int,
        typer.Option(parser=parse_duration, metavar="TEXT", help="Age of the games since their end: 24h, 365d, 12w."),
    ],
    out: Annotated[Path, typer.Option(dir_okay=False, help="The file to write to. An existing one is extended.")],
) -> None:
    """Move old finished games from the store to a file. Ratings stay. Works while the bot is running."""
    end_time = int(time.time()) - older_than
    settings = read_settings()
    try:
        async with open_store_client(settings) as client:
            with progress(await Archive(client).count(), out.name) as bar:
                result = await GameMover(client, out, bar.update).move(end_time, await closed_month(client))
    except OSError as error:
        raise typer.BadParameter(f"{out}: {error.strerror or error}", param_hint="--out") from None
    except UnreadableGame as error:
        raise typer.BadParameter(str(error), param_hint="--out") from None
    for game in result.faulty:
        say(f"{game} fails verification and stays in the store", err=True)
    say(f"{out}: {format_count(result.games, 'game')} moved out of the store {settings.store_location}")
    if result.faulty:
        raise typer.Exit(1)
