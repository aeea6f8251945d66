"""The sheets of rules: which card beats which, what each is worth, and how a game's table lies."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bot.panels.rules import RANKS, worth_of_cards
from bot.picture import CardStyle, Deck, Suits
from bot.pictures.cards import IN_FRENCH
from bot.pictures.scene import Card
from bot.pictures.sheet import Diagram, Ranking, Sheet, Spot, Words
from bot.texts import texts
from engine import GAMES

Translate = Callable[[str], str]

HAND = ("3D", "CD", "5D", "AC", "6C", "2S", "FS", "4S", "RB", "7B")
HAND_OF_NINE = ("3D", "CD", "5D", "AC", "6C", "2S", "FS", "RB", "7B")
HAND_WITH_DRAWN = ("3D", "RD", "CD", "5D", "AC", "2S", "FS", "RB", "7B")
"""Nine cards, for each has played one; where cards are drawn, one's own is among them."""
HAND_OF_SPADES = ("AH", "JH", "4H", "QC", "8C", "KD", "TD", "2D", "AS", "9S", "3S")
"""Of thirteen cards eleven, as many as there is room for: a trick has been taken, and the second lies on the table."""
TRICK = ("7C", "3C", "FC", "4C")
BACKS = (Card(),)


def rules_sheet(game: str, language: str, suits: str, style: CardStyle) -> Sheet:
    """How the table of a game lies, by its id, and which of its cards beats which."""
    _ = texts(language).gettext
    is_spades = game == "spades"
    deck = Deck("french" if is_spades or suits == "french" else "italian", style)
    if is_spades:
        ranking = Ranking(tuple(Card(f"{rank}S") for rank in "AKQJT98765432"))
        about = _("High to low. Spades beat the other suits.")
    else:
        ranking = Ranking(_cards((f"{rank}D" for rank in RANKS), deck.suits), worth_of_cards(game))
        about = _("High to low, and the points of each")
    return Sheet(
        title=_(GAMES[game].name),
        note=_("how the table lies, seen from your chair"),
        parts=(Words(about), ranking, Diagram(_table(game, deck.suits, _))),
        deck=deck,
    )


def _table(game: str, suits: Suits, _: Translate) -> tuple[tuple[Spot, ...], ...]:
    """The rows of a table, from the far side to one's own."""
    two = Spot(_("the trick"), _cards(TRICK[:2], suits), "beside")
    if game in ("pizzichino", "spizzichino"):
        return (
            (
                Spot(_("your opponent's hand"), BACKS * 10),
                Spot(_("their packets, top cards in sight"), _cards(("AB", "5S"), suits), "beside"),
            ),
            (two, Spot(_("your packets: play the top card"), _cards(("3S", "6D"), suits), "beside")),
            (Spot(_("your hand: two packets"), _cards(HAND, suits)),),
        )
    if game in ("metamazzo", "testa"):
        return (
            (Spot(_("your opponent's hand"), BACKS * 9),),
            (
                Spot(_("the stock"), BACKS * 4, "pile"),
                two,
                Spot(_("drawn and shown"), _cards(("4C", "RD"), suits), "beside"),
            ),
            (Spot(_("your hand"), _cards(HAND_WITH_DRAWN, suits)),),
        )
    if game == "spades":
        return (
            (Spot(_("your opponent's hand"), BACKS * 11),),
            (Spot(_("the trick"), (Card("9H"), Card("KH")), "beside"),),
            (Spot(_("your hand"), tuple(map(Card, HAND_OF_SPADES))),),
        )
    return (
        (Spot(_("your partner"), BACKS * 9),),
        (Spot(_("opponent"), BACKS * 9), Spot(_("the trick"), _cards(TRICK, suits)), Spot(_("opponent"), BACKS * 9)),
        (Spot(_("your hand"), _cards(HAND_OF_NINE, suits)),),
    )


def _cards(codes: Iterable[str], suits: Suits) -> tuple[Card, ...]:
    """Italian cards, or the French ones that stand for them."""
    return tuple(Card(IN_FRENCH[code] if suits == "french" else code) for code in codes)
