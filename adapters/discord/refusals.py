"""Reasons to refuse a challenge on Discord before the card room sees it."""

import discord

from adapters.discord import reading
from adapters.discord.reading import Interaction
from bot.texts import gettext_noop as _
from bot.texts import texts

VIEW, WRITE, WRITE_IN_THREADS = _("“View Channel”"), _("“Send Messages”"), _("“Send Messages in Threads”")


def challenge_refusal(interaction: Interaction, opponent: discord.User | None, language: str) -> str:
    """Return why no challenge can be shown there, or ""."""
    _ = texts(language).gettext
    if opponent is not None and opponent.bot:
        return _("{name} is a bot. For a game with a robot leave the name out, and press its button.").format(
            name=opponent.display_name
        )
    if interaction.guild_id and not reading.is_guest(reading.place_of(interaction)):
        missing = [name for name, has in _board_permissions(interaction) if not has]
        if missing:
            return _("I may not write in this channel: I lack {permissions}. Ask who runs the server.").format(
                permissions=", ".join(_(name) for name in missing)
            )
    return ""


def _board_permissions(interaction: Interaction) -> list[tuple[str, bool]]:
    """Return the permissions that a board needs, by Discord's names, and whether the bot has them."""
    has = interaction.app_permissions
    if isinstance(interaction.channel, discord.Thread):
        return [(VIEW, has.view_channel), (WRITE_IN_THREADS, has.send_messages_in_threads)]
    return [(VIEW, has.view_channel), (WRITE, has.send_messages)]
