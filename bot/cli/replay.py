"""`buongioco replay`: replay a game from a file."""

from typing import Annotated

import typer

from bot.cli.arguments import ExistingFile, Language
from bot.cli.output import say
from bot.cli.record_files import load_record
from bot.words.transcript import story


def replay(
    file: ExistingFile,
    game: Annotated[int, typer.Option(min=1, help="The game's number in the file.")] = 1,
    deal: Annotated[int | None, typer.Option(min=1, help="Only this deal.")] = None,
    lang: Annotated[Language, typer.Option(help="en or it")] = Language.en,
    pause: Annotated[bool, typer.Option("--pause", help="Wait for Enter after each trick.")] = False,
) -> None:
    """Step through a game, card by card."""
    record = load_record(file, game)
    if deal is not None and deal > len(record.deals):
        raise typer.BadParameter(f"the game has {len(record.deals)} deals", param_hint="--deal")
    for line, trick_over in story(record, deal, lang.value):
        say(line)
        if pause and trick_over:
            input()
