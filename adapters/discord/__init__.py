"""Discord, through discord.py. The library is imported only with a token, because the import takes half a second."""

from collections.abc import AsyncIterator

from bot.card_room import CardRoom
from bot.platform import Adapter
from bot.settings import Settings


def make(card_room: CardRoom) -> Adapter | None:
    token = card_room.settings.discord_token
    if token is None:
        return None
    from adapters.discord.adapter import Discord  # noqa: PLC0415 - see above

    return Discord(card_room, token.get_secret_value())


def examine(settings: Settings) -> AsyncIterator[tuple[bool, str]]:
    from adapters.discord.doctor import examine as examine_discord  # noqa: PLC0415 - see above

    return examine_discord(settings)
