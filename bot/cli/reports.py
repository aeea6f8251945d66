"""`buongioco reports`: people's reports about strangers, for the host."""

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

reports_app = typer.Typer(add_completion=False, help="People's reports about strangers: list, show, drop.")

Id = Annotated[str, typer.Argument(metavar="ID", help="The report's id, as `buongioco reports` lists it.")]


@asynccontextmanager
async def _open_client() -> AsyncIterator[Any]:
    async with connect_beside_bot(read_settings()) as client:
        await schema.check(client, migrate=False)
        yield client


@reports_app.callback(invoke_without_command=True)
def list_reports(context: typer.Context) -> None:
    """List the reports, newest first: id, time, game, reported person, reporter."""
    if not context.invoked_subcommand:
        with report_errors():
            asyncio.run(_list())


async def _list() -> None:
    async with _open_client() as client:
        reports = [item async for item in Reports(client).all()]
    for id, report in sorted(reports, key=lambda item: item[1].at, reverse=True):  # noqa: A001
        say(f"{id}  {_format_time(report)}  {report.game}  {_format_people(report)}")
    say(format_count(len(reports), "report"), err=True)


@reports_app.command()
def show(id: Id) -> None:  # noqa: A002
    """Write the record of a report's game, for `buongioco replay` and `verify`."""
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
        say(
            f"Its game is not in the archive: table {report.code} still plays it, or it was moved to a file.",
            err=True,
        )
        return
    with line_output(None) as write:
        write(game.record.to_json())


@reports_app.command()
def drop(id: Id) -> None:  # noqa: A002
    """Delete a report that you have dealt with."""
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
