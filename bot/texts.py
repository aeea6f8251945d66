"""Texts in the player's language, from gettext catalogues.

English texts are the message ids; `locale/<language>/LC_MESSAGES/buongioco.po` holds the others, as translators' tools
read and write them. Catalogues are read as .po, so there is nothing to compile and nothing to forget to compile.
"""

from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from io import BytesIO

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from engine.errors import EngineError

LANGUAGES = ("en", "it")


@cache
def texts(language: str) -> NullTranslations:
    """The catalogue of a language: ``.gettext(text)``, ``.ngettext(one, many, count)``. English needs none.

    ValueError for a language that is not in LANGUAGES.
    """
    if language not in LANGUAGES:
        raise ValueError(f"there are no texts in {language!r}; there are: {', '.join(LANGUAGES)}")
    if language == "en":
        return NullTranslations()
    compiled = BytesIO()
    source = files("bot") / "locale" / language / "LC_MESSAGES" / "buongioco.po"
    with source.open("rb") as catalogue:
        write_mo(compiled, read_po(catalogue))
    compiled.seek(0)
    return GNUTranslations(compiled)


def error_text(error: EngineError, language: str) -> str:
    """What an engine's error says, in a language; a suit that it names is in that language too."""
    text = texts(language).gettext
    values = {name: text(value) if isinstance(value, str) and value else value for name, value in error.values.items()}
    return text(error.sentence).format(**values)
