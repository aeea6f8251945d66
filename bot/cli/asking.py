"""Questions and counts of commands, in words."""

import sys

import typer

from bot.cli.output import clean_text, say


def format_count(count: int, noun: str) -> str:
    """Return a count with its noun: "1 game", "3 games"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def confirm(question: str) -> bool:
    """Ask before something that cannot be undone. Without a terminal, say what to do and exit with 1."""
    try:
        return typer.confirm(clean_text(question))
    except typer.Abort:
        if sys.stdin.isatty():
            raise
        say("\nbuongioco: There is no terminal to ask. Add --yes to skip the question.", err=True)
        raise typer.Exit(1) from None
