"""Finds the handler of each command."""

from collections.abc import Iterable

from bot.commands import Availability, find_command_spec
from bot.feature import CommandHandler, Handlers
from bot.handlers.errors import OnlyInGroups, OnlyInPrivate, PhrasesAreButtons, ReportIsAButton, UnknownCommand
from bot.people import Profile
from bot.platform import Command, Reply, is_private

BUTTON_ERRORS = {  # by commands that people try, and that exist only as buttons
    "report": ReportIsAButton,
    "segnala": ReportIsAButton,
    "phrases": PhrasesAreButtons,
    "frasi": PhrasesAreButtons,
}


class Commands:
    """All commands, of the core and of features."""

    def __init__(self, all_handlers: Iterable[Handlers]) -> None:
        self._handlers: dict[str, CommandHandler] = {}
        for handlers in all_handlers:
            self._handlers |= handlers.commands

    async def answer(self, command: Command, profile: Profile) -> Reply:
        spec = find_command_spec(command.word)
        if spec is None:
            button = BUTTON_ERRORS.get(command.word)
            raise button() if button else UnknownCommand(word=command.word[:32])
        if not spec.availability.includes(private=is_private(command.place)):
            raise (OnlyInGroups if spec.availability is Availability.GROUP else OnlyInPrivate)(word=command.word)
        return await self._handlers[spec.name](command, profile)
