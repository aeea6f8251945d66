"""The end of failing commands: a line on stderr for each fault, and exit code 2.

Logs go to stderr too, because stdout is for a command's output.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from redis.exceptions import RedisClusterException, RedisError

from bot import logs
from bot.cli.output import say
from bot.settings import BadSetting
from bot.store import StoreError


@contextmanager
def report_errors() -> Iterator[None]:
    """Turn errors of settings and store into lines on stderr and exit code 2."""
    logs.set_up("warning")
    try:
        yield
    except (BadSetting, StoreError) as fault:
        for line in str(fault).splitlines():
            say(f"buongioco: {line}", err=True)
        raise typer.Exit(2) from None
    except (RedisError, RedisClusterException) as error:
        say(f"buongioco: The store went away ({type(error).__name__}). Run the command again.", err=True)
        raise typer.Exit(2) from None
