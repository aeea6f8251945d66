"""Display names of people: cleaned, and made distinct if several look alike."""

import re
import unicodedata
from base64 import b32encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import count

LONGEST_NAME = 64  # characters of a name that a table stores
NO_NAME = "…"  # shown for a name without visible characters

BLANKS = "\u115f\u1160\u2800\u3164\uffa0"  # characters that are printable but invisible

# Pattern for an invisible character: white space, direction marks, zero-width spaces and joiners.
UNSEEN = rf"[\s\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff{BLANKS}]"
LEADING_BLANKS, TRAILING_BLANKS = re.compile(f"{UNSEEN}*"), re.compile(f"{UNSEEN}+$")

JOINERS = "\u200c\u200d"
JOINED = "\u0600-\u07ff\u0900-\u0dff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff"  # Arabic, the scripts of India, emoji
# Joiners that join nothing and could only make two names look alike.
LOOSE_JOINER = re.compile(rf"(?<![{JOINED}{JOINERS}])[{JOINERS}]+|[{JOINERS}]+(?![{JOINED}{JOINERS}])")


def printable_name(name: str, max_length: int = LONGEST_NAME) -> str:
    """Return the printable part of a name, on one line and not too long; it can be empty."""
    printable = name
    if not name.isascii() or not name.isprintable():
        printable = "".join(
            char if (char.isprintable() and char not in BLANKS) or char in JOINERS else " " for char in name
        )
    visible = " ".join(LOOSE_JOINER.sub(" ", printable).split())[:max_length]
    return LOOSE_JOINER.sub("", visible).strip()


def plain_name(name: str) -> str:
    """Return a name for a log entry or a panel, never empty."""
    return printable_name(name) or NO_NAME


def leading_blanks(text: str) -> int:
    match = LEADING_BLANKS.match(text)
    return match.end() if match else 0


def trim_blanks(text: str) -> str:
    """Return a text without invisible characters at both ends: copied text often has some."""
    return TRAILING_BLANKS.sub("", text[leading_blanks(text) :])


# The robot face, with which names of robots and programs begin, and the similar monster.
ROBOT_SIGNS = "\U0001f916\U0001f47e"
# Characters that change how the sign before them looks: variation selectors, keycaps, enclosing shapes.
MARKS = "\ufe0e\ufe0f\u20e3\u20dd\u20de\u20df\u20e0"
ROBOT_SIGN = re.compile(rf"[{JOINERS}]?[{ROBOT_SIGNS}][{MARKS}]*[{JOINERS}]?")


def person_name(name: str, max_length: int = LONGEST_NAME) -> str:
    """Return a name like `printable_name`, without robot signs; `NO_NAME` if nothing is left.

    >>> person_name("🤖 Nonna Rosa")
    'Nonna Rosa'
    """
    return printable_name(ROBOT_SIGN.sub(" ", name), max_length) or NO_NAME


def likeness(name: str) -> str:
    """Return a key that is equal for names that look alike: it ignores case, blanks and how accents are encoded."""
    visible = "".join(char for char in unicodedata.normalize("NFKC", name) if unicodedata.category(char) != "Cf")
    return " ".join(visible.casefold().split())


def distinct_name(name: str, taken_names: Iterable[str], max_length: int = LONGEST_NAME) -> str:
    """Return the name, with a number if it looks like one of those taken.

    >>> distinct_name("Marco", ["Marco", "marco 2"])
    'Marco 3'
    """
    taken_likenesses = {likeness(other) for other in taken_names}
    candidates = (name if number == 1 else _append(name, f" {number}", max_length) for number in count(1))
    return next(candidate for candidate in candidates if likeness(candidate) not in taken_likenesses)


def distinct_names(names: Sequence[str], max_length: int = LONGEST_NAME) -> list[str]:
    """Return the names in order. A name that looks like an earlier one gets a number; the earlier one never changes."""
    distinct: list[str] = []
    first_indexes = {likeness(name): index for index, name in reversed(list(enumerate(names)))}
    for index, name in enumerate(names):
        is_first = first_indexes[likeness(name)] == index
        distinct.append(name if is_first else distinct_name(name, [*names, *distinct], max_length))
    return distinct


def tag_of(person: str) -> str:
    """Return three letters and digits that are always the same for a person and distinguish namesakes in lists."""
    return b32encode(blake2b(person.encode(), digest_size=2).digest()).decode()[:3].lower()


def tag_namesakes(names: Mapping[str, str]) -> dict[str, str]:
    """Return people's names, with `tag_of` after names that look alike: the same tag in every list."""
    alike = Counter(likeness(name) for name in names.values())
    return {
        person: _append(name, f" ({tag_of(person)})", LONGEST_NAME) if alike[likeness(name)] > 1 else name
        for person, name in names.items()
    }


def _append(name: str, ending: str, max_length: int) -> str:
    """Return a name with a suffix, shortening the name if it gets too long."""
    if len(name) + len(ending) <= max_length and not name.endswith("…"):
        return name + ending
    return f"{name.removesuffix('…')[: max_length - len(ending) - 1].rstrip()}…{ending}"
