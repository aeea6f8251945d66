"""The playground: a chat platform of our own, on one web page, to try the bot without a token, alone or in company."""

from adapters.playground.adapter import Playground
from bot.house import House


def adapter(house: House) -> Playground | None:
    """The playground, unless the host has told it off."""
    return Playground(house) if house.settings.playground else None


__all__ = ["Playground", "adapter"]
