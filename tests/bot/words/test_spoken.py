"""Cards as screen readers say them."""

import pytest

from bot.words.spoken import card_in_sentence, spell_out, spoken_card, spoken_names
from bot.words.wording import Wording
from engine.cards import FRENCH, ITALIAN


@pytest.mark.parametrize(
    ("language", "faces", "code", "name"),
    [
        ("en", "italian", "CD", "knight of coins"),
        ("it", "italian", "CD", "cavallo di denari"),
        ("en", "french", "CD", "queen of diamonds"),
        ("it", "french", "AC", "asso di cuori"),
        ("en", "french_pack", "TC", "10 of clubs"),
        ("it", "french_pack", "QS", "donna di picche"),
    ],
)
def test_card_has_one_name_in_the_readers_words(language: str, faces: str, code: str, name: str) -> None:
    words = Wording(language, (), faces)
    assert spoken_card(words, code) == name
    assert spoken_names(words)[words.faces.drawn_code(code)] == name


@pytest.mark.parametrize("faces", ["italian", "french", "french_pack"])
@pytest.mark.parametrize("language", ["en", "it"])
def test_texts_spell_out_every_card(language: str, faces: str) -> None:
    words = Wording(language, (), faces)
    for code in FRENCH.codes if faces == "french_pack" else ITALIAN.codes:
        name = spoken_card(words, code)
        assert (
            spell_out(words, f"Anna: {words.card(code)}, 📦 {words.faces.label(code)}.") == f"Anna: {name}, 📦 {name}."
        )


def test_names_of_cards_differ() -> None:
    for faces, pack in (("italian", ITALIAN), ("french", ITALIAN), ("french_pack", FRENCH)):
        for language in ("en", "it"):
            assert len({*spoken_names(Wording(language, (), faces)).values()}) == pack.size


def test_texts_without_cards_stay_as_they_are() -> None:
    text = "Napoletana in cups (3 2 A), 12–2, 🏆 and 110🪙"
    assert spell_out(Wording("en", (), "italian"), text) == text


@pytest.mark.parametrize(
    ("code", "sentence"), [("8H", "l’8 di cuori"), ("AH", "l’asso di cuori"), ("7H", "il 7 di cuori")]
)
def test_italian_article_suits_the_card(code: str, sentence: str) -> None:
    assert card_in_sentence(Wording("it", (), "french_pack"), code) == sentence
