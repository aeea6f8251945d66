"""Names as people give them, made fit to be read by others, and told apart where several are alike."""

import re
import unicodedata
from base64 import b32encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import count
from random import choice, randrange

LONGEST_NAME = 64
"""Characters of a person's name that a table keeps."""

NO_NAME = "…"
"""What somebody is called of whose name nothing can be shown."""

NICKNAMES = ("Asso", "Due", "Tre", "Fante", "Cavallo", "Re")
"""Names of strangers who have chosen none. A number follows."""

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


def printable_name(name: str, longest: int = LONGEST_NAME) -> str:
    """A name as it may be read: printable, on one line, not too long; empty if nothing is left of it."""
    printable = "".join(
        char if (char.isprintable() and char not in BLANKS) or char in JOINERS else " " for char in name
    )
    shown = " ".join(LOOSE_JOINER.sub(" ", printable).split())[:longest]
    return LOOSE_JOINER.sub("", shown).strip()


def plain_name(name: str) -> str:
    """A name that fits in a log entry and on a panel, never empty."""
    return printable_name(name) or NO_NAME


def leading_blanks(text: str) -> int:
    """Return how many characters at the beginning of a text show nothing."""
    found = LEADING_BLANKS.match(text)
    return found.end() if found else 0


def trim_blanks(text: str) -> str:
    """Return a text without the characters at both ends that show nothing; copied text often brings some along."""
    return TRAILING_BLANKS.sub("", text[leading_blanks(text) :])


ROBOT_SIGNS = "\U0001f916\U0001f47e"
"""The face of a robot, which robots and programs have before their names, and the monster that looks like it."""

MARKS = "\ufe0e\ufe0f\u20e3\u20dd\u20de\u20df\u20e0"
"""What may stand behind a sign to show it otherwise: variation selectors, keycaps and enclosing shapes."""

ROBOT_SIGN = re.compile(rf"[{JOINERS}]?[{ROBOT_SIGNS}][{MARKS}]*[{JOINERS}]?")


def person_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name as `shown_name` does, without the sign of robots; `NO_NAME` if nothing is left.

    >>> person_name("🤖 Nonna Rosa")
    'Nonna Rosa'
    """
    return printable_name(ROBOT_SIGN.sub(" ", name), longest) or NO_NAME


def likeness(name: str) -> str:
    """Return what all names have in common that look alike: letter case, accents' spelling and blanks do not count."""
    visible = "".join(char for char in unicodedata.normalize("NFKC", name) if unicodedata.category(char) != "Cf")
    return " ".join(visible.casefold().split())


def distinct_name(name: str, taken: Iterable[str], longest: int = LONGEST_NAME) -> str:
    """Return the name, with a number behind it if it looks like one of those taken.

    >>> unlike("Marco", ["Marco", "marco 2"])
    'Marco 3'
    """
    alike = {likeness(one) for one in taken}
    numbered = (name if number == 1 else _append(name, f" {number}", longest) for number in count(1))
    return next(one for one in numbered if likeness(one) not in alike)


def distinct_names(names: Sequence[str], longest: int = LONGEST_NAME) -> list[str]:
    """Return the names in their order, with numbers behind those that look like an earlier one.

    A name with no earlier namesake stays as it is, whatever numbers the others get.
    """
    found: list[str] = []
    kept = {likeness(name): at for at, name in reversed(list(enumerate(names)))}
    for at, name in enumerate(names):
        is_first = kept[likeness(name)] == at
        found.append(name if is_first else distinct_name(name, [*names, *found], longest))
    return found


def tag_of(person: str) -> str:
    """Return three letters and digits that are always the same for a person: they tell namesakes apart in lists."""
    return b32encode(blake2b(person.encode(), digest_size=2).digest()).decode()[:3].lower()


def tag_namesakes(names: Mapping[str, str]) -> dict[str, str]:
    """Return people's names, by person, each with its `tag_of` if another one in the list looks like it.

    The same person has the same tag in every list, whatever their place in it.
    """
    alike = Counter(likeness(name) for name in names.values())
    return {
        person: _append(name, f" ({tag_of(person)})", LONGEST_NAME) if alike[likeness(name)] > 1 else name
        for person, name in names.items()
    }


def _append(name: str, ending: str, longest: int) -> str:
    """Return a name with an ending; a name that is too long for that loses its last letters."""
    if len(name) + len(ending) <= longest and not name.endswith("…"):
        return name + ending
    return f"{name.removesuffix('…')[: longest - len(ending) - 1].rstrip()}…{ending}"


def new_nickname() -> str:
    """Return a name for a stranger who has chosen none."""
    return f"{choice(NICKNAMES)} {randrange(100, 1000)}"
