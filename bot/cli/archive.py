"""`buongioco export` and `buongioco rebuild`: the finished games, and what follows from them."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.doctor import store_of
from bot.cli.faults import told
from bot.finished.archive import Archive
from bot.finished.ratings import Ratings, Rebuilt
from bot.settings import Settings, read_settings


def counted(games: int) -> str:
    return f"{games} {'game' if games == 1 else 'games'}"


def export(
    out: Annotated[Path | None, typer.Option(help="Write here instead of to the screen.")] = None,
    chat: Annotated[str | None, typer.Option(help="Only games that this chat watched, as platform:id.")] = None,
    person: Annotated[str | None, typer.Option(help="Only games of this person, as platform:id.")] = None,
) -> None:
    """Write the records of finished games, one a line, oldest first; `buongioco verify` checks them."""
    with told():
        try:
            written = asyncio.run(_export(read_settings(), out, chat, person))
        except OSError as error:
            raise typer.BadParameter(f"{out}: {error.strerror}", param_hint="--out") from None
    typer.echo(counted(written), err=True)


async def _export(settings: Settings, out: Path | None, chat: str | None, person: str | None) -> int:
    written = 0
    async with store_of(settings) as store:
        with out.open("w", encoding="utf-8") if out else nullcontext(sys.stdout) as file:
            async for game in Archive(store.client).all():
                if chat not in (None, *game.chats) or person not in (None, *game.people):
                    continue
                file.write(game.record.to_json() + "\n")
                written += 1
    return written


def rebuild() -> None:
    """Make all ratings and leaderboards anew from the finished games. Not while a bot is running."""
    with told():
        made = asyncio.run(_rebuild(read_settings()))
    for line in _missing(made):
        typer.echo(line, err=True)
    typer.echo(f"ratings made anew from {counted(made.games)}")


async def _rebuild(settings: Settings) -> Rebuilt:
    async with store_of(settings) as store:
        return await Ratings(store.client, Archive(store.client)).rebuild()


def _missing(made: Rebuilt) -> Iterator[str]:
    """What was missing, a line each."""
    for hole in made.holes:
        numbers = f"number {hole[0]} is" if len(hole) == 1 else f"numbers {hole[0]} to {hole[-1]} are"
        yield f"missing: {numbers} not in the store"
    for entry in made.lost:
        yield f"missing: number {entry.number}, {entry.id}, is gone or cannot be read"
    for id in made.adopted:  # noqa: A001
        yield f"{id} was kept without a number, and has one now"
