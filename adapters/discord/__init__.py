"""Discord, through discord.py: imported where there is a token, for it takes half a second."""

from collections.abc import AsyncIterator

from bot.desk import Desk
from bot.platform import Adapter
from bot.settings import Settings


def make(desk: Desk) -> Adapter | None:
    """Discord, if the host has given a token."""
    token = desk.house.settings.discord_token
    if token is None:
        return None
    from adapters.discord.adapter import Discord  # noqa: PLC0415 - see above

    return Discord(desk, token.get_secret_value())


def examine(settings: Settings) -> AsyncIterator[tuple[bool, str]]:
    """What `buongioco doctor` says of Discord."""
    from adapters.discord.doctor import examine as examine_discord  # noqa: PLC0415 - see above

    return examine_discord(settings)
