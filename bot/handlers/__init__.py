"""Handlers of commands and button presses."""

from bot.handlers.dispatcher import Dispatcher

__all__ = ["Dispatcher"]
