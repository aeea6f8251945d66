"""Texts in the player's language, from gettext catalogues.

English texts are the message ids; `locale/<language>/LC_MESSAGES/buongioco.po` holds the others, as translators' tools
read and write them. Catalogues are read as .po, so there is nothing to compile and nothing to forget to compile.
"""

from collections.abc import Callable, Mapping
from datetime import date
from functools import cache, lru_cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from io import BytesIO
from typing import NamedTuple

from engine.errors import EngineError

LANGUAGES = ("en", "it")


class _Catalogue(dict[str, str]):
    """Texts by their message ids; one that has no translation stands for itself."""

    def __missing__(self, text: str) -> str:
        # Not kept: people's own words are looked up too, where an error repeats them.
        return text


def gettext_noop(text: str) -> str:
    """Marks a text for translators where no language is known yet; imported as ``_``, which their tools look for."""
    return text


class Texts(NamedTuple):
    """The catalogue of a language: ``gettext(text)``, and ``ngettext(one, many, count)`` for texts that count."""

    gettext: Callable[[str], str]
    ngettext: Callable[[str, str, int], str]


def day_name(day: date) -> str:
    """A day as both languages read it."""
    return day.strftime("%d.%m.%Y")


def month_name(month: str, language: str) -> str:
    """A month, as 2026-11, in words: "November 2026"."""
    # babel takes a while to import, and few ask for a month.
    from babel.dates import format_date  # noqa: PLC0415

    return format_date(date.fromisoformat(f"{month}-01"), "LLLL y", locale=language)


@cache
def texts(language: str) -> Texts:
    """The catalogue of a language; English needs none.

    ValueError for a language that is not in LANGUAGES.
    """
    if language not in LANGUAGES:
        raise ValueError(f"there are no texts in {language!r}; there are: {', '.join(LANGUAGES)}")
    if language == "en":
        # A text is itself, and it takes no function of ours to say so.
        return Texts(str, NullTranslations().ngettext)
    # Not before somebody wants another language than English: many a bot and most commands never do.
    from babel.messages.mofile import write_mo  # noqa: PLC0415
    from babel.messages.pofile import read_po  # noqa: PLC0415

    source = files("bot") / "locale" / language / "LC_MESSAGES" / "buongioco.po"
    with source.open("rb") as file:
        catalogue = read_po(file)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    # A panel asks for some thirty texts, and a dictionary answers fifteen times as fast as the library does.
    ready = {message.id: message.string for message in catalogue if message.string and not message.fuzzy}
    plain = {id_: text for id_, text in ready.items() if isinstance(id_, str) and isinstance(text, str) and id_}
    return Texts(_Catalogue(plain).__getitem__, GNUTranslations(compiled).ngettext)


def error_text(error: EngineError, language: str, shown: Mapping[str, str] | None = None) -> str:
    """What an engine's error says, in a language; a suit that it names is in that language too. ``shown`` are values
    of it as its reader sees them.
    """
    text = texts(language).gettext
    values = {name: text(value) if isinstance(value, str) and value else value for name, value in error.values.items()}
    return text(error.sentence).format(**{**values, **(shown or {})})


@lru_cache(maxsize=1_000)
def language_of(code: str) -> str:
    """The language of ours for a client's code, such as "it-IT"; English if it is none of ours."""
    return next((language for language in LANGUAGES if code.lower().split("-")[0] == language), "en")
