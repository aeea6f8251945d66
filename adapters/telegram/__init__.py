"""Telegram, through python-telegram-bot. The library is imported only with a token: the import takes half a second."""

from collections.abc import AsyncIterator

from bot.card_room import CardRoom
from bot.platform import Adapter
from bot.settings import Settings


def make(card_room: CardRoom) -> Adapter | None:
    token = card_room.settings.telegram_token
    if token is None:
        return None
    from adapters.telegram.adapter import Telegram  # noqa: PLC0415 - see above

    return Telegram(card_room, token.get_secret_value())


def examine(settings: Settings) -> AsyncIterator[tuple[bool, str]]:
    from adapters.telegram.doctor import examine as examine_telegram  # noqa: PLC0415 - see above

    return examine_telegram(settings)
