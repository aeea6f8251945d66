"""The desk: what people ask for, by commands and buttons, and what they are answered."""

from bot.desk.desk import Desk

__all__ = ["Desk"]
