"""Every text is translated into every language with the same placeholders."""

import re
from collections.abc import Iterator
from string import Formatter

import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from bot.commands import COMMANDS
from bot.handlers import Dispatcher
from bot.tables import TableError
from bot.texts import LANGUAGES, error_text, texts
from engine import GAMES, errors
from engine.cards import FRENCH, ITALIAN
from engine.errors import EngineError, MustFollow, UnknownGame
from tests.paths import ROOT

EXTRACTORS = [("**.py", "python"), ("**/templates/*.html", "jinja2")]
"""Babel's extractors by file name."""


def subclasses(base: type[EngineError]) -> Iterator[type[EngineError]]:
    yield base
    for kind in base.__subclasses__():
        yield from subclasses(kind)


def required_texts() -> set[str]:
    """Return all texts for people: those marked in the code, names of games and suits, and errors."""
    marked: set[str] = set()
    for package in ("bot", "adapters"):
        for _file, _line, message, _comments, _context in extract_from_dir(str(ROOT / package), EXTRACTORS):
            marked |= {message} if isinstance(message, str) else set(message)
    bases = (errors.IllegalMove, TableError)
    assert Dispatcher.__doc__  # its import defines all errors of the card room
    error_sentences = {kind.sentence for base in bases for kind in subclasses(base) if kind not in bases}
    suits = {*ITALIAN.suit_names, *FRENCH.suit_names}
    return marked | error_sentences | suits | {kind.name for kind in GAMES.values()}


def placeholders(text: str) -> set[str]:
    return {name for _literal, name, _spec, _conversion in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_catalogue_is_complete_without_unused_texts(language: str) -> None:
    path = f"bot/locale/{language}/LC_MESSAGES/buongioco.po"
    with (ROOT / path).open("rb") as file:
        # By default Babel skips unreadable lines, such as merge conflict markers.
        catalogue = read_po(file, abort_invalid=True)
    translated: set[str] = set()
    for message in catalogue:
        if not message.id:
            continue
        assert not message.fuzzy, f"{path}: check the fuzzy translation of {message.id!r}"
        ids = [str(text) for text in message.id] if isinstance(message.id, list | tuple) else [message.id]
        strings = [message.string] if isinstance(message.string, str) else [str(text) for text in message.string]
        assert all(strings), f"{path} lacks a translation for {message.id!r}"
        for string in strings:
            assert placeholders(string) == placeholders(ids[-1]), f"{path}: other placeholders in {message.id!r}"
        translated |= set(ids)
    required = required_texts()
    assert not required - translated, f"{path} lacks translations: add {sorted(required - translated)}"
    assert not translated - required, f"{path} has unused texts: remove {sorted(translated - required)}"


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_catalogue_has_no_duplicate_ids(language: str) -> None:
    text = (ROOT / "bot" / "locale" / language / "LC_MESSAGES" / "buongioco.po").read_text("utf-8")
    ids = re.findall(r'^msgid ((?:".*"\n)+)', text, re.MULTILINE)
    assert len(ids) > 500
    assert sorted(ids) == sorted(set(ids))


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_catalogue_names_commands_in_its_language(language: str) -> None:
    command_names = {spec.name_in(language) for spec in COMMANDS}
    with (ROOT / "bot" / "locale" / language / "LC_MESSAGES" / "buongioco.po").open("rb") as file:
        strings = [message.string for message in read_po(file) if isinstance(message.string, str)]
    used_names = {word for string in strings for word in re.findall(r"(?<![\w/])/([a-z]+)", string)}
    assert "sfida" in used_names
    assert used_names <= command_names


def test_texts_have_typographic_quotes() -> None:
    """Straight ones are only for code, which is in backticks."""
    found = required_texts()
    for language in LANGUAGES[1:]:
        with (ROOT / "bot" / "locale" / language / "LC_MESSAGES" / "buongioco.po").open("rb") as file:
            for message in read_po(file):
                if message.id:
                    found |= {message.string} if isinstance(message.string, str) else set(map(str, message.string))
    assert {"You’re in.", "Iscrizione fatta."} <= found
    assert not {text for text in found if re.search("['\"´]", re.sub("`[^`]*`", "", text))}


def test_errors_use_the_players_language() -> None:
    assert error_text(MustFollow(suit="coins"), "it") == "Devi rispondere al seme: gioca denari."
    assert error_text(MustFollow(suit="coins"), "en") == "You must follow suit: play coins."


def test_unknown_language_is_refused() -> None:
    with pytest.raises(ValueError, match="only in: en, it"):
        texts("xx")


def test_errors_have_english_sentences() -> None:
    kinds = [kind for kind in subclasses(EngineError) if kind not in (EngineError, errors.IllegalMove, TableError)]
    assert all(kind.sentence not in ("", EngineError.sentence) for kind in kinds)


def test_user_input_does_not_grow_the_catalogue() -> None:
    # English has no catalogue.
    catalogue = texts("it").gettext.__self__  # type: ignore[attr-defined]
    before = len(catalogue)
    assert "nonsense 7" in error_text(UnknownGame(game="nonsense 7", games=""), "it")
    assert len(catalogue) == before
