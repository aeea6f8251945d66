"""`buongioco analyse`: analyse a game from a file."""

from typing import Annotated

import typer

from bot.cli.arguments import ExistingFile, Language
from bot.cli.output import progress, say
from bot.cli.record_files import load_record
from bot.features.analysis.pages import analysis_page
from bot.finished.game import FinishedGame
from engine.robots.analysis import analyse_deal
from engine.robots.verdicts import Verdict


def analyse(
    file: ExistingFile,
    game: Annotated[int, typer.Option(min=1, help="The game's number in the file.")] = 1,
    lang: Annotated[Language, typer.Option(help="en or it")] = Language.en,
) -> None:
    """Show how well a game was played: points lost, and the costliest moves with better ones."""
    record = load_record(file, game)
    verdicts: list[Verdict] = []
    with progress(len(record.deals), file.name) as bar:
        for deal in range(1, len(record.deals) + 1):
            verdicts += analyse_deal(record, deal)
            bar.update(1)
    name, people = f"{file.name} {game}", list(record.seats)
    finished = FinishedGame(id="", code=name, ended=0, people=people, chats=[], clock=0, strict=False, record=record)
    page = analysis_page(finished, verdicts, len(record.deals), lang.value, "codes")
    say(page.plain)
