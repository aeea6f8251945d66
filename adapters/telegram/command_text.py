"""Finds the command at the beginning of a message, in every encoding that Telegram clients use.

Telegram marks a typed command with a ``bot_command`` entity. A copied command keeps its formatting: bold or italic
around the entity, or ``code`` and ``pre``, inside which Telegram marks no commands. Some clients copy a command as a
link to ``tg://bot_command``. See core.telegram.org/bots/api#messageentity.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from telegram import MessageEntity

from bot.identity.names import leading_blanks, trim_blanks

TOKEN = re.compile(r"/(?P<word>[A-Za-z0-9_]{1,64})(?:@(?P<bot>[A-Za-z0-9_]{3,32}))?(?![\w/@<>])", re.ASCII)
"""A command in a text, similar to TDLib's rule (tdlib/td, ``find_bot_commands``)."""

LINK_WORD, LINK_BOT = re.compile(r"[A-Za-z0-9_]{1,64}", re.ASCII), re.compile(r"[A-Za-z0-9_]{1,32}", re.ASCII)

FORMATS = ("bold", "italic", "underline", "strikethrough", "spoiler", "code", "pre")
QUOTES = (MessageEntity.BLOCKQUOTE, MessageEntity.EXPANDABLE_BLOCKQUOTE)
NOT_WORDS = (MessageEntity.TEXT_MENTION, MessageEntity.BOT_COMMAND)
"""Entities that are not arguments of a command. A person mentioned by a link is read from the entity."""


class CommandText(NamedTuple):
    """A command: its lower-case ``word``, the ``bot`` it names or an empty string, and the words after it.

    ``is_marked``: an entity marks it as a command, or its whole text has one format.
    """

    word: str
    bot: str
    words: tuple[str, ...]
    is_marked: bool


def find_command(text: str, entities: Sequence[MessageEntity]) -> CommandText | None:
    """Return the command that a text begins with; None without a command, or if it is only quoted."""
    units = text.encode("utf-16-le", "surrogatepass")
    blanks = leading_blanks(text)
    start = len(text[:blanks].encode("utf-16-le", "surrogatepass")) // 2
    enclosing = [entity for entity in entities if entity.offset <= start < entity.offset + entity.length]
    if any(entity.type in QUOTES and trim_blanks(_text(units, entity.offset + entity.length)) for entity in enclosing):
        return None
    word, bot, end, is_marked = "", "", start, False
    if match := TOKEN.match(text, blanks):
        word, bot, end = match["word"], match["bot"] or "", start + len(match[0])
    for entity in enclosing:
        if entity.type == MessageEntity.BOT_COMMAND and entity.offset == start:
            is_marked, end = True, entity.offset + entity.length
            word, _, bot = _text(units, start + 1, end).partition("@")
    for entity in enclosing:
        if entity.type in (*FORMATS, *QUOTES):
            is_marked = is_marked or entity.offset + entity.length >= end
        elif entity.type == MessageEntity.TEXT_LINK and (linked := _linked_command(entity.url or "")):
            is_marked = True
            if not word:
                word, end = linked[0], entity.offset + entity.length
            bot = bot or linked[1]
    return CommandText(word.lower(), bot.lower(), _words(units, end, entities), is_marked) if word else None


def _text(units: bytes, start: int, end: int | None = None) -> str:
    return units[2 * start : None if end is None else 2 * end].decode("utf-16-le", "replace")


def _linked_command(url: str) -> tuple[str, str] | None:
    """Return the command and the bot of a ``tg://bot_command`` link; the bot can be empty."""
    try:
        parts = urlsplit(url)
        query = parse_qs(parts.query)
    except ValueError:
        return None
    if parts.scheme.lower() != "tg" or (parts.netloc or parts.path).lower() != "bot_command":
        return None
    word, bot = (query.get(name, [""])[0].lstrip("/@") for name in ("command", "bot"))
    word, _, named_bot = word.partition("@")
    bot = bot or named_bot
    if not LINK_WORD.fullmatch(word) or not (bot == "" or LINK_BOT.fullmatch(bot)):
        return None
    return word, bot


def _words(units: bytes, start: int, entities: Sequence[MessageEntity]) -> tuple[str, ...]:
    """Return the words after a command, without other commands and mentions by link. Offsets count UTF-16 units."""
    for entity in sorted(entities, key=lambda entity: entity.offset, reverse=True):
        if entity.type in NOT_WORDS and entity.offset >= start:
            units = units[: 2 * entity.offset] + units[2 * (entity.offset + entity.length) :]
    return tuple(_text(units, start).split()[:8])
