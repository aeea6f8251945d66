"""Panels about a person's programs."""

from collections.abc import Sequence

from bot import actions
from bot.identity.programs import MOST_EACH, Program
from bot.panel import Button, Panel, Writer
from bot.texts import texts


def programs_page(language: str, programs: Sequence[Program]) -> Panel:
    """List a person's programs, each with a button that revokes its token."""
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Programs of yours that play"), "bold")
    page.line(_("With a token a program sits down as a robot, under a name of its own; its games are in no rating."))
    plays, reads = _("plays"), _("only sees")
    for number, program in enumerate(programs, 1):
        line = _("{number}. {name}: {does}")
        page.line(line, number=number, name=program.name, does=plays if "play" in program.scopes else reads)
    making = (
        Button(_("Token to play"), actions.page("programs", "make", "play"), "good"),
        Button(_("Token to see"), actions.page("programs", "make", "read")),
    )
    revoking = tuple(
        Button(_("Revoke {number}").format(number=number), actions.page("programs", "revoke", program.id), "danger")
        for number, program in enumerate(programs, 1)
    )
    rows = (making if len(programs) < MOST_EACH else (), revoking, (Button(_("◀ Back"), actions.page("settings")),))
    return page.panel(*(row for row in rows if row))


def token_panel(language: str, program: Program, token: str, pages: str) -> Panel:
    """Show a new token. It is never shown again."""
    _ = texts(language).gettext
    page = Writer()
    page.line(_("The token of {name}:"), name=program.name)
    page.line(token, "code")
    page.line(_("It is shown only now: keep it to yourself, and delete this message when you have copied it."))
    page.line(_("What a program may ask for: {address}"), address=f"{pages}/api/v1/openapi.json")
    return page.panel()
