"""Translations from gettext catalogues.

English texts are the message ids; `locale/<language>/LC_MESSAGES/buongioco.po` has the other languages. The .po files
are read directly, so nothing needs compiling.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from io import BytesIO
from typing import NamedTuple

from engine.errors import EngineError

LANGUAGES = ("en", "it")


class _Catalogue(dict[str, str]):
    """Texts by message id; a missing text is its own translation."""

    def __missing__(self, text: str) -> str:
        # Do not cache the text: errors can repeat people's words, and these are looked up too.
        return text


def gettext_noop(text: str) -> str:
    """Mark a text for translation before the language is known. Import it as ``_``, which translators' tools expect."""
    return text


class Texts(NamedTuple):
    """A language's catalogue: ``gettext(text)``, and ``ngettext(one, many, count)`` for plurals."""

    gettext: Callable[[str], str]
    ngettext: Callable[[str, str, int], str]


def day_name(day: date, language: str) -> str:
    """Return a day in figures, such as 27/11/2026."""
    # babel takes a while to import and is rarely needed.
    from babel.dates import format_skeleton  # noqa: PLC0415

    # Europeans would misread the American order.
    return str(format_skeleton("yMd", day, locale={"en": "en_GB"}.get(language, language)))


def day_of(seconds: int, language: str) -> str:
    """Return the day in UTC of a time in seconds since 1970."""
    return day_name(datetime.fromtimestamp(seconds, UTC).date(), language)


def decimal_mark(language: str) -> str:
    """Return the sign between units and tenths: 2.5 in English, 2,5 in Italian."""
    from babel.numbers import get_decimal_symbol  # noqa: PLC0415

    return str(get_decimal_symbol(language))


def month_name(month: str, language: str) -> str:
    """Return the name of a month like 2026-11: "November 2026"."""
    from babel.dates import format_date  # noqa: PLC0415

    return format_date(date.fromisoformat(f"{month}-01"), "LLLL y", locale=language)


@cache
def texts(language: str) -> Texts:
    """Return the catalogue of a language. Raise ValueError if it is not in LANGUAGES."""
    if language not in LANGUAGES:
        raise ValueError(f"there are no texts in {language!r}, only in: {', '.join(LANGUAGES)}")
    if language == "en":
        # Texts are their own translation.
        return Texts(str, NullTranslations().ngettext)
    # Import this late, because many bots and most CLI commands need only English.
    from babel.messages.mofile import write_mo  # noqa: PLC0415
    from babel.messages.pofile import read_po  # noqa: PLC0415

    source = files("bot") / "locale" / language / "LC_MESSAGES" / "buongioco.po"
    with source.open("rb") as file:
        catalogue = read_po(file)
    compiled_catalogue = BytesIO()
    write_mo(compiled_catalogue, catalogue)
    compiled_catalogue.seek(0)
    # A panel needs about thirty texts, and a dictionary is fifteen times as fast as the library.
    translations = _Catalogue()
    for message in catalogue:
        id_, text = message.id, message.string
        # Messages with a plural have tuples. The header has an empty id.
        if isinstance(id_, str) and isinstance(text, str) and id_ and text and not message.fuzzy:
            translations[id_] = text
    return Texts(translations.__getitem__, GNUTranslations(compiled_catalogue).ngettext)


def error_text(error: EngineError, language: str, reader_values: Mapping[str, str] | None = None) -> str:
    """Return the text of an engine error in a language.

    Suits and days in it are in that language too. ``reader_values`` replaces some of the error's values for a reader.
    """
    text = texts(language).gettext

    def localize(value: object) -> object:
        if isinstance(value, date):
            return day_name(value, language)
        return text(value) if isinstance(value, str) and value else value

    values = {name: localize(value) for name, value in error.values.items()}
    return text(error.sentence).format(**{**values, **(reader_values or {})})


@lru_cache(maxsize=1_000)
def language_of(code: str) -> str:
    """Return our language for a client's code such as "it-IT"; English if we do not have it."""
    return next((language for language in LANGUAGES if code.lower().split("-")[0] == language), "en")
