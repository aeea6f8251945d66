"""The library's tree of commands, in which nothing that Discord sends is left without an answer or ends in a traceback:
whatever cannot be read, and whatever fails on the way, is told to one function.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Namespace

from adapters.discord import reading
from adapters.discord.reading import Interaction

HandleError = Callable[[Interaction, Exception], Awaitable[None]]
"""What is told of an interaction, and of the error that it met."""


def has_valid_options(data: object) -> bool:
    """Return whether every option of a command has a name and a type."""
    options = data.get("options") if isinstance(data, dict) else None
    return not isinstance(options, list) or all(
        isinstance(one, dict)
        and isinstance(one.get("name"), str)
        and one["name"]
        and type(one.get("type")) is int
        and one["type"] > 0
        for one in options
    )


class Tree(app_commands.CommandTree[discord.Client]):
    """``failed`` is told of what fails."""

    def __init__(self, client: discord.Client, failed: HandleError) -> None:
        super().__init__(client, allowed_installs=app_commands.AppInstallationType(guild=True, user=True))
        self.failed = failed

    async def on_error(self, interaction: Interaction, error: app_commands.AppCommandError, /) -> None:
        await self.failed(interaction, error)

    async def interaction_check(self, interaction: Interaction, /) -> bool:
        if not reading.is_complete(interaction):
            raise app_commands.CheckFailure("nobody did it, or nowhere")
        if not has_valid_options(interaction.data):
            # The library leaves such an option out: a challenge would be open to all.
            raise app_commands.CheckFailure("an option without a name or a type")
        return True

    async def _call(self, interaction: Interaction) -> None:
        try:
            await super()._call(interaction)
        except Exception as error:  # noqa: BLE001 - the library's, of whatever shape the interaction was
            await self.failed(interaction, error)


class SlashCommand(app_commands.Command[Any, ..., None]):
    """A command whose choices may fail to come: the library would write a traceback for each, and answer nothing."""

    async def _invoke_autocomplete(self, interaction: Interaction, name: str, namespace: Namespace) -> None:
        try:
            await super()._invoke_autocomplete(interaction, name, namespace)
        except Exception as error:  # noqa: BLE001 - told as all that fails
            tree = interaction.client._connection._command_tree
            assert isinstance(tree, Tree)
            await tree.failed(interaction, error)
