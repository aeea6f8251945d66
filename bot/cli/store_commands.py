"""Shared parts of commands that read or change the store."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any, ParamSpec

from bot.cli.errors import report_errors
from bot.settings import Settings, read_settings
from bot.store import schema
from bot.store.opening import connect_beside_bot

P = ParamSpec("P")


def store_command(function: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Make a command from an asynchronous function. Its errors are reported as in `report_errors`."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with report_errors():
            asyncio.run(function(*args, **kwargs))

    return run


@asynccontextmanager
async def open_store_client(settings: Settings | None = None) -> AsyncIterator[Any]:
    """Yield a client of the store that the bot uses or would use, if this version reads its layout."""
    async with connect_beside_bot(settings or read_settings()) as client:
        await schema.check(client, migrate=False)
        yield client
