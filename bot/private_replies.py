"""Replies to one person, in a group or in private."""

from bot.panel import Panel
from bot.platform import Command, Reply, is_private
from bot.texts import texts


def private_toast(place: str, language: str) -> str:
    """Return the toast for a panel sent to the private chat; empty if the place is private or ephemeral."""
    return "" if is_private(place) else texts(language).gettext("Sent to your private chat.")


def private_reply(place: str, language: str, panel: Panel) -> Reply:
    """Reply with a panel for one person.

    In a private place it replaces the pressed message, otherwise it is sent in private.
    """
    return Reply(private_toast(place, language), panel, private=not is_private(place))


def answer_place(command: Command) -> str:
    """Return the place of a private answer to a command: the ephemeral one if there is one, else the command's."""
    return command.ephemeral or command.place
