"""Panels of honours."""

from collections.abc import Mapping, Sequence

from bot import actions
from bot.features.ratings.honours import Honour, Month, OwnHonour
from bot.identity.pseudonyms import localize_name
from bot.panel import Button, Panel, Row, Writer
from bot.tables.snapshot import isolate_name
from bot.texts import month_name, texts

MAX_MONTHS = 6  # months in a group's list


def honour_text(language: str, honour: Honour, people: int = 1) -> str:
    _, ngettext = texts(language)
    return {
        "champion": ngettext("🏆 Champion, rating {figure}", "🏆 Champions, rating {figure}", people),
        "streak": _("🔥 Longest run: {figure} games won in a row"),
        "fours": _("🃏 Most declarations of four threes: {figure}"),
        "comeback": _("↩️ Greatest comeback: behind by {figure} % of the target"),
    }[honour.kind].format(figure=honour.figure)


def chat_honours_panel(language: str, months: Sequence[Month], names: Mapping[str, str]) -> Panel:
    _ = texts(language).gettext
    page = Writer(_("🏛 Honours"))
    if not months:
        page.line(_("None yet. Honours appear when a month with rated games ends."))
    rows: list[Row] = []
    for month in months:
        page.gap()
        page.line(month_name(month.name, language), "bold")
        for honour in month.honours:
            *other_names, last_name = (isolate_name(localize_name(names[person], language)) for person in honour.people)
            names_text = _(" and ").join([", ".join(other_names), last_name] if other_names else [last_name])
            page.line("{honour} · {who}", honour=honour_text(language, honour, len(honour.people)), who=names_text)
        label = _("Final table: {month}").format(month=month_name(month.name, language))
        rows.append((Button(label, actions.page("leaderboard", "chat", month.name, "all")),))
    return page.panel(*rows)


def own_honours_panel(language: str, honours: Sequence[OwnHonour], chats: Mapping[str, str]) -> Panel:
    """Return the reader's own honours; ``chats`` maps groups to their names, "" if unknown."""
    _ = texts(language).gettext
    page = Writer(_("🏛 Your honours"))
    if not honours:
        page.line(_("None yet. Each month your groups honour a champion, the longest winning run and more."))
    for month, chat, honour in honours:
        place_text = f" · {isolate_name(chats[chat])}" if chats.get(chat) else ""
        page.line(f"{month_name(month, language)}{place_text}: {honour_text(language, honour)}")
    return page.panel()
