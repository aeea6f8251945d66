"""`buongioco analyse`: what the games of a file could have been."""

import sys
from pathlib import Path

import typer

from bot.cli.files import records
from bot.finished.archive import FinishedGame
from bot.panels.analysis import analysis_page
from engine import Record
from engine.errors import BadRecord
from engine.robots.analysis import analyse_deal
from engine.robots.findings import Verdict


def analyse(path: Path, number: int, language: str) -> None:
    """Print the analysis of a file's game; BadParameter if there is no such game, BadRecord if it cannot be read."""
    record = next((entry.record for entry in records(path) if entry.number == number), None)
    if record is None:
        raise typer.BadParameter(f"{path} has no game {number}", param_hint="--game")
    if isinstance(record, BadRecord):
        raise record
    verdicts: list[Verdict] = []
    deals = range(1, len(record.deals) + 1)
    with typer.progressbar(deals, label=path.name, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
        for deal in bar:
            verdicts += analyse_deal(record, deal)
    typer.echo(
        analysis_page(_named(record, f"{path.name} {number}"), verdicts, len(record.deals), language, "codes").plain
    )


def _named(record: Record, name: str) -> FinishedGame:
    return FinishedGame(
        id="", code=name, ended=0, people=list(record.seats), chats=[], clock=0, strict=False, record=record
    )
