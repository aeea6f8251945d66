"""The answer to an unknown command in the private chat, with a button for the command that was probably meant."""

from collections.abc import Mapping

from bot import actions
from bot.actions import BadPayload
from bot.command_names import CommandSpec, find_command_spec
from bot.feature import CommandHandler, Handlers
from bot.panel import Button, Panel, Writer
from bot.people import Profile
from bot.platform import Command, Press, Reply
from bot.tables.errors import TableError
from bot.texts import error_text, texts

WITH_FILE = ("mydata",)  # commands that answer with a file, which the answer to a press cannot have


def can_press(spec: CommandSpec) -> bool:
    """Return whether a button in the private chat can run this command."""
    return spec.availability.includes(private=True) and spec.name not in WITH_FILE


class Misspelt(Handlers):
    """``handlers`` are those of all commands, by the command's name."""

    def __init__(self, handlers: Mapping[str, CommandHandler]) -> None:
        self._handlers = handlers
        self.pages = {"command": self._run}

    async def _run(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        spec = find_command_spec(words[0]) if len(words) == 1 else None
        if spec is None or not can_press(spec):
            raise BadPayload()
        return await self._handlers[spec.name](Command(press.key, press.person, press.place, spec.name), profile)


def misspelt_panel(error: TableError, closest: CommandSpec | None, language: str) -> Panel:
    """Return the answer to an unknown command, with a button for the ``closest`` one if that can be pressed."""
    page = Writer()
    page.line(error_text(error, language))
    if closest and can_press(closest):
        return page.panel((Button(f"/{closest.name_in(language)}", actions.page("command", closest.name), "good"),))
    return page.panel((Button(texts(language).gettext("Help"), actions.page("help")),))
