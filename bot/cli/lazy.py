"""A group of commands each of which is imported when it is called: none waits for what only another needs."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


class LazyGroup(TyperGroup):
    """A group whose commands stand in ``places``: name to ``module:function``, or to a `typer.Typer` of its own."""

    targets: ClassVar[Mapping[str, str]]

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # So that names can be listed, and suggested to who mistypes one.
        self.commands = {name: TyperCommand(name) for name in self.targets}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, imported now; None where there is none of this name."""
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
