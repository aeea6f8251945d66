"""The page of rules."""

from bot import actions
from bot.commands import FAIR
from bot.panel import Button, Panel, Writer
from bot.texts import texts
from bot.words.phrases import game_names
from bot.words.rules import has_common_rules, rules_text


def rules_page(language: str, about: str = "", faces: str = "italian") -> Panel:
    """Return a page of `rules_text`, with buttons to the other pages."""
    _ = texts(language).gettext
    page = Writer()
    text = rules_text(language, about, faces)
    page.line(text.title, "bold")
    page.gap()
    for line in text.lines:
        page.line(f"• {line}")
    if has_common_rules(about):
        page.line(_("• The rules common to all Tressette games: /rules"))
    names = {**game_names(language), FAIR: _("Is it fair?")}
    buttons = [Button(name, actions.page("rules", subject)) for subject, name in names.items()]
    common = Button(_("Common rules"), actions.page("rules"))
    return page.panel(*(tuple(buttons[start : start + 2]) for start in range(0, len(buttons), 2)), (common,))
