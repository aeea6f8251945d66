"""The page on which the organiser chooses options before the start."""

from collections.abc import Mapping
from typing import NamedTuple

from bot.features.tournaments.panel import back_row, button, payload
from bot.features.tournaments.texts import TournamentText, form_names, time_name, unit_of
from bot.features.tournaments.tournament import DAY, OPTIONS, Tournament
from bot.panel import Panel, choice_button
from bot.tables.table import CLOCKS
from bot.words.phrases import capitalize, clock_name, game_names, option_names, short_clock, value_name
from engine import GAMES
from engine.rules import Value, format_value

# options of every tournament if its form has them; the game's own options come next
COMMON_OPTIONS = ("form", "game", "time", "clock", "rounds", "deals", "scoring")


def options_panel(language: str, t: Tournament, about: str = "") -> Panel:
    """Show all options with their values, or the values of the option ``name``."""
    text = TournamentText(language, t)
    page = text.start_page()
    for line in text.terms():
        page.line(line)
    if note := _pace_warning(text):
        page.line(note, "italic")
    values = _choices(text)
    if about in values:
        name, each = values[about]
        page.gap()
        page.line(capitalize(name), "bold")
        buttons = [choice_button(one.label, one.is_chosen, payload(t, *one.words)) for one in each]
        rows = [tuple(buttons[at : at + 2]) for at in range(0, len(buttons), 2)]
        return page.panel(*rows, (button(text.gettext("◀ Back"), t, "options"),))
    rows = [
        (button(f"{capitalize(name)}: {next((one.label for one in each if one.is_chosen), '–')}", t, "options", about),)
        for about, (name, each) in values.items()
    ]
    return page.panel(*rows, (button(text.gettext("Done"), t, "done"),))


def _pace_warning(text: TournamentText) -> str:
    """Warn if the time for a move does not fit the time of a round; empty if it does."""
    t, _ = text.t, text.gettext
    clock = t.choice.clock
    if clock and clock >= t.time:
        return _("⚠️ A move may take as long as all of a round: who is to move at its end loses.")
    if 0 < clock < DAY < t.time:
        said = _("⚠️ However long a round is: once a game has begun, it is {clock}.")
        return said.format(clock=clock_name(text.words, clock))
    return ""


class OptionValue(NamedTuple):
    """A value of an option. ``words`` is the payload of the button that chooses it."""

    label: str
    is_chosen: bool
    words: tuple[object, ...]


def _choices(text: TournamentText) -> Mapping[str, tuple[str, list[OptionValue]]]:
    """Return each option's label and values, by its name in payloads."""
    t, _ = text.t, text.gettext
    labels: Mapping[str, Mapping[str, str]] = {
        "form": {**form_names(text.language)},
        "time": {value: time_name(text.language, int(value)) for value in OPTIONS["time"]},
        "rounds": {value: _("by how many enter") if value == "auto" else value for value in OPTIONS["rounds"]},
        "deals": {value: value for value in OPTIONS["deals"]},
        "scoring": {"points": _("points more than the others"), "steps": _("steps")},
    }
    names = {
        "form": _("form"),
        "time": _("time for all matches") if t.form == "league" else _("time a round"),
        "rounds": _("rounds"),
        "deals": _("deals a match"),
        "scoring": _("scoring"),
    }
    found: dict[str, tuple[str, list[OptionValue]]] = {}
    for about in COMMON_OPTIONS:
        if about == "game":
            games = [OptionValue(name, id_ == t.game, ("game", id_)) for id_, name in game_names(text.language).items()]
            found[about] = (_("game"), games)
        elif about == "clock":
            clocks = [
                OptionValue(short_clock(text.words, one), one == t.choice.clock, ("clock", one)) for one in CLOCKS
            ]
            found[about] = (_("clock"), clocks)
        elif _has_option(t, about):
            label = labels[about]
            each = [
                OptionValue(label[value], value == t.options[about], ("set", about, value)) for value in OPTIONS[about]
            ]
            found[about] = (names[about], each)
    return {**found, **_rule_choices(text)}


def _has_option(t: Tournament, option: str) -> bool:
    forms = {"rounds": ("swiss", "duplicate"), "deals": ("duplicate",), "scoring": ("duplicate",)}
    return t.form in forms.get(option, (t.form,))


def _rule_choices(text: TournamentText) -> Mapping[str, tuple[str, list[OptionValue]]]:
    """Return the game's own options. A duplicate has no target, because its games are single deals."""
    t, names = text.t, option_names(text.words)
    found = {}
    for option, values in GAMES[t.game].rules.choices().items():
        if len(values) < 2 or option not in names or (option == "target" and t.is_duplicate):
            continue

        def label(value: Value, option: str = option) -> str:
            return str(int(value) * unit_of(t)) if option == "target" else value_name(text.words, value)

        each = [
            OptionValue(label(value), t.choice.rules[option] == value, ("rule", f"{option}={format_value(value)}"))
            for value in values
        ]
        found[option] = (names[option], each)
    return found


def done_panel(language: str, t: Tournament) -> Panel:
    """Replace the options page once all is chosen."""
    text = TournamentText(language, t)
    page = text.start_page()
    for line in text.terms():
        page.line(line)
    page.gap()
    page.line(text.gettext("The card in the group shows it."))
    return page.panel(back_row(text))
