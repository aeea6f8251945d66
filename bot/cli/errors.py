"""How a command ends that cannot do its work: a line on stderr for each fault, and exit code 2. What is logged goes
there as well, for stdout is for what a command has to say.
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
    """Say what is wrong with settings or store, a line for each fault."""
    logs.set_up("warning")
    try:
        yield
    except (BadSetting, StoreError) as fault:
        for line in str(fault).splitlines():
            say(f"buongioco: {line}", err=True)
        raise typer.Exit(2) from None
    except (RedisError, RedisClusterException) as error:
        say(f"buongioco: The store went away ({type(error).__name__}): run the same again.", err=True)
        raise typer.Exit(2) from None
