"""Replies to one person, in a group or in private."""

from bot.panel import Panel
from bot.platform import Command, Reply, is_private
from bot.texts import texts


def private_toast(place: str, language: str) -> str:
    """Return the toast for a panel sent to the private chat; empty if the place is that chat."""
    return "" if is_private(place) else texts(language).gettext("It is in our private chat.")


def private_reply(place: str, language: str, panel: Panel) -> Reply:
    """Reply with a panel for one person: replace the pressed one in a private place, otherwise send it in private."""
    return Reply(private_toast(place, language), panel, private=not is_private(place))


def is_answer_private(command: Command) -> bool:
    """Return whether the person sees private answers in the place of the command."""
    return is_private(command.place) or bool(command.ephemeral)


def command_toast(command: Command, language: str) -> str:
    """Return the toast for a page sent to the private chat. The adapter knows if that fails."""
    return "" if is_answer_private(command) else texts(language).gettext("It is in our private chat.")
