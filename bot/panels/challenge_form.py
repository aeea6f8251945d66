"""The form of a challenge: game, points, clock and options in one window."""

from bot.form import Form, FormField, FormOption
from bot.panel import Button, Panel, Writer
from bot.parsing.challenge_form import (
    BOXES,
    CLOCK,
    CUTS,
    GAME,
    POINTS,
    STRICT,
    FormChoices,
    all_boxes,
    all_targets,
    game_boxes,
)
from bot.parsing.games import targets
from bot.tables.clock import CLOCKS
from bot.tables.errors import TableError
from bot.texts import error_text, texts
from bot.words.rules import GAME_LINES
from bot.words.table_lines import capitalize, clock_name, option_names, ordered_games, value_name
from bot.words.wording import Wording
from engine import GAMES


def challenge_form(payload: str, choices: FormChoices, language: str) -> Form:
    """Return the form with these choices marked. `bot.parsing.challenge_form` reads its answers."""
    words = Wording(language, (), "italian")
    _ = words.text
    games = [FormOption(kind.id, _(kind.name), capitalize(_(GAME_LINES[kind.id]))) for kind in ordered_games(language)]
    points = [FormOption("0", _("As usual in this game"))]
    points += [FormOption(str(target), str(target), _names_of(words, target)) for target in all_targets()]
    clocks = [FormOption(str(seconds), capitalize(clock_name(words, seconds))) for seconds in CLOCKS]
    return Form(
        payload,
        _("Challenge"),
        (
            FormField(GAME, _("Game"), "menu", tuple(games), (choices.game,)),
            FormField(POINTS, _("Points to win"), "menu", tuple(points), (str(choices.points),)),
            FormField(CLOCK, _("Time for a move"), "radio", tuple(clocks), (str(choices.clock),)),
            FormField(BOXES, _("Options"), "boxes", _boxes(words), tuple(choices.boxes)),
        ),
    )


def refused_form_panel(error: TableError, payload: str, language: str) -> Panel:
    """Return why a form's choices do not go together, with a button that opens it again."""
    page = Writer()
    page.line(error_text(error, language))
    return page.panel((Button(texts(language).gettext("Choose again"), payload, "good"),))


def _boxes(words: Wording) -> tuple[FormOption, ...]:
    _, names = words.text, option_names(words)
    rules = {box: rule for game in GAMES for box, rule in game_boxes(game).items()}
    labels = {box: capitalize(f"{names[rule.name]}: {value_name(words, rule.value)}") for box, rule in rules.items()}
    labels |= {
        STRICT: _("Strict: a robot plays late moves, three in a row lose"),
        CUTS: _("Cut the pack before each deal"),
    }
    return tuple(FormOption(box, labels[box], _games_with(words, box)) for box in all_boxes())


def _games_with(words: Wording, box: str) -> str:
    """Return the games that have this box; empty if all have it."""
    return ", ".join(words.text(kind.name) for kind in GAMES.values() if box in game_boxes(kind.id))


def _names_of(words: Wording, target: int) -> str:
    """Return the games that can be played to this many points."""
    return ", ".join(words.text(kind.name) for kind in GAMES.values() if target in targets(kind.id))
