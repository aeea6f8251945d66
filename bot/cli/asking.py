"""What commands ask and how they count, in words."""

import sys

import typer

from bot.cli.output import clean_text, say


def format_count(count: int, one: str) -> str:
    """A count with its noun: "1 game", "3 games"."""
    return f"{count} {one}{'' if count == 1 else 's'}"


def confirm(question: str) -> bool:
    """Ask whether something is meant that cannot be taken back; where nobody can answer, say what to do and exit 1."""
    try:
        return typer.confirm(clean_text(question))
    except typer.Abort:
        if sys.stdin.isatty():
            raise
        say("\nbuongioco: nobody is here to answer that: --yes does not ask.", err=True)
        raise typer.Exit(1) from None
