"""Texts without a slash in the private chat: the commands that they mean."""

import re
from typing import NamedTuple

from bot.command_names import FAIR, FAIR_WORDS, HINT, STANDING, ArgumentKind, CommandSpec, read_command
from bot.command_words import plain_word
from bot.parsing.games import named_game

UNCLEAR = "unclear"  # argument of the command STANDING: its answer begins by saying that the text was not understood
HELP = "help"  # argument of the command HINT: without a game, its answer is the page of /help
HELP_WORDS = ("helpme", "pleasehelpme", "helpmeplease", "aiuto", "aiutami", "miaiuti", "mipuoiaiutare")
SMALL_WORDS = {
    *("a", "an", "the", "of", "for", "at", "me", "my", "to", "please"),
    *("con", "da", "dei", "del", "della", "di", "gli", "i", "il", "l", "la", "le", "lo", "mi", "per", "un", "una"),
}
WITH_GAME = ("challenge", "find", "puzzle", "rules", "leaderboard")  # commands that plain texts can give a game
WORD = re.compile(r"[^\W_]+")


class PlainText(NamedTuple):
    """The command that a text means, and its arguments."""

    word: str
    words: tuple[str, ...] = ()


def read_plain_text(text: str) -> PlainText:
    """Return the command that a whole text means, such as "I resign", "the score?", "rules of spades" or "spades".

    Any other text means the command STANDING with the argument UNCLEAR.
    """
    parts = WORD.findall(text)
    important = [part for part in parts if part.casefold() not in SMALL_WORDS]
    if plain_word("".join(parts)) in HELP_WORDS:
        return PlainText(HINT, (HELP,))
    for words in (parts, important):
        if words and (spec := _whole_command(words)):
            return PlainText(spec.name)
    for count in range(1, len(important)):
        spec, topic = _whole_command(important[:count]), _topic(important[count:])
        if spec and spec.name in WITH_GAME and topic and (topic != FAIR or _takes_topic(spec)):
            return PlainText(spec.name, (topic,))
    game = named_game(important)
    return PlainText("challenge", (game,)) if game else PlainText(STANDING, (UNCLEAR,))


def _whole_command(words: list[str]) -> CommandSpec | None:
    spec, arguments = read_command(words[0], words[1:])
    return None if arguments else spec


def _topic(words: list[str]) -> str:
    return FAIR if len(words) == 1 and words[0].casefold() in FAIR_WORDS else named_game(words)


def _takes_topic(spec: CommandSpec) -> bool:
    return any(argument.kind is ArgumentKind.TOPIC for argument in spec.arguments)
