"""Every text is translated into every language with the same placeholders."""

import re
from collections import Counter
from datetime import date
from pathlib import Path
from string import Formatter

import pytest

from bot.command_names import COMMANDS
from bot.tables import TableError
from bot.texts import day_name, day_of, error_text, texts
from bot.words.verdicts import lost_text, points_text
from bot.words.wording import Wording, decimal_text
from engine import errors
from engine.errors import EngineError, MustFollow, UnknownGame
from engine.robots.verdicts import Verdict
from tests.bot import catalogues
from tests.bot.catalogues import (
    TRANSLATIONS,
    catalogue_path,
    find_faults,
    read_catalogue,
    required_texts,
    subclasses,
)
from tests.paths import ROOT


def placeholders(text: str) -> set[str]:
    return {name for _literal, name, _spec, _conversion in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_catalogue_is_complete_without_unused_texts(language: str) -> None:
    assert find_faults(language, required_texts()) == []


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_translations_have_the_same_placeholders(language: str) -> None:
    for message in read_catalogue(language):
        ids = [message.id] if isinstance(message.id, str) else [str(text) for text in message.id]
        strings = [message.string] if isinstance(message.string, str) else [str(text) for text in message.string]
        if message.id:
            # The form for one can leave out the count where English does.
            singular, *plurals = strings
            wrong = [string for string in plurals if placeholders(string) != placeholders(ids[-1])]
            wrong += [singular] if placeholders(singular) not in map(placeholders, ids) else []
            assert not wrong, f"{catalogue_path(language)}: use the placeholders of {message.id!r}"


def test_faults_of_a_catalogue_name_file_and_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / catalogue_path("it")
    path.parent.mkdir(parents=True)
    path.write_text(
        'msgid "Play"\nmsgstr ""\n\n#, fuzzy\nmsgid "Rules"\nmsgstr "Regola"\n\nmsgid "Old"\nmsgstr "Vecchio"\n'
    )
    monkeypatch.setattr(catalogues, "ROOT", tmp_path)
    places = {"Play": "bot/a.py:1", "Rules": "bot/a.py:2", "New": "bot/b.py:3", "Rule": "bot/a.py:4"}
    assert find_faults("it", places) == [
        f"bot/a.py:4: {catalogue_path('it')} lacks 'Rule': add it near line 1",
        f"bot/b.py:3: {catalogue_path('it')} lacks 'New': add it",
        f"{catalogue_path('it')}:1: translate 'Play'",
        f"{catalogue_path('it')}:5: check the fuzzy translation of 'Rules'",
        f"{catalogue_path('it')}:8: remove 'Old', which nothing uses",
    ]


def test_each_text_names_a_file_and_line_of_its_use() -> None:
    places = required_texts()
    assert places["All commands"].startswith("bot/panels/help.py:")
    assert places["Tap a card to play it, or choose it with the arrow keys and press Enter."].startswith(
        "adapters/web/templates/how_to_play.html:"
    )
    file, _separator, line = places[MustFollow.sentence].partition(":")
    assert "class MustFollow" in (ROOT / file).read_text(encoding="utf-8").splitlines()[int(line) - 1]


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_catalogue_has_no_duplicate_ids(language: str) -> None:
    text = (ROOT / catalogue_path(language)).read_text("utf-8")
    ids = re.findall(r'^msgid ((?:".*"\n)+)', text, re.MULTILINE)
    assert len(ids) > 500
    duplicates = [id_ for id_, count in Counter(ids).items() if count > 1]
    assert not duplicates, f"{catalogue_path(language)} has entries twice"


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_catalogue_names_commands_in_its_language(language: str) -> None:
    command_names = {spec.name_in(language) for spec in COMMANDS}
    strings = [message.string for message in read_catalogue(language) if isinstance(message.string, str)]
    used_names = {word for string in strings for word in re.findall(r"(?<![\w/])/([a-z]+)", string)}
    assert "sfida" in used_names
    assert used_names <= command_names, f"{catalogue_path(language)} names commands that do not exist"


def test_texts_have_typographic_quotes() -> None:
    """Straight quotes are only for code, which is in backticks."""
    found_texts = set(required_texts())
    for language in TRANSLATIONS:
        for message in read_catalogue(language):
            if message.id:
                found_texts |= {message.string} if isinstance(message.string, str) else set(map(str, message.string))
    assert {"You’re in.", "Iscrizione fatta."} <= found_texts
    straight = {text for text in found_texts if re.search("['\"´]", re.sub("`[^`]*`", "", text))}
    assert not straight, "write ’, “” or «» in texts, and code in backticks"


def test_errors_use_the_players_language() -> None:
    assert error_text(MustFollow(suit="coins"), "it") == "Devi rispondere al seme: gioca denari."
    assert error_text(MustFollow(suit="coins"), "en") == "You must follow suit: play coins."


def test_unknown_language_is_refused() -> None:
    with pytest.raises(ValueError, match="only in: en, it"):
        texts("xx")


def test_errors_have_english_sentences() -> None:
    kinds = [kind for kind in subclasses(EngineError) if kind not in (EngineError, errors.IllegalMove, TableError)]
    without_sentence = [kind for kind in kinds if kind.sentence in ("", EngineError.sentence)]
    assert not without_sentence, "give each of these errors a sentence for players"


def test_user_input_does_not_grow_the_catalogue() -> None:
    # English has no catalogue.
    catalogue = texts("it").gettext.__self__  # type: ignore[attr-defined]
    before = len(catalogue)
    assert "nonsense 7" in error_text(UnknownGame(game="nonsense 7", games=""), "it")
    assert len(catalogue) == before


def test_decimals_follow_the_language_but_dates_do_not() -> None:
    day = date(2026, 1, 5)
    assert [day_name(day, language) for language in ("en", "it")] == ["05/01/2026"] * 2
    assert day_of(1_767_571_200, "it") == "05/01/2026"
    assert [points_text(2.24, language) for language in ("en", "it")] == ["2.2", "2,2"]
    assert [decimal_text("-1.6", language) for language in ("en", "it")] == ["−1.6", "−1,6"]


def test_exact_points_have_thirds() -> None:
    """An analysis rounds points to a hundredth."""
    figures = [points_text(points, "en", exact=True) for points in (0, 0.33, 0.67, 1, 1.33, 3.33, 0.33 * 3)]
    assert figures == ["0", "⅓", "⅔", "1", "1⅓", "3⅓", "1"]
    assert [points_text(points, "en") for points in (0.0, 0.02, 3.33)] == ["0", "0", "3.3"]
    words = Wording("en", ())
    losses = [lost_text(words, Verdict(1, 0, 0, "play 3D", "play 4D", points, True)) for points in (0.33, 1, 1.33)]
    assert losses == ["−⅓ of a point", "−1 point", "−1⅓ points"]
    assert lost_text(words, Verdict(1, 0, 0, "play 3D", "play 4D", 1.33, False)) == "≈ −1.3 points"
