"""Names as people give them, made fit to be read by others."""

import re

LONGEST_NAME = 64
"""Characters of a person's name that a table keeps."""

BLANKS = "\u115f\u1160\u2800\u3164\uffa0"
"""Characters that count as printable, and show nothing."""

UNSEEN = rf"[\s\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff{BLANKS}]"
"""A pattern for a character that shows nothing: white space, marks of direction, zero-width spaces and joiners."""

LEADING_BLANKS, TRAILING_BLANKS = re.compile(f"{UNSEEN}*"), re.compile(f"{UNSEEN}+$")

JOINERS = "\u200c\u200d"
JOINED = "\u0600-\u07ff\u0900-\u0dff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff"
"""What they join: Arabic script, the scripts of India, emoji."""

LOOSE_JOINER = re.compile(rf"(?<![{JOINED}{JOINERS}])[{JOINERS}]|[{JOINERS}](?![{JOINED}{JOINERS}])")
"""One that joins nothing: it could only make a name look like another."""


def shown_name(name: str, longest: int = LONGEST_NAME) -> str:
    """A name as it may be read: printable, on one line, not too long; empty if nothing is left of it."""
    printable = "".join(
        char if (char.isprintable() and char not in BLANKS) or char in JOINERS else " " for char in name
    )
    shown = " ".join(LOOSE_JOINER.sub(" ", printable).split())[:longest]
    return LOOSE_JOINER.sub("", shown).strip()


def plain_name(name: str) -> str:
    """A name that fits in a log entry and on a panel, never empty."""
    return shown_name(name) or "…"


def leading_blanks(text: str) -> int:
    """Return how many characters at the beginning of a text show nothing."""
    found = LEADING_BLANKS.match(text)
    return found.end() if found else 0


def trimmed(text: str) -> str:
    """Return a text without the characters at both ends that show nothing; copied text often brings some along."""
    return TRAILING_BLANKS.sub("", text[leading_blanks(text) :])
