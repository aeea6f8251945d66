"""The same real store as the bot's tests have."""

from tests.bot.conftest import embedded, store

__all__ = ["embedded", "store"]
