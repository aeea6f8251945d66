"""The library's command tree, with every failure passed to one handler.

The library itself would leave some interactions unanswered and write tracebacks.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Namespace

from adapters.discord import reading
from adapters.discord.reading import Interaction

HandleError = Callable[[Interaction, Exception], Awaitable[None]]  # receives an interaction and the error it met


def has_valid_options(data: object) -> bool:
    options = data.get("options") if isinstance(data, dict) else None
    return not isinstance(options, list) or all(
        isinstance(option, dict)
        and isinstance(option.get("name"), str)
        and option["name"]
        and type(option.get("type")) is int
        and option["type"] > 0
        for option in options
    )


class Tree(app_commands.CommandTree[discord.Client]):
    """The command tree. ``failed`` receives each error."""

    def __init__(self, client: discord.Client, failed: HandleError) -> None:
        super().__init__(client, allowed_installs=app_commands.AppInstallationType(guild=True, user=True))
        self.failed = failed

    async def on_error(self, interaction: Interaction, error: app_commands.AppCommandError, /) -> None:
        await self.failed(interaction, error)

    async def interaction_check(self, interaction: Interaction, /) -> bool:
        if not reading.is_complete(interaction):
            raise app_commands.CheckFailure("nobody did it, or nowhere")
        if not has_valid_options(interaction.data):
            # The library drops such an option, and a challenge would be open to everyone.
            raise app_commands.CheckFailure("an option without a name or a type")
        return True

    async def _call(self, interaction: Interaction) -> None:
        try:
            await super()._call(interaction)
        except Exception as error:  # noqa: BLE001 - the library can raise anything
            await self.failed(interaction, error)


class SlashCommand(app_commands.Command[Any, ..., None]):
    """A command whose autocompletion can fail. The library would write a traceback and answer nothing."""

    async def _invoke_autocomplete(self, interaction: Interaction, name: str, namespace: Namespace) -> None:
        try:
            await super()._invoke_autocomplete(interaction, name, namespace)
        except Exception as error:  # noqa: BLE001 - handled like every failure
            tree = interaction.client._connection._command_tree
            assert isinstance(tree, Tree)
            await tree.failed(interaction, error)
