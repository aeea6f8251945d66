"""Links that seat people, and parsing of pasted text that names a table or game.

Pasted text can be a code, a link, a command or a whole invitation.
"""

import re
import unicodedata
from typing import Literal, NamedTuple
from urllib.parse import unquote

from bot.command_names import COMMANDS
from bot.tables.codes import CODE_LENGTH, CODE_LETTERS, WATCH_LENGTH

LONGEST = 4000  # characters that are parsed: the maximum of a chat message
CODE = r"[A-Z0-9]{4,8}"
WATCH_ID, GAME_ID = rf"{CODE}-[A-Z0-9]{{{WATCH_LENGTH}}}", rf"{CODE}-[0-9A-F]{{1,64}}"
NEW_CODE = rf"[{CODE_LETTERS}]{{{CODE_LENGTH}}}"
"""The form of the codes that this release makes. Codes of older releases had four letters."""

EDGE = r"(?![A-Z0-9-])"  # end of an id
BARE = re.compile(rf"(?P<watch>{WATCH_ID})|(?P<game>{GAME_ID})|(?P<table>{CODE})")
PAGE = re.compile(rf"/(?:T/(?:(?P<watch>{WATCH_ID})|(?P<table>{CODE}))|G/(?P<game>{GAME_ID})){EDGE}")
"""The address of one of our pages. In a link, any text can come before and after it."""

JOINING = re.compile(rf"(?:\bJOIN-|[?&#]JOIN=)(?P<table>{CODE}){EDGE}")
OPENING = re.compile(rf"[?&#](?:START|T)=(?P<table>{NEW_CODE}){EDGE}")
"""`JOINING` and `OPENING` are links to the bot on Telegram or to the playground's chat.

A `JOINING` link seats its opener. An `OPENING` link only shows the table.
"""

TOKEN = re.compile(r"[A-Z0-9]+(?:-[A-Z0-9]+)*")
PUNCTUATION = re.compile(r"^\W+|\W+$")  # around a word
COMMANDS_WITH_CODE = ("join", "invite", "hand", "resign", "start")
COMMAND_NAMES = sorted(
    name.upper() for spec in COMMANDS if spec.name in COMMANDS_WITH_CODE for name in (spec.name, *spec.names.values())
)
COMMAND = re.compile(rf"(?:^|\s|/)(?:/?(?:{'|'.join(COMMAND_NAMES)})(?:@\w+)?(?:\s+|$))+(?P<rest>.*)$", re.DOTALL)
"""A command that takes a code, and the text after it."""

Kind = Literal["table", "watch", "game"]


class Pasted(NamedTuple):
    """The id of a ``table``, of a table to ``watch`` or of a finished ``game``. ``joins``: a link that seats people."""

    kind: Kind
    id: str
    joins: bool = False


def join_start_word(code: str) -> str:
    """Return the word after /start in a link that seats people: ``join-K7QF2M``."""
    return f"join-{code}"


def read_pasted(text: str) -> Pasted | None:
    """Return the id in a text in its usual form, or None.

    >>> read_pasted("(k7qf2m)")
    Pasted(kind='table', id='K7QF2M', joins=False)
    """
    visible = "".join(char for char in unquote(text[:LONGEST]) if unicodedata.category(char) != "Cf")
    plain = unicodedata.normalize("NFKC", visible).upper()
    for pattern in (JOINING, PAGE, OPENING):
        if match := pattern.search(plain):
            return _parse_match(match, joins=pattern is JOINING)
    if "://" in plain:
        return None
    command = COMMAND.search(plain)
    words = TOKEN.findall(command["rest"] if command else plain)
    match = BARE.fullmatch(_join_words(words)) or _likeliest_id(words, text)
    if match is None and command and words:
        # The first word with its punctuation: "what's" is not the code WHAT.
        match = BARE.fullmatch(PUNCTUATION.sub("", command["rest"].split()[0]))
    return _parse_match(match) if match else None


def pasted_code(text: str) -> str:
    pasted = read_pasted(text)
    return pasted.id.partition("-")[0] if pasted and pasted.kind != "game" else ""


def _join_words(words: list[str]) -> str:
    """Return the only word, or all words joined if they form a code that blanks or line breaks have split."""
    joined_words = "".join(words)
    is_broken = all(len(word) < 4 for word in words) and re.fullmatch(NEW_CODE, joined_words)
    return joined_words if len(words) == 1 or is_broken else ""


def _likeliest_id(words: list[str], text: str) -> re.Match[str] | None:
    """Return the word of a sentence that looks most like an id: a long id, or a new code with capitals or digits."""
    ids = [match for word in words if (match := BARE.fullmatch(word))]
    long_ids = [match for match in ids if not match["table"]]
    new_codes = [match for match in ids if re.fullmatch(NEW_CODE, match[0])]
    likely_codes = [match for match in new_codes if match[0] in text or not match[0].isalpha()]
    return next(iter([*long_ids, *sorted(likely_codes, key=lambda match: match[0].isalpha())]), None)


def _parse_match(match: re.Match[str], *, joins: bool = False) -> Pasted:
    groups = match.groupdict()
    if groups.get("game"):
        code, _dash, seal = groups["game"].partition("-")
        return Pasted("game", f"{code}-{seal.lower()}")
    if groups.get("watch"):
        return Pasted("watch", groups["watch"])
    return Pasted("table", groups["table"], joins)
