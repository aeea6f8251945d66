"""The text of log entries: a line with a word that names the kind, and the fields in order.

The last field takes the rest of the line and can hold spaces.
"""

from collections.abc import Callable, Mapping
from datetime import date
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from engine.options import Value, format_value

UNKNOWN = "-"  # the text of an unknown field


class UnreadableEntry(ValueError):
    """A text is not an entry of this release. The error does not quote the text, because it can name a card."""

    def __init__(self) -> None:
        super().__init__("a text is not an entry that this release knows")


class Field(NamedTuple):
    """The writer and the parser of a field. ``read`` raises ValueError or KeyError for a bad text."""

    write: Callable[[Any], str]
    read: Callable[[str], Any]


E = TypeVar("E")


class Forms(Generic[E]):
    """The entries of one kind of log. Entries with the same first word differ in their number of fields."""

    def __init__(self, forms: Mapping[type[Any], tuple[str, tuple[Field, ...]]]) -> None:
        self._forms = forms
        self._kinds: dict[str, list[type[Any]]] = {}
        for kind, (word, _fields) in forms.items():
            self._kinds.setdefault(word, []).append(kind)

    def write(self, entry: E) -> str:
        word, fields = self._forms[type(entry)]
        for name, field in zip(type(entry).__match_args__, fields, strict=True):  # type: ignore[attr-defined]
            word += f" {field.write(getattr(entry, name))}"
        return word

    def read(self, text: str) -> E:
        """Parse an entry. Raise UnreadableEntry if `write` would not write it like this."""
        word, space, field_text = text.partition(" ")
        for kind in self._kinds.get(word, ()):
            _, fields = self._forms[kind]
            field_texts = field_text.split(" ", max(0, len(fields) - 1)) if space else []
            try:
                entry: E = kind(*[field.read(part) for field, part in zip(fields, field_texts, strict=True)])
            except (KeyError, ValueError):
                continue
            if self.write(entry) == text:
                return entry
        raise UnreadableEntry


# Compare types too, because True == 1.
_spell = lru_cache(maxsize=256, typed=True)(format_value)


def _parse_value(text: str) -> Value:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isdecimal() else text


def choice(*words: str) -> Field:
    return Field(str, {word: word for word in words}.__getitem__)


TEXT = Field(str, str)  # one word, or the rest of the line if it is the last field
NUMBER = Field(str, int)
OPTIONAL = Field(lambda text: text or UNKNOWN, lambda text: "" if text == UNKNOWN else text)
SIDE = Field(lambda side: UNKNOWN if side is None else str(side), lambda text: None if text == UNKNOWN else int(text))
VALUE = Field(_spell, _parse_value)
RULES = Field(
    lambda rules: " ".join(f"{name}={_spell(value)}" for name, value in rules.items()),
    lambda text: {name: _parse_value(value) for name, value in (option.split("=", 1) for option in text.split(" "))},
)
SECRET = Field(bytes.hex, bytes.fromhex)
DAY = Field(date.isoformat, date.fromisoformat)
