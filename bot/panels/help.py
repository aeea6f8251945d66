"""The greeting, and the pages of /help."""

from collections.abc import Sequence

from bot import actions
from bot.commands import CommandSpec, HelpGroup, listed_commands
from bot.panel import Button, Panel, Writer
from bot.texts import texts


def greeting_page(language: str, more: Sequence[Button], *, in_private: bool) -> Panel:
    """Return the first message to a newcomer or a group, with the buttons of features."""
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Hi! I deal Tressette and Spades."), "bold")
    page.line(_("See all I can do: /help"))
    friend = Button(_("Challenge a friend"), actions.page("challenge", "friend"), "good")
    robot = Button(_("Play a robot"), actions.page("challenge", "robot"), "good")
    return page.panel((robot, friend) if in_private else (friend,), tuple(more))


def help_page(language: str, *, is_full: bool = False) -> Panel:
    """Return the main commands, or all, under headings."""
    _ = texts(language).gettext
    page = Writer()
    for group in HelpGroup:
        page.gap()
        page.line(_(group), "bold")
        for spec in listed_commands():
            if spec.group is group and (spec.is_main or is_full):
                page.line(_command_line(spec, language) if is_full else _short_line(spec, language))
    other = Button(_("◀ Back"), actions.page("help")) if is_full else Button(_("All commands"), ALL)
    return page.panel((Button(_("Rules"), actions.page("rules")), other))


ALL = actions.page("help", "all")


def _short_line(spec: CommandSpec, language: str) -> str:
    return f"/{spec.name_in(language)}: {texts(language).gettext(spec.help)}"


def _command_line(spec: CommandSpec, language: str) -> str:
    has_signs = any(argument.in_help for argument in spec.arguments)
    return f"/{spec.name_in(language)}{' ' if has_signs else ': '}{spec.help_line(language)}"
