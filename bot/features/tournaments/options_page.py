"""The page on which the organiser chooses options before the start."""

from collections.abc import Mapping
from typing import NamedTuple

from bot.features.tournaments.card_panel import back_row, button, payload
from bot.features.tournaments.texts import TournamentText, form_names, time_name, unit_of
from bot.features.tournaments.tournament import DAY, OPTIONS, Tournament
from bot.panel import Panel, choice_button
from bot.tables.clock import CLOCKS
from bot.words.table_lines import capitalize, clock_name, game_names, option_names, short_clock, value_name
from engine import GAMES
from engine.options import Value, format_value


class OptionValue(NamedTuple):
    """A value of an option. ``words`` is the payload of the button that chooses it."""

    label: str
    is_chosen: bool
    words: tuple[object, ...]


def options_panel(language: str, tournament: Tournament, option: str = "", *, has_pages: bool = True) -> Panel:
    """Show all options with their values, or the values of one ``option``. ``has_pages``: the bot has web pages."""
    text = TournamentText(language, tournament)
    _ = text.gettext
    page = text.start_page()
    for line in text.terms():
        page.line(line)
    clock = tournament.choice.clock
    if clock and clock >= tournament.time:
        page.line(_("⚠️ One move can take a whole round. The player to move when it ends loses."), "italic")
    elif 0 < clock < DAY < tournament.time:
        note = _("⚠️ Once a game has begun, it’s {clock}, however long the round is.")
        page.line(note, "italic", clock=clock_name(text.words, clock))
    options = {name: choice for name, choice in _choices(text).items() if name != "web" or has_pages}
    if option in options:
        name, values = options[option]
        page.gap()
        page.line(capitalize(name), "bold")
        buttons = [choice_button(value.label, value.is_chosen, payload(tournament, *value.words)) for value in values]
        rows = [tuple(buttons[start : start + 2]) for start in range(0, len(buttons), 2)]
        return page.panel(*rows, (button(_("◀ Back"), tournament, "options"),))
    rows = []
    for id_, (name, values) in options.items():
        label = next((value.label for value in values if value.is_chosen), "–")
        rows.append((button(f"{capitalize(name)}: {label}", tournament, "options", id_),))
    return page.panel(*rows, (button(_("Done"), tournament, "done"),))


def _choices(text: TournamentText) -> Mapping[str, tuple[str, list[OptionValue]]]:
    """Return each option's label and values, by its name in payloads. The game's own options come last."""
    tournament, _ = text.tournament, text.gettext

    def values(option: str, labels: Mapping[str, str]) -> list[OptionValue]:
        chosen_value = tournament.options[option]
        return [OptionValue(labels[value], value == chosen_value, ("set", option, value)) for value in OPTIONS[option]]

    times = {value: time_name(text.language, int(value)) for value in OPTIONS["time"]}
    games = [
        OptionValue(name, id_ == tournament.game, ("game", id_)) for id_, name in game_names(text.language).items()
    ]
    clocks = [
        OptionValue(short_clock(text.words, seconds), seconds == tournament.choice.clock, ("clock", seconds))
        for seconds in CLOCKS
    ]
    options = {
        "form": (_("form"), values("form", form_names(text.language))),
        "game": (_("game"), games),
        "time": (
            _("time for all matches") if tournament.form == "league" else _("time a round"),
            values("time", times),
        ),
        "clock": (_("clock"), clocks),
        "web": (_("who can join"), values("web", {"no": _("this group"), "yes": _("everyone, on the web")})),
    }
    if tournament.form in ("swiss", "duplicate"):
        counts = {value: _("by number of players") if value == "auto" else value for value in OPTIONS["rounds"]}
        options["rounds"] = _("rounds"), values("rounds", counts)
    if tournament.is_duplicate:
        scoring = {"points": _("points above average"), "steps": _("steps")}
        options["deals"] = _("deals a match"), values("deals", {value: value for value in OPTIONS["deals"]})
        options["scoring"] = _("scoring"), values("scoring", scoring)
    names = option_names(text.words)
    for option, choices in GAMES[tournament.game].rules.choices().items():
        # A duplicate has no target, because its games are single deals.
        if len(choices) > 1 and not (option == "target" and tournament.is_duplicate):
            options[option] = names[option], [_rule_value(text, option, value) for value in choices]
    return options


def _rule_value(text: TournamentText, option: str, value: Value) -> OptionValue:
    tournament = text.tournament
    label = str(int(value) * unit_of(tournament)) if option == "target" else value_name(text.words, value)
    return OptionValue(label, tournament.choice.rules[option] == value, ("rule", f"{option}={format_value(value)}"))


def done_panel(language: str, tournament: Tournament) -> Panel:
    text = TournamentText(language, tournament)
    page = text.start_page()
    for line in text.terms():
        page.line(line)
    page.gap()
    page.line(text.gettext("The card in the group is up to date."))
    return page.panel(back_row(text))
