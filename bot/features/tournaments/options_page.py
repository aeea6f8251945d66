"""The page on which the organiser chooses options before the start."""

from collections.abc import Mapping
from typing import NamedTuple

from bot.features.tournaments.card_panel import back_row, button, payload
from bot.features.tournaments.texts import TournamentText, form_names, time_name, unit_of
from bot.features.tournaments.tournament import DAY, OPTIONS, Tournament
from bot.panel import Panel, choice_button
from bot.tables.table import CLOCKS
from bot.words.phrases import capitalize, clock_name, game_names, option_names, short_clock, value_name
from engine import GAMES
from engine.options import Value, format_value

# options of every tournament if its form has them; the game's own options come next
COMMON_OPTIONS = ("form", "game", "time", "clock", "rounds", "deals", "scoring")


def options_panel(language: str, t: Tournament, option: str = "") -> Panel:
    """Show all options with their values, or the values of one ``option``."""
    text = TournamentText(language, t)
    page = text.start_page()
    for line in text.terms():
        page.line(line)
    if note := _pace_warning(text):
        page.line(note, "italic")
    values = _choices(text)
    if option in values:
        name, each = values[option]
        page.gap()
        page.line(capitalize(name), "bold")
        buttons = [choice_button(value.label, value.is_chosen, payload(t, *value.words)) for value in each]
        rows = [tuple(buttons[at : at + 2]) for at in range(0, len(buttons), 2)]
        return page.panel(*rows, (button(text.gettext("◀ Back"), t, "options"),))
    rows = []
    for id_, (name, each) in values.items():
        label = next((value.label for value in each if value.is_chosen), "–")
        rows.append((button(f"{capitalize(name)}: {label}", t, "options", id_),))
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
    for option in COMMON_OPTIONS:
        if option == "game":
            games = [OptionValue(name, id_ == t.game, ("game", id_)) for id_, name in game_names(text.language).items()]
            found[option] = (_("game"), games)
        elif option == "clock":
            clocks = [
                OptionValue(short_clock(text.words, seconds), seconds == t.choice.clock, ("clock", seconds))
                for seconds in CLOCKS
            ]
            found[option] = (_("clock"), clocks)
        elif _has_option(t, option):
            label = labels[option]
            each = [
                OptionValue(label[value], value == t.options[option], ("set", option, value))
                for value in OPTIONS[option]
            ]
            found[option] = (names[option], each)
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
