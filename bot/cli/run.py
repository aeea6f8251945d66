"""`buongioco run`: run the bot."""

import asyncio
import os

import typer

from bot.cli.output import say
from bot.running import logs
from bot.running.own_packages import ForeignPackage, check_own_packages
from bot.running.run import run as run_bot
from bot.running.supervisor import NothingToRun
from bot.secret_settings import drop_secrets
from bot.settings import BadSetting
from bot.settings_reader import read_settings
from bot.store import StoreError, StoreUnavailable


def run() -> None:
    """Run the bot: the playground in the browser, and every platform whose token is set.

    Exit code 2: the host must fix something. Exit code 75: a later attempt can succeed.
    """
    try:
        check_own_packages()
        settings = read_settings()
        drop_secrets()
        logs.set_up(settings.log_level)
        asyncio.run(run_bot(settings))
    except (BadSetting, ForeignPackage, StoreError, NothingToRun) as error:
        for line in str(error).splitlines():
            say(f"buongioco: {line}", err=True)
        raise typer.Exit(os.EX_TEMPFAIL if isinstance(error, StoreUnavailable) else 2) from None
