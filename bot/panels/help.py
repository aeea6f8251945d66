"""The greeting, the pages of its buttons that begin a game, and the pages of /help and /rules."""

from collections.abc import Mapping, Sequence
from enum import Enum
from fractions import Fraction

from bot import actions
from bot.command_names import FAIR, HINT, HelpGroup, listed_commands
from bot.document_writer import DocumentWriter
from bot.panel import Bullets, Button, Column, Details, Grid, Panel, Row, Span, Writer, choice_button
from bot.panels.challenge import game_lines
from bot.tables.snapshot import TableSnapshot, isolate_name, take_snapshot
from bot.tables.table import Table
from bot.texts import texts
from bot.version import VERSION
from bot.words.possible_moves import possible_moves
from bot.words.rules import RulesText, has_common_rules, rules_text
from bot.words.safety import safety_lines
from bot.words.table_lines import TableLines, game_names, level_names, ordered_games, table_words
from bot.words.wording import card_faces, faces_of, score_pair, score_unit, score_unit_of, target_about, thirds_text
from engine import GAMES
from engine.options import Value, resolve

COMMON = "common"  # in payloads: the rules that Tressette games share; the id of the reader's game follows
MAX_GAMES = 4  # running games with a button in the greeting


def greeting_page(
    language: str, feature_buttons: Sequence[Button], *, in_private: bool, games: Sequence[TableSnapshot] = ()
) -> Panel:
    """Return the first message to a newcomer or a group, with the buttons of features.

    ``games`` are the person's running games. Each has a button to the hand and one to the rules.
    """
    _ = texts(language).gettext
    page = Writer(_("Hi! I deal Tressette and Spades."))
    if in_private:
        page.line(_("New to these card games? Start with Learn in 3 minutes."))
    else:
        page.line(_("Challenge a friend here: your cards come in private."))
    page.line(_("See all I can do: /help"))
    friend = Button(_("Challenge a friend"), actions.page("challenge", "friend"), "good")
    robot = Button(_("Play a robot"), actions.page("challenge", "robot"), "good")
    return page.panel(
        *_game_rows(language, games), (robot, friend) if in_private else (friend,), tuple(feature_buttons)
    )


class Question(Enum):
    """The question that `standing_page` answers."""

    SCORE = "score"
    MOVES = "moves"
    UNCLEAR = "unclear"


def standing_page(language: str, suits: str, games: Sequence[TableSnapshot], question: Question) -> Panel:
    """Return the score, the points of the deal and the player to move of each running game, with buttons to the games.

    The answer to an unclear text says first that it was not understood. The answer to a question about moves lists
    them, in cards of these ``suits``. Both have buttons for a hint and to resign.
    """
    _ = texts(language).gettext
    page = Writer()
    if question is Question.UNCLEAR:
        page.line(_("I didn’t understand."))
    for snapshot in games[:MAX_GAMES]:
        game = Span(_(snapshot.kind.name), "bold")
        if snapshot.turn is None:
            line, name = _("{game}: it’s {score}."), ""
        elif snapshot.is_duplicate:
            line = _("{game}: it’s your turn.") if snapshot.is_my_turn else _("{game}: it’s {name}’s turn.")
            name = snapshot.name(snapshot.turn)
        else:
            line = _("{game}: it’s {score} and {name}’s turn.")
            if snapshot.is_my_turn:
                line = _("{game}: it’s {score} and your turn.")
            name = snapshot.name(snapshot.turn)
        page.line(line, game=game, score=_score(snapshot), name=name)
        if question is Question.MOVES:
            for move_line in possible_moves(snapshot, table_words(snapshot, language, suits)):
                page.line(move_line)
        else:
            TableLines(snapshot, table_words(snapshot, language, "italian")).write_running_points(page)
    if question is Question.MOVES and not any(snapshot.is_practice for snapshot in games):
        page.line(_("Hints are only for games against robots."))
    choices = () if question is Question.SCORE else _choice_buttons(language, games)
    return page.panel(*_game_rows(language, games), choices, (Button(_("Help"), actions.page("help")),))


def _choice_buttons(language: str, games: Sequence[TableSnapshot]) -> Row:
    """Return a button for a hint, if exactly one game allows it now, and one to resign."""
    _ = texts(language).gettext
    hint = Button(_("💡 Hint"), actions.page("command", HINT))
    resign = Button(_("Resign"), actions.page("command", "resign"))
    return (hint, resign) if sum(snapshot.can_have_hint for snapshot in games) == 1 else (resign,)


def _game_rows(language: str, games: Sequence[TableSnapshot]) -> list[Row]:
    """Return a row for each running game: a button to the hand, and one to the rules."""
    _ = texts(language).gettext
    rows: list[Row] = []
    for snapshot in games[:MAX_GAMES]:
        label = _("▶ My hand") if len(games) == 1 else f"▶ {_(snapshot.kind.name)} · {_score(snapshot)}"
        hand = Button(label, actions.page("hand", snapshot.code), "good")
        rows.append((hand, Button(_("Rules"), actions.rules(snapshot.kind.id, "hand", snapshot.code))))
    return rows


def _score(snapshot: TableSnapshot) -> str:
    """Return a running game's score, the viewer's side first."""
    assert snapshot.view
    first = (snapshot.seat or 0) % 2
    own_points, other_points = (snapshot.view.totals[side] * score_unit(snapshot.rules) for side in (first, 1 - first))
    return score_pair(own_points, other_points)


def robot_page(language: str, game: str, level: str, rules: Mapping[str, Value]) -> Panel:
    """Offer a game against a robot of a level, with these options."""
    _ = texts(language).gettext
    kind = GAMES[game]
    points = int(resolve(kind.rules, rules).target)
    page = Writer()
    page.line(f"{_(kind.name)} · {level_names(language)[level]}", "bold")
    page.line(target_about(language, kind, points))
    play = Button(_("Play"), actions.page("challenge", "robot", game, level), "good")
    change = Button(_("Change"), actions.page("challenge", "robot", "change", level))
    return page.panel((play, change), (Button(_("◀ Back"), actions.page("challenge")),))


def first_game_page(
    language: str, opponent: str, *, is_full: bool = False, level: str = "", known_count: int = 0
) -> Panel:
    """Ask which game to play against an ``opponent`` ("robot" or "friend"). With ``is_full``, offer all games.

    With a ``level`` of robots, offer the others too. ``known_count`` is the number of the person's games or invitations
    when `open_game_page` asked about them. The buttons carry both.
    """
    last_words = [*([level] if level else []), *([known_count] if known_count else [])]
    _ = texts(language).gettext
    page = Writer(_("Which game?"))
    for line in game_lines(language, is_full=is_full):
        page.line(line)
    kinds = [kind for kind in ordered_games(language) if is_full or kind.is_suggested]
    step = "more" if is_full else "change"
    levels = [
        choice_button(name, level_id == level, actions.page("challenge", opponent, step, level_id, *last_words[1:]))
        for level_id, name in level_names(language).items()
        if level
    ]
    rows: list[Row] = [tuple(levels)]
    for kind in kinds:
        rows.append((Button(_(kind.name), actions.page("challenge", opponent, kind.id, *last_words), "good"),))
    more_button = Button(_("More games"), actions.page("challenge", opponent, "more", *last_words))
    back_button = Button(_("◀ Back"), actions.page("challenge", *([opponent, "fewer", *last_words] if is_full else [])))
    return page.panel(*rows, (back_button,) if is_full else (more_button, back_button))


def open_game_page(table: Table, person: str, language: str, opponent: str, known_count: int) -> Panel:
    """Tell a person about their game or invitation, and ask whether to continue it or to open another table."""
    seat = table.seat_of(person)
    snapshot, page = take_snapshot(table, seat), Writer()
    _ = texts(language).gettext
    game = Span(_(snapshot.kind.name), "bold")
    if opponent == "friend":
        page.line(_("You already have an open invitation: {game}."), game=game)
        label = _("New invitation")
    else:
        names = ", ".join(isolate_name(chair.name) for chair in table.chairs if chair and chair.person != person)
        line = _("You already have a game with {names}: {game}, {score}.")
        page.line(line, names=names, game=game, score=_score(snapshot))
        label = _("New game")
    go_on = Button(_("Continue"), actions.page("challenge", opponent, "continue", table.code), "good")
    return page.panel((go_on, Button(label, actions.page("challenge", opponent, "new", known_count))))


def help_page(language: str, *, is_full: bool = False) -> Panel:
    """Return the main commands under headings; with ``is_full``, all commands."""
    _ = texts(language).gettext
    page = Writer()
    for group in HelpGroup:
        page.gap()
        page.line(_(group), "bold")
        for spec in listed_commands():
            if spec.group is group and (spec.is_main or is_full):
                shows_arguments = is_full and any(argument.in_help for argument in spec.arguments)
                line = spec.help_line(language) if is_full else _(spec.help)
                page.line(f"/{spec.name_in(language)}{' ' if shows_arguments else ': '}{line}")
    if is_full:
        page.gap()
        page.line(f"Buongioco {VERSION}", "small")
    rules = Button(_("Rules"), actions.page("rules"))
    if not is_full:
        return page.panel((rules, Button(_("All commands"), actions.page("help", "all"))))
    safety = Button(_("Play safely"), actions.page("help", "safety"))
    return page.panel((rules, safety), (Button(_("◀ Back"), actions.page("help")),))


def safety_page(language: str) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("Play safely"), "bold")
    page.gap()
    for line in safety_lines(language):
        page.line(f"• {line}")
    return page.panel((Button(_("◀ Back"), actions.page("help", "all")),))


def rules_page(language: str, subject_words: str = "", faces: str = "italian", back: Sequence[str] = ()) -> Panel:
    """Return the rules of a subject, with buttons to the others. ``subject_words`` is as in `rules_text`.

    "common" and the id of a game stand for the common rules, with points in the unit of that game.
    With ``back``, the words of the page from which the reader came, there are only buttons to that page and to the
    common rules.
    """
    _ = texts(language).gettext
    word, _space, game = subject_words.partition(" ")
    if word == COMMON and has_common_rules(game):
        text = rules_text(language, "", faces, unit=score_unit_of(game))
    else:
        text = rules_text(language, subject_words, faces)
    page = DocumentWriter(text.title)
    page.gap()
    for line in text.lines:
        page.text_line(f"• {line}")
    page.block(_bullets(text.lines))
    if any(points for _card, points in text.ranking):
        page.block(Details(_("Points of the cards"), (_ranking_table(language, text, subject_words, faces),)))
    if has_common_rules(subject_words):
        page.text_line(_("• The rules common to all Tressette games: /rules"))
        rules = rules_text(language, "", faces, unit=score_unit_of(subject_words))
        page.block(Details(rules.title, (_bullets(rules.lines),)))
    subject = (COMMON, subject_words) if has_common_rules(subject_words) else ()
    if back:
        common_button = Button(_("Common rules"), actions.page("rules", *subject, actions.BACK, *back))
        return page.panel((Button(_("◀ Back"), actions.page(*back), "good"), *((common_button,) if subject else ())))
    names = {**game_names(language), FAIR: _("Is it fair?")}
    buttons = [Button(name, actions.page("rules", topic)) for topic, name in names.items()]
    common_button = Button(_("Common rules"), actions.page("rules", *subject))
    return page.panel(*(tuple(buttons[start : start + 2]) for start in range(0, len(buttons), 2)), (common_button,))


def _bullets(lines: Sequence[str]) -> Bullets:
    return Bullets(tuple((Span(line),) for line in lines))


def _ranking_table(language: str, text: RulesText, subject_words: str, faces: str) -> Grid:
    """Return the cards of one suit from high to low, with their points."""
    _ = texts(language).gettext
    ranks = card_faces(faces_of(GAMES[subject_words], faces) if subject_words in GAMES else faces)
    rows = tuple(
        (Span(ranks.rank(card[0]), "bold"), Span(thirds_text(int(3 * Fraction(points)))))
        for card, points in text.ranking
    )
    return Grid((Column(_("Card"), is_figure=False), Column(_("Points"))), rows)
