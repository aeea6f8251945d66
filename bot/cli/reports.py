"""`buongioco reports`: list, show and delete reports about strangers."""

from typing import Annotated

import typer

from bot.cli.output import format_count, format_time, line_output, say
from bot.cli.store_commands import open_store_client, store_command
from bot.features.find.reports import Report, Reports
from bot.finished.archive import Archive

reports_app = typer.Typer(add_completion=False, help="People's reports about strangers: list, show, drop.")

Id = Annotated[str, typer.Argument(metavar="ID", help="The report's id, as `buongioco reports` lists it.")]


@reports_app.callback(invoke_without_command=True)
@store_command
async def list_reports(context: typer.Context) -> None:
    """List the reports, newest first: id, time, game, reported person, reporter."""
    if context.invoked_subcommand:
        return
    async with open_store_client() as client:
        reports = [item async for item in Reports(client).all_reports()]
    for report_id, report in sorted(reports, key=lambda item: item[1].at, reverse=True):
        say(f"{report_id}  {format_time(report.at)}  {report.game}  {_format_people(report)}")
    say(format_count(len(reports), "report"), err=True)


@reports_app.command()
@store_command
async def show(report_id: Id) -> None:
    """Write the record of a report's game, for `buongioco replay` and `verify`."""
    async with open_store_client() as client:
        report = await Reports(client).get(report_id)
        if report is None:
            raise typer.BadParameter(f"There is no report {report_id}.", param_hint="ID")
        game = await Archive(client).get(report.game_id)
    say(f"{format_time(report.at)}  {_format_people(report)}", err=True)
    if game is None:
        say(f"Its game is not in the archive: table {report.code} still plays it, or it was moved to a file.", err=True)
        return
    with line_output(None) as write:
        write(game.record.to_json())


@reports_app.command()
@store_command
async def drop(report_id: Id) -> None:
    """Delete a report that you have dealt with."""
    async with open_store_client() as client:
        if not await Reports(client).delete(report_id):
            raise typer.BadParameter(f"There is no report {report_id}.", param_hint="ID")
    say(f"Report {report_id} is dropped.")


def _format_people(report: Report) -> str:
    return f"{report.about_name} ({report.about}) by {report.by_name} ({report.by})"
