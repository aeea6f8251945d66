"""The playground: a chat platform of our own, on one web page, to try the bot without a token, alone or in company."""

from adapters.playground.adapter import Playground
from bot.platform import CardRoom


def make(card_room: CardRoom) -> Playground | None:
    """The playground, unless the host has told it off."""
    return Playground(card_room) if card_room.settings.playground else None


__all__ = ["Playground", "make"]
