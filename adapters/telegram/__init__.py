"""Telegram, through python-telegram-bot."""

from adapters.telegram.adapter import Telegram
from adapters.telegram.doctor import examine
from bot.desk import Desk


def make(desk: Desk) -> Telegram | None:
    """Telegram, if the host has given a token."""
    token = desk.house.settings.telegram_token
    return Telegram(desk, token.get_secret_value()) if token else None


__all__ = ["Telegram", "examine", "make"]
