"""`buongioco run`: the bot."""

import asyncio

import typer

from bot import logs
from bot.running import run as run_bot
from bot.settings import BadSetting, read_settings
from bot.store import StoreError
from bot.supervisor import NothingToRun


def run() -> None:
    """Run the bot: the playground in the browser, and every platform whose token is set."""
    try:
        settings = read_settings()
        logs.set_up(settings.log_level)
        asyncio.run(run_bot(settings))
    except (BadSetting, StoreError, NothingToRun) as error:
        for line in str(error).splitlines():
            typer.echo(f"buongioco: {line}", err=True)
        raise typer.Exit(2) from None
