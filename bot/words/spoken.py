"""Cards as screen readers say them: "knight of coins" instead of C🪙."""

import re
from functools import cache

from bot.texts import error_text, texts
from bot.words.wording import JOINER, CardFaces, Wording
from engine.cards import FRENCH, ITALIAN
from engine.errors import EngineError


def spoken_card(words: Wording, code: str) -> str:
    """Return a card in words: "knight of coins"."""
    _ = words.text
    rank, suit = words.faces.rank(code), code[1]
    is_french_pack = _codes(words.faces) is FRENCH.codes
    suit_name = _(FRENCH.suit_names[FRENCH.suits.index(suit)]) if is_french_pack else words.suits[suit]
    return _("{rank} of {suit}").format(rank=figure_names(words.language).get(rank, rank), suit=suit_name)


def card_in_sentence(words: Wording, code: str) -> str:
    """Return a card with its article: "the knight of coins"."""
    _, rank = words.text, words.faces.rank(code)
    name = spoken_card(words, code)
    sentences = {"A": _("the {ace}"), "8": _("the {eight}"), "Q": _("the {queen}")}
    return sentences.get(rank, _("the {card}")).format(ace=name, eight=name, queen=name, card=name)


def spell_out(words: Wording, text: str) -> str:
    """Return a text with all its cards in words."""
    pattern, names = _cards_in_text(words.language, words.faces)
    return pattern.sub(lambda match: names[match[0].replace(JOINER, "")], text)


def figure_names(language: str) -> dict[str, str]:
    """Return the names of the letters on cards."""
    _ = texts(language).gettext
    names = {"A": _("ace"), "R": _("king"), "K": _("king"), "C": _("knight"), "Q": _("queen"), "F": _("jack")}
    return names | {"J": names["F"]}


def spoken_names(words: Wording) -> dict[str, str]:
    """Return all cards in words, by the codes of the cards that are drawn."""
    return _spoken_names(words.language, words.faces)


@cache
def _spoken_names(language: str, faces: CardFaces) -> dict[str, str]:
    words = _words(language, faces)
    return {faces.drawn_code(code): spoken_card(words, code) for code in _codes(faces)}


@cache
def _cards_in_text(language: str, faces: CardFaces) -> tuple[re.Pattern[str], dict[str, str]]:
    """Return a pattern that finds cards in texts, and their names by their labels."""
    words = _words(language, faces)
    names = {faces.label(code): spoken_card(words, code) for code in _codes(faces)}
    cards = "|".join(
        re.escape(faces.rank(code)) + JOINER + "?" + re.escape(faces.sign(code[1])) for code in _codes(faces)
    )
    return re.compile(rf"(?<!\w)(?:{cards})"), names


def _words(language: str, faces: CardFaces) -> Wording:
    words = Wording(language, ())
    words.faces = faces
    return words


def _codes(faces: CardFaces) -> tuple[str, ...]:
    return FRENCH.codes if faces.deck == "french" and not faces.is_french else ITALIAN.codes


def refusal_text(error: EngineError, language: str, suits: str) -> str:
    """Return an engine's error as text, with the player's ``suits`` of forty cards."""
    words = Wording(language, (), "french_pack" if error.values.get("suits") == FRENCH.suits else suits)
    card, suit, values = error.values.get("card"), error.values.get("suit"), {}
    if isinstance(card, str):
        values["card"] = spoken_card(words, card)
    if suit in ITALIAN.suit_names:
        values["suit"] = words.suits[ITALIAN.suits[ITALIAN.suit_names.index(str(suit))]]
    return error_text(error, language, values)
