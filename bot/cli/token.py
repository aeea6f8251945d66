"""`buongioco token`: tokens for other people's programs."""

from typing import Annotated

import typer

from bot.cli.output import format_count, say
from bot.cli.store_commands import open_store_client, store_command
from bot.identity.names import NO_NAME, likeness, person_name
from bot.identity.programs import SCOPES, Programs
from bot.robots.names import ROBOT_NAMES

token_app = typer.Typer(
    add_completion=False, help="Tokens for programs (docs/api.md). Without a command, lists programs."
)


@token_app.callback(invoke_without_command=True)
@store_command
async def list_tokens(context: typer.Context) -> None:
    """List the programs that have a token: id, scopes and name."""
    if context.invoked_subcommand:
        return
    async with open_store_client() as client:
        programs = await Programs(client).all_programs()
    for program in programs:
        say(f"{program.id}  {' '.join(program.scopes):9}  {program.name}")
    say(format_count(len(programs), "program"), err=True)


@token_app.command()
@store_command
async def make(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name shown to the other players.")],
    read_only: Annotated[
        bool, typer.Option("--read-only", help="The program can see its tables but not play.")
    ] = False,
) -> None:
    """Make a program's token and print it, only this once. The program appears as a robot; its games are unrated."""
    if person_name(name) == NO_NAME:
        raise typer.BadParameter("A program needs a name.", param_hint="NAME")
    if likeness(person_name(name)) in {likeness(robot) for robots in ROBOT_NAMES.values() for robot in robots}:
        raise typer.BadParameter("One of the bot's own robots has this name.", param_hint="NAME")
    async with open_store_client() as client:
        try:
            _program, token = await Programs(client).add(name, ("read",) if read_only else SCOPES)
        except ValueError as error:
            raise typer.BadParameter(f"{error}: revoke a token first.", param_hint="NAME") from None
    say(token)


@token_app.command()
@store_command
async def revoke(
    program_id: Annotated[str, typer.Argument(metavar="ID", help="As `buongioco token` lists it.")],
) -> None:
    """Revoke a program's token at once."""
    async with open_store_client() as client:
        if not await Programs(client).revoke(program_id):
            raise typer.BadParameter(f"There is no program {program_id}.", param_hint="ID")
    say("Revoked.", err=True)
