"""`buongioco token`: tokens for other people's programs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import typer

from bot.cli.asking import format_count
from bot.cli.errors import report_errors
from bot.cli.output import say
from bot.names import NO_NAME, likeness, person_name
from bot.programs import SCOPES, Programs
from bot.settings import read_settings
from bot.store import schema
from bot.store.opening import connect_beside_bot
from bot.tables.chairs import ROBOT_NAMES

token_app = typer.Typer(add_completion=False, help="Tokens for programs (docs/api.md). Without a command: list them.")


@asynccontextmanager
async def _open_programs() -> AsyncIterator[Programs]:
    async with connect_beside_bot(read_settings()) as client:
        await schema.check(client, migrate=False)
        yield Programs(client)


@token_app.callback(invoke_without_command=True)
def list_tokens(context: typer.Context) -> None:
    """List the programs that have a token: id, scopes and name."""
    if not context.invoked_subcommand:
        with report_errors():
            asyncio.run(_list())


async def _list() -> None:
    async with _open_programs() as programs:
        listed = await programs.all()
    for program in listed:
        say(f"{program.id}  {' '.join(program.scopes):9}  {program.name}")
    say(format_count(len(listed), "program"), err=True)


@token_app.command()
def make(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name shown to the other players.")],
    reads_only: Annotated[bool, typer.Option("--read-only", help="It can see its tables but not play.")] = False,
) -> None:
    """Make and print a token for a program. It is shown only once. The program plays as a robot, unrated."""
    if person_name(name) == NO_NAME:
        raise typer.BadParameter("A program needs a name.", param_hint="NAME")
    if likeness(person_name(name)) in {likeness(robot) for robots in ROBOT_NAMES.values() for robot in robots}:
        raise typer.BadParameter("One of the bot's own robots has this name.", param_hint="NAME")
    with report_errors():
        say(asyncio.run(_make(name, reads_only)))


async def _make(name: str, reads_only: bool) -> str:
    async with _open_programs() as programs:
        try:
            _program, token = await programs.add(name, ("read",) if reads_only else SCOPES)
        except ValueError as error:
            raise typer.BadParameter(f"{error}: revoke one.", param_hint="NAME") from None
    return token


@token_app.command()
def revoke(id: Annotated[str, typer.Argument(metavar="ID", help="As `buongioco token` lists it.")]) -> None:  # noqa: A002
    """Revoke a program's token at once."""
    with report_errors():
        asyncio.run(_revoke(id))


async def _revoke(id: str) -> None:  # noqa: A002
    async with _open_programs() as programs:
        if not await programs.revoke(id):
            raise typer.BadParameter(f"There is no program {id}.", param_hint="ID")
    say("Revoked.", err=True)
