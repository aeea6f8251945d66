"""A group of commands that imports only the command that is called."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


class LazyGroup(TyperGroup):
    """A command group. ``targets`` maps each name to the ``module:name`` of a function or a `typer.Typer`."""

    targets: ClassVar[Mapping[str, str]]

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # Lets Click list the names and suggest one for a typing error.
        self.commands = {name: TyperCommand(name) for name in self.targets}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and return a command; None if the name is unknown."""
        if cmd_name not in self.targets:
            return None
        module, _, name = self.targets[cmd_name].partition(":")
        found = getattr(import_module(module), name)
        if not isinstance(found, typer.Typer):
            function, found = found, typer.Typer(add_completion=False)
            found.command()(function)
        command = typer.main.get_command(found)
        command.name = cmd_name
        return command
