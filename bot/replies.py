"""Replies that go to one person, wherever they asked."""

from bot.panel import Panel
from bot.platform import Command, Reply, is_private
from bot.texts import texts


def private_toast(place: str, language: str) -> str:
    """Return what to say at a place beside a panel that goes to the private chat; empty if the place is that chat."""
    return "" if is_private(place) else texts(language).gettext("It is in our private chat.")


def private_reply(place: str, language: str, panel: Panel) -> Reply:
    """Reply with a panel for one person: in place of the pressed one if nobody else sees it, otherwise in private."""
    return Reply(private_toast(place, language), panel, private=not is_private(place))


def is_answer_private(command: Command) -> bool:
    """Return whether the person sees what is sent to them alone where they gave the command."""
    return is_private(command.place) or bool(command.ephemeral)


def command_toast(command: Command, language: str) -> str:
    """Return what to say beside a page that the adapter sends to the private chat; it knows if that fails."""
    return "" if is_answer_private(command) else texts(language).gettext("It is in our private chat.")
