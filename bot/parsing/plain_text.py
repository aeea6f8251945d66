"""Texts without a slash in the private chat: the commands that they mean."""

import re
from typing import NamedTuple

from bot.command_names import FAIR, FAIR_WORDS, HINT, STANDING, ArgumentKind, CommandSpec, read_command
from bot.command_words import plain_word
from bot.parsing.codes_and_links import NEW_CODE, pasted_code
from bot.parsing.games import find_robot, named_game

UNCLEAR = "unclear"  # argument of the command STANDING: its answer begins by saying that the text was not understood
HELP = "help"  # argument of the command HINT: without a game, its answer is the page of /help
HELP_WORDS = ("helpme", "pleasehelpme", "helpmeplease", "aiuto", "aiutami", "miaiuti", "mipuoiaiutare")
SMALL_WORDS = {
    *("a", "against", "an", "the", "of", "for", "at", "me", "my", "to", "please", "with"),
    *(
        "al",
        "alla",
        "col",
        "con",
        "contro",
        "da",
        "dei",
        "del",
        "della",
        "di",
        "gli",
        "i",
        "il",
        "l",
        "la",
        "le",
        "lo",
        "mi",
        "per",
        "un",
        "una",
    ),
}
WITH_GAME = ("challenge", "find", "puzzle", "rules", "leaderboard")  # commands that plain texts can give a game
WITH_CODE = ("join", "invite", "hand", "resign")  # commands that plain texts can give a table's code
WORD = re.compile(r"[^\W_]+")


class PlainText(NamedTuple):
    """The command that a text means, and its arguments."""

    word: str
    words: tuple[str, ...] = ()


def read_plain_text(text: str) -> PlainText:
    """Return the command that a whole text means, such as "I resign", "the score?", "spades rules" or "spades".

    Any other text means the command STANDING with the argument UNCLEAR.
    """
    parts = WORD.findall(text)
    important = [part for part in parts if part.casefold() not in SMALL_WORDS]
    if plain_word("".join(parts)) in HELP_WORDS:
        return PlainText(HINT, (HELP,))
    for words in (parts, important):
        if words and (spec := _whole_command(words)):
            return PlainText(spec.name)
    for words in (parts, important):
        for count in range(1, len(words)):
            if meant := _command_with_argument(words[:count], words[count:]):
                return meant
    game = named_game(parts) or named_game(important)
    return PlainText("challenge", (game,)) if game else PlainText(STANDING, (UNCLEAR,))


def _command_with_argument(first: list[str], last: list[str]) -> PlainText | None:
    """Return a command with a game, a table's code or a robot, if these are its words. The game can come first."""
    spec = _whole_command(first)
    for command, words in ((spec, last), (_whole_command(last), first)):
        topic = _topic(words)
        if command and command.name in WITH_GAME and topic and (topic != FAIR or _takes_topic(command)):
            return PlainText(command.name, (topic,))
    if spec and spec.name in WITH_CODE and (code := _new_code(last)):
        return PlainText(spec.name, (code,))
    if spec and spec.name == "challenge" and (robot_words := _robot_words(last)):
        return PlainText(spec.name, robot_words)
    return None


def _whole_command(words: list[str]) -> CommandSpec | None:
    spec, arguments = read_command(words[0], words[1:])
    return None if arguments else spec


def _topic(words: list[str]) -> str:
    return FAIR if len(words) == 1 and words[0].casefold() in FAIR_WORDS else named_game(words)


def _new_code(words: list[str]) -> str:
    """Return the table code in the words after a command; empty if none has the form of new codes.

    A code of letters alone is in capitals, because a word can have the same form.
    """
    typed = " ".join(words)
    code = pasted_code(f"/join {typed}")
    is_word = code.isalpha() and code not in typed
    return code if re.fullmatch(NEW_CODE, code) and not is_word else ""


def _robot_words(words: list[str]) -> tuple[str, ...]:
    """Return the words of a challenge to a robot, such as ``robot strong spades``; empty for other words."""
    level, about_game = find_robot(words, in_private=True)
    game = named_game(about_game)
    return ("robot", level, *([game] if game else [])) if level and bool(about_game) == bool(game) else ()


def _takes_topic(spec: CommandSpec) -> bool:
    return any(argument.kind is ArgumentKind.TOPIC for argument in spec.arguments)
