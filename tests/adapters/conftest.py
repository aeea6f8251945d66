"""The same real store as the bot's tests have."""

from tests.bot.conftest import embedded, shared_valkey, store

__all__ = ["embedded", "shared_valkey", "store"]
