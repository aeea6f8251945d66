"""Shared parts of commands that use the store.

A failed command prints a line on stderr for each fault and exits with 2. Logs go to stderr too, because stdout is for a
command's output.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import wraps
from typing import Any, ParamSpec

import typer
from redis.exceptions import RedisClusterException, RedisError

from bot.cli.output import say
from bot.running import logs
from bot.settings import BadSetting, Settings
from bot.settings_reader import read_settings
from bot.store import StoreError, layout_version
from bot.store.host_access import connect_beside_bot

P = ParamSpec("P")


@contextmanager
def report_errors() -> Iterator[None]:
    """Turn errors of settings and store into lines on stderr and exit code 2."""
    logs.set_up("warning")
    try:
        yield
    except (BadSetting, StoreError) as error:
        for line in str(error).splitlines():
            say(f"buongioco: {line}", err=True)
        raise typer.Exit(2) from None
    except (RedisError, RedisClusterException) as error:
        say(f"buongioco: The store went away ({type(error).__name__}). Run the command again.", err=True)
        raise typer.Exit(2) from None


def store_command(function: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Make a command from an asynchronous function. Its errors are reported as in `report_errors`."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with report_errors():
            asyncio.run(function(*args, **kwargs))

    return run


@asynccontextmanager
async def open_store_client(settings: Settings | None = None) -> AsyncIterator[Any]:
    """Yield a client of the store that the bot uses or would use.

    Raises StoreError if this version does not read the store's layout.
    """
    async with connect_beside_bot(settings or read_settings()) as client:
        await layout_version.check(client, migrate=False)
        yield client
