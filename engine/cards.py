"""The two packs, and sets of cards as integers.

A card is an index, ``suit * ranks + strength``: within a suit, a higher index is a higher card. A set of cards is an
integer with bit ``1 << index`` for each card in it.
"""

from collections.abc import Iterable, Iterator

FRENCH_SUITS = "CDHS"

# Maximum number of sets in a `SuitTexts`: enough for all sets of Italian suits. All 32,768 sets of French suits would
# take 6 MB.
MAX_SETS = 4096


class Pack:
    """A pack of cards and its codes.

    ``suits`` are the suits' letters in order and ``suit_names`` their English names. ``strength`` lists the ranks from
    low to high as they win tricks. ``printed`` lists them in the order of a new pack, with which the shuffle starts.
    ``is_french`` is true if the suits are French.

    >>> ITALIAN.codes[ITALIAN.index["3D"]]
    '3D'
    >>> ITALIAN.names(ITALIAN.mask(["4D", "3D", "AC"]))
    ('3D', '4D', 'AC')
    """

    def __init__(self, suits: str, suit_names: tuple[str, ...], strength: str, printed: str) -> None:
        self.suits = suits
        self.is_french = suits == FRENCH_SUITS
        self.suit_names = suit_names
        self.ranks = strength
        self.size = len(suits) * len(strength)
        self.codes = tuple(rank + suit for suit in suits for rank in strength)
        self.index = {code: card for card, code in enumerate(self.codes)}
        self.new = tuple(rank + suit for suit in suits for rank in printed)
        self.full = (1 << self.size) - 1
        one_suit = (1 << len(strength)) - 1
        self.suit_masks = tuple(one_suit << (len(strength) * number) for number in range(len(suits)))
        self.suit_of = tuple(mask for mask in self.suit_masks for _ in strength)
        self.code_texts = SuitTexts(self, "{}")

    def mask(self, codes: Iterable[str]) -> int:
        """Return the set of the cards with these codes. Raises KeyError for a code that is not in this pack."""
        return mask_of(self.index[code] for code in codes)

    def names(self, mask: int) -> tuple[str, ...]:
        """Return the codes of a set, by suit and from high to low."""
        return tuple(self.code_texts.list_texts(mask)) if mask else ()


class SuitTexts(dict[int, tuple[str, ...]]):
    """A cache of texts for sets of cards of one suit. Without it, listing moves takes most of a game's time.

    A set's texts are its cards from high to low, each in all ``forms``, such as ``"play {}"``.
    """

    def __init__(self, pack: Pack, *forms: str) -> None:
        super().__init__()
        self._suits = pack.suit_masks
        self._texts = [[form.format(code) for form in forms] for code in pack.codes]

    def __missing__(self, mask: int) -> tuple[str, ...]:
        if len(self) >= MAX_SETS:
            self.clear()
        high_to_low = reversed([*cards(mask)])
        self[mask] = texts = tuple(text for card in high_to_low for text in self._texts[card])
        return texts

    def list_texts(self, mask: int) -> list[str]:
        """Return the texts of any set, suit by suit."""
        a, b, c, d = self._suits
        return [*self[mask & a], *self[mask & b], *self[mask & c], *self[mask & d]]


def mask_of(cards: Iterable[int]) -> int:
    mask = 0
    for card in cards:
        mask |= 1 << card
    return mask


def cards(mask: int) -> Iterator[int]:
    """Yield the cards of a set, by rising index."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


ITALIAN = Pack("DCSB", ("coins", "cups", "swords", "batons"), strength="4567FCRA23", printed="A234567FCR")
"""Forty cards: denari, coppe, spade, bastoni; 3 2 A R C F 7 6 5 4 from high to low."""

FRENCH = Pack(
    FRENCH_SUITS, ("clubs", "diamonds", "hearts", "spades"), strength="23456789TJQKA", printed="23456789TJQKA"
)
"""Fifty-two cards: clubs, diamonds, hearts, spades; aces high."""
