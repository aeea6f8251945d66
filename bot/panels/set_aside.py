"""The panel of a table that cannot be read any more."""

from bot.panel import Panel, Span, Writer
from bot.texts import texts


def set_aside_panel(code: str, language: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Table {code} is set aside"), "bold", code=Span(code, "code"))
    page.gap()
    page.line(_("I cannot read it any more, so it cannot go on for now. Nothing of it is lost."))
    page.line(_("Whoever hosts me can look into it. You can play at other tables."))
    return page.panel()
