"""Sets of cards and their cached texts."""

from engine.cards import FRENCH, ITALIAN, MAX_SETS, SuitTexts


def test_cached_set_texts_are_bounded_and_stay_correct() -> None:
    """The suits of a French pack have 32,768 sets, and months of Spades would meet all of them."""
    texts = SuitTexts(FRENCH, "play {}")
    for suit in range(4):
        for cards in range(1 << 13):
            mask = cards << (13 * suit)
            codes = reversed([code for card, code in enumerate(FRENCH.codes) if mask >> card & 1])
            assert texts[mask] == tuple("play " + code for code in codes)
            assert len(texts) <= MAX_SETS


def test_full_set_has_each_card_once() -> None:
    for pack, size in ((ITALIAN, 40), (FRENCH, 52)):
        assert pack.full == pack.mask(pack.codes) == sum(pack.suit_masks)
        assert pack.full.bit_count() == size


def test_set_text_is_cached() -> None:
    """Without the cache, listing moves would take most of a game's time."""
    texts = SuitTexts(FRENCH, "play {}")
    first, other = texts[0b11], texts[0b101]
    assert texts[0b11] is first
    assert texts[0b101] is other
