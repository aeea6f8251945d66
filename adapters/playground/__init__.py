"""The playground: a chat platform of our own, on one web page, to try the bot without a token, alone or in company."""

from adapters.playground.adapter import Playground
from bot.desk import Desk


def make(desk: Desk) -> Playground | None:
    """The playground, unless the host has told it off."""
    return Playground(desk) if desk.house.settings.playground else None


__all__ = ["Playground", "make"]
