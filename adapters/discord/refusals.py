"""Reasons to refuse a challenge on Discord before the card room sees it."""

import discord

from adapters.discord import reading
from adapters.discord.reading import Interaction
from bot.texts import gettext_noop as _
from bot.texts import texts

# Discord's names of the permissions that a board needs.
VIEW, WRITE, WRITE_IN_THREADS = _("“View Channel”"), _("“Send Messages”"), _("“Send Messages in Threads”")


def challenge_refusal(interaction: Interaction, opponent: discord.User | None, language: str) -> str:
    """Return why no challenge can be shown there, or ""."""
    _ = texts(language).gettext
    if opponent is not None and opponent.bot:
        return _("{name} is a bot. For a game with a robot leave the name out, and press its button.").format(
            name=opponent.display_name
        )
    if interaction.guild_id and not reading.is_guest(reading.place_of(interaction)):
        granted = interaction.app_permissions
        needed = {VIEW: granted.view_channel, WRITE: granted.send_messages}
        if isinstance(interaction.channel, discord.Thread):
            needed = {VIEW: granted.view_channel, WRITE_IN_THREADS: granted.send_messages_in_threads}
        if missing := [_(name) for name, is_granted in needed.items() if not is_granted]:
            return _("I may not write in this channel: I lack {permissions}. Ask who runs the server.").format(
                permissions=", ".join(missing)
            )
    return ""
