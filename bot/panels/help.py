"""The page of /help: how to start, and all commands."""

from bot import actions
from bot.commands import listed_commands
from bot.panel import Button, Panel, Writer
from bot.panels.offer import share_button
from bot.texts import texts


def help_page(language: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Buongioco: Italian cards among friends"), "bold")
    page.line(
        _(
            "Write /challenge in a group: whoever presses Accept plays with you. Your cards come in the private chat "
            "with me: press one to play it. If nobody is there, press a robot on the challenge, or write me /find."
        )
    )
    page.line(_("In pictures the cards that you may not play just now are dimmed."))
    page.gap()
    for spec in listed_commands():
        has_signs = any(argument.in_help for argument in spec.arguments)
        page.line(f"/{spec.name_in(language)}{' ' if has_signs else ': '}{spec.help_line(language)}")
    return page.panel((Button(_("Rules"), actions.page("rules")), share_button(language)))
