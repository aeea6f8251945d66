"""Parsing of game names, points to win and table codes in commands."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import takewhile

from bot.identity.names import plain_name
from bot.parsing.codes_and_links import pasted_code
from bot.store.entries import Rule
from bot.tables.errors import TableError
from bot.texts import LANGUAGES
from bot.words.table_lines import game_names
from bot.words.wording import MINUS, fix_minus
from engine import GAMES

NUMBER = re.compile(rf"[-{MINUS}]?\d+")
BEFORE_POINTS = ("to", "a")  # words before the points, as on challenge cards
ROBOT_WORDS = ("robot", "🤖")
LEVEL_WORDS = {
    **dict.fromkeys(("easy", "facile"), "easy"),
    **dict.fromkeys(("medium", "medio"), "medium"),
    **dict.fromkeys(("strong", "forte"), "strong"),
}

DIGITS_READ, DIGITS_REPEATED = 100, 12  # digits of a number that are read, and digits that an error repeats


class NoSuchGame(TableError):
    sentence = "I don’t know the game {name}: choose one of {games}."


class NoSuchTarget(TableError):
    sentence = "You can’t play {game} to {points}: choose one of {targets}."


NEWCOMERS_LEVEL = "easy"  # level of the robot that a newcomer meets


def parse_code(words: Sequence[str]) -> str:
    """Return the table code in a command's words, or their first word; empty for no words."""
    return pasted_code(f"/hand {' '.join(words)}") or plain_name(words[0]).upper() if words else ""


def targets(game: str) -> dict[int, Rule]:
    """Return the points that a game can be played to, in score units, each with its rule."""
    rules = GAMES[game].rules
    unit = rules.model_fields["score_unit"].default if "score_unit" in rules.model_fields else 1
    return {int(value) * unit: Rule("target", value) for value in rules.choices()["target"]}


def target_rule(game: str, points: int) -> Rule:
    """Return the rule for a number of points, or raise NoSuchTarget. For classic Tressette, 21 means the same as 63."""
    rules = targets(game)
    rule = rules.get(points) or next((rule for rule in rules.values() if rule.value == points), None)
    if rule is None:
        shown_digits = str(points) if len(str(points)) <= DIGITS_REPEATED else f"{str(points)[:DIGITS_REPEATED]}…"
        raise NoSuchTarget(game=GAMES[game].name, points=fix_minus(shown_digits), targets=", ".join(map(str, rules)))
    return rule


def parse_game_and_points(words: Sequence[str], default: str) -> tuple[str, int | None]:
    """Return the game and the points in a command's words. Without them, they are the ``default`` game and None.

    Mentions are skipped. A complete name of several words takes precedence over its first word. Raises NoSuchGame for
    any other word.
    """
    game, points = default, None
    remaining = [word for word in words if not word.startswith("@")]
    while remaining:
        if NUMBER.fullmatch(remaining[0]):
            points = int(remaining.pop(0).replace(MINUS, "-")[:DIGITS_READ])
            continue
        if remaining[0].casefold() in BEFORE_POINTS and NUMBER.fullmatch(" ".join(remaining[1:2])):
            del remaining[0]
            continue
        all_names = set().union(*_game_names().values())
        complete_lengths = (n for n in range(len(remaining), 1, -1) if " ".join(remaining[:n]).casefold() in all_names)
        unknown_words = list(takewhile(lambda word: not NUMBER.fullmatch(word), remaining))
        length = next(complete_lengths, 1 if _match_game(remaining[0]) else len(unknown_words))
        game, remaining = find_game(" ".join(remaining[:length])), remaining[length:]
    return game, points


def find_robot(words: Sequence[str], *, in_private: bool) -> tuple[str, list[str]]:
    """Return the level of the robot in a command's words, or an empty string, and the words about the game.

    A level without a word for a robot can be a person's name. It counts only in a private chat, as the only word.
    """
    levels = [LEVEL_WORDS[word.casefold()] for word in words if word.casefold() in LEVEL_WORDS]
    is_only_level = in_private and len(words) == len(levels) == 1
    if not is_only_level and not any(word.casefold() in ROBOT_WORDS for word in words):
        return "", list(words)
    about_game = [word for word in words if word.casefold() not in (*ROBOT_WORDS, *LEVEL_WORDS)]
    return (levels or [NEWCOMERS_LEVEL])[-1], about_game


def find_game(name: str) -> str:
    """Return the game with this id or name, in any language. The beginning is enough if only one game has it.

    Raises NoSuchGame if no game or several games match.
    """
    game = _match_game(name)
    if game is None:
        raise NoSuchGame(name=name[:32], games=", ".join(GAMES))
    return game


def named_game(words: Sequence[str]) -> str:
    """Return the game whose complete name, in any language, these words are; empty for none. Accents can be missing."""
    plain = _plain_game_name(" ".join(words))
    names = _game_names().items()
    return (
        next((game for game, known_names in names if plain in map(_plain_game_name, known_names)), "") if plain else ""
    )


def _plain_game_name(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if letter.isalnum())


def _match_game(name: str) -> str | None:
    name = name.casefold()
    exact = [game for game, names in _game_names().items() if name in names]
    matches = [game for game, names in _game_names().items() if any(name_.startswith(name) for name_ in names)]
    return (exact or matches)[0] if exact or len(matches) == 1 else None


def _game_names() -> dict[str, set[str]]:
    names = {kind.id: {kind.id} for kind in GAMES.values()}
    for language in LANGUAGES:
        for game, name in game_names(language).items():
            names[game].add(name.casefold())
    return names
