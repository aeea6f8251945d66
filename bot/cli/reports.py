"""`buongioco reports`: what people have told about strangers, for the host."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import typer

from bot.cli.asking import format_count
from bot.cli.errors import report_errors
from bot.cli.output import line_output, say
from bot.features.find.reports import Report, Reports
from bot.finished.archive import Archive
from bot.settings import read_settings
from bot.store import schema
from bot.store.opening import connect_beside_bot

reports_app = typer.Typer(add_completion=False, help="What people have told about strangers: list, look, drop.")

Id = Annotated[str, typer.Argument(metavar="ID", help="The report's id, as `buongioco reports` lists it.")]


@asynccontextmanager
async def _open_client() -> AsyncIterator[Any]:
    """The store that a running bot uses, or would."""
    async with connect_beside_bot(read_settings()) as client:
        await schema.check(client, migrate=False)
        yield client


@reports_app.callback(invoke_without_command=True)
def list_reports(context: typer.Context) -> None:
    """List the reports, the newest first: id, when, the game, who was reported, and by whom."""
    if not context.invoked_subcommand:
        with report_errors():
            asyncio.run(_list())


async def _list() -> None:
    async with _open_client() as client:
        found = [one async for one in Reports(client).all()]
    for id, report in sorted(found, key=lambda one: one[1].at, reverse=True):  # noqa: A001
        say(f"{id}  {_format_time(report)}  {report.game}  {_format_people(report)}")
    say(format_count(len(found), "report"), err=True)


@reports_app.command()
def show(id: Id) -> None:  # noqa: A002
    """Write the record of the game that a report is about, as `buongioco replay` and `verify` read it."""
    with report_errors():
        asyncio.run(_show(id))


async def _show(id: str) -> None:  # noqa: A002
    async with _open_client() as client:
        report = await Reports(client).get(id)
        if report is None:
            raise typer.BadParameter(f"There is no report {id}.", param_hint="ID")
        game = await Archive(client).get(report.game_id)
    say(f"{_format_time(report)}  {_format_people(report)}", err=True)
    if game is None:
        say(f"Its game is not in the archive: it is on still, as table {report.code}, or was moved out.", err=True)
        return
    with line_output(None) as write:
        write(game.record.to_json())


@reports_app.command()
def drop(id: Id) -> None:  # noqa: A002
    """Take a report away that you are done with."""
    with report_errors():
        asyncio.run(_drop(id))


async def _drop(id: str) -> None:  # noqa: A002
    async with _open_client() as client:
        if not await Reports(client).delete(id):
            raise typer.BadParameter(f"There is no report {id}.", param_hint="ID")
    say(f"Report {id} is dropped.")


def _format_time(report: Report) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(report.at))


def _format_people(report: Report) -> str:
    return f"{report.about_name} ({report.about}) by {report.by_name} ({report.by})"
