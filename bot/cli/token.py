"""`buongioco token`: the tokens with which other people's programs play."""

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

token_app = typer.Typer(
    add_completion=False, help="Tokens with which programs play (docs/api.md); by itself it lists them."
)


@asynccontextmanager
async def _open_programs() -> AsyncIterator[Programs]:
    """Those of the store that a running bot uses, or would."""
    async with connect_beside_bot(read_settings()) as client:
        await schema.check(client, migrate=False)
        yield Programs(client)


@token_app.callback(invoke_without_command=True)
def list_tokens(context: typer.Context) -> None:
    """List the programs that have a token, by name: id, scopes and name."""
    if not context.invoked_subcommand:
        with report_errors():
            asyncio.run(_list())


async def _list() -> None:
    async with _open_programs() as programs:
        found = await programs.all()
    for one in found:
        say(f"{one.id}  {' '.join(one.scopes):9}  {one.name}")
    say(format_count(len(found), "program"), err=True)


@token_app.command()
def make(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the others at a table read.")],
    reads_only: Annotated[bool, typer.Option("--read-only", help="It may see its tables, and play at none.")] = False,
) -> None:
    """Make a token for a program, and print it: it is shown only now. The program plays as a robot, and is unrated."""
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
    """Make a program's token good no more, at once."""
    with report_errors():
        asyncio.run(_revoke(id))


async def _revoke(id: str) -> None:  # noqa: A002
    async with _open_programs() as programs:
        if not await programs.revoke(id):
            raise typer.BadParameter(f"There is no program {id}.", param_hint="ID")
    say("Revoked.", err=True)
