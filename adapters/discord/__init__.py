"""Discord, through discord.py."""

from adapters.discord.adapter import Discord
from adapters.discord.doctor import examine
from bot.desk import Desk


def make(desk: Desk) -> Discord | None:
    """Discord, if the host has given a token."""
    token = desk.house.settings.discord_token
    return Discord(desk, token.get_secret_value()) if token else None


__all__ = ["Discord", "examine", "make"]
