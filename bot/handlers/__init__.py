"""Handlers: what people ask for, by commands and buttons, and what they are answered."""

from bot.handlers.dispatcher import Dispatcher

__all__ = ["Dispatcher"]
