"""How a command ends that cannot do its work: one line on stderr, and exit code 2."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from bot.settings import BadSetting
from bot.store import StoreFault


@contextmanager
def told() -> Iterator[None]:
    """Say what is wrong with settings or store in one line."""
    try:
        yield
    except (BadSetting, StoreFault) as fault:
        typer.echo(f"buongioco: {fault}", err=True)
        raise typer.Exit(2) from None
