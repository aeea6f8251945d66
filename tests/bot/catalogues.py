"""Texts for people, and those that a language's catalogue lacks. `make texts` prints them."""

import sys
from collections.abc import Iterator
from functools import cache
from inspect import getsourcefile, getsourcelines
from pathlib import Path
from statistics import median_low

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from bot.handlers import Dispatcher
from bot.tables import TableError
from bot.texts import LANGUAGES
from engine import GAMES, errors
from engine.cards import FRENCH, ITALIAN
from engine.errors import EngineError
from tests.paths import ROOT

EXTRACTORS = [("**.py", "python"), ("**/templates/*.html", "jinja2")]
"""Babel's extractors by file name."""
TRANSLATIONS = [language for language in LANGUAGES if language != "en"]  # English texts are the message ids


def catalogue_path(language: str) -> Path:
    """Return the path of a language's catalogue from the root of the repository."""
    return Path("bot", "locale", language, "LC_MESSAGES", "buongioco.po")


def read_catalogue(language: str) -> Catalog:
    with (ROOT / catalogue_path(language)).open("rb") as file:
        # By default Babel skips unreadable lines, such as merge conflict markers.
        return read_po(file, abort_invalid=True)


def subclasses(base: type[EngineError]) -> Iterator[type[EngineError]]:
    yield base
    for kind in base.__subclasses__():
        yield from subclasses(kind)


@cache
def marked_messages(root: Path) -> list[tuple[str, str | tuple[str, ...]]]:
    """Return each text marked in the code, or its forms for one and for several, with its place."""
    return [
        (f"{package}/{name}:{line}", message)
        for package in ("bot", "adapters")
        for name, line, message, _comments, _context in extract_from_dir(str(root / package), EXTRACTORS)
    ]


def required_texts() -> dict[str, str]:
    """Return each text for people with its place, such as "bot/panels/help.py:53".

    These are the texts marked in the code, names of games and suits, and errors.
    """
    suits = (*ITALIAN.suit_names, *FRENCH.suit_names)
    texts_in_file = {
        **dict.fromkeys(suits, "engine/cards.py"),
        **{kind.name: "engine/games.py" for kind in GAMES.values()},
    }
    bases = (errors.IllegalMove, TableError)
    assert Dispatcher.__doc__  # its import defines all errors of the card room
    for kind in (kind for base in bases for kind in subclasses(base) if kind not in bases):
        file = Path(getsourcefile(kind) or "").relative_to(ROOT)
        texts_in_file[kind.sentence] = f"{file}:{getsourcelines(kind)[1]}"
    for place, message in marked_messages(ROOT):
        texts_in_file |= dict.fromkeys([message] if isinstance(message, str) else message, place)
    return texts_in_file


def texts_without_count() -> set[str]:
    """Return the texts that the code uses without a count, so their entries need no plural."""
    return {message for _place, message in marked_messages(ROOT) if isinstance(message, str)}


def find_faults(language: str, required: dict[str, str]) -> list[str]:
    """Return a line for each missing, unfinished or unused text of a catalogue."""
    path = catalogue_path(language)
    lines, line_of, without_count = [], dict[str, int](), texts_without_count()
    for message in read_catalogue(language):
        if not message.id:
            continue
        ids = [str(text) for text in message.id] if isinstance(message.id, list | tuple) else [message.id]
        strings = [message.string] if isinstance(message.string, str) else [str(text) for text in message.string]
        line_of |= dict.fromkeys(ids, message.lineno or 0)
        place = f"{path}:{message.lineno}"
        if not all(strings):
            lines.append(f"{place}: translate {message.id!r}")
        if message.pluralizable and ids[0] in without_count:
            # gettext finds no text in an entry with plurals.
            lines.append(f"{place}: {ids[0]!r} has a plural: use ngettext() for it everywhere")
        if message.fuzzy:
            lines.append(f"{place}: check the fuzzy translation of {message.id!r}")
        lines += [f"{place}: remove {text!r}, which nothing uses" for text in ids if text not in required]
    lines_by_file: dict[str, list[int]] = {}
    for text in required.keys() & line_of.keys():
        lines_by_file.setdefault(required[text].partition(":")[0], []).append(line_of[text])
    missing_texts = []
    for text in required.keys() - line_of.keys():
        neighbours = lines_by_file.get(required[text].partition(":")[0])
        near = f" near line {median_low(neighbours)}" if neighbours else ""
        missing_texts.append(f"{required[text]}: {path} lacks {text!r}: add it{near}")
    return sorted(missing_texts) + sorted(lines)


def main() -> None:
    required = required_texts()
    if faults := [line for language in TRANSLATIONS for line in find_faults(language, required)]:
        sys.exit("\n".join(faults))
    print(f"All {len(required)} texts are in {', '.join(LANGUAGES)}.")  # noqa: T201


if __name__ == "__main__":
    main()
