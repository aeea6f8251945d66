"""Sheets of rules: the ranking of the cards, their points, and the layout of a game's table."""

from __future__ import annotations

from collections.abc import Callable

from bot.panel_picture import CardStyle, Deck
from bot.pictures.scene import Card
from bot.pictures.sheet import Diagram, Ranking, Sheet, Spot, Words
from bot.texts import texts
from bot.words.rules import ranking_of
from bot.words.wording import CardFaces, card_faces, faces_of
from engine import GameKind, game_kind

Translate = Callable[[str], str]

HAND = ("3D", "CD", "5D", "AC", "6C", "2S", "FS", "4S", "RB", "7B")
HAND_OF_NINE = ("3D", "CD", "5D", "AC", "6C", "2S", "FS", "RB", "7B")
# Nine cards, because each player has played one. A drawn card is among them.
HAND_WITH_DRAWN = ("3D", "RD", "CD", "5D", "AC", "2S", "FS", "RB", "7B")
# Eleven of thirteen cards, as many as fit: one trick was taken, and the second is on the table.
FRENCH_HAND = ("AH", "JH", "4H", "QC", "8C", "KD", "TD", "2D", "AS", "9S", "3S")
TRICK = ("7C", "3C", "FC", "4C")
FRENCH_TRICK = ("9H", "KH", "2H", "5H")
BACKS = (Card(),)


def rules_sheet(game: str, language: str, suits: str, style: CardStyle) -> Sheet:
    """Return the table of a game, by its id, and the ranking of its cards."""
    _, kind = texts(language).gettext, game_kind(game)
    faces = card_faces(faces_of(kind, suits))
    cards, points = zip(*ranking_of(kind), strict=True)
    caption = _("High to low, and the points of each")
    if not kind.is_tressette:
        caption = _("High to low. Spades beat the other suits.") if kind.trump == "S" else _("High to low.")
    return Sheet(
        title=_(kind.name),
        note=_("the table, seen from your seat"),
        parts=(
            Words(caption),
            Ranking(tuple(Card(faces.drawn_code(code)) for code in cards), points if kind.is_tressette else ()),
            Diagram(_table(kind, faces, _)),
        ),
        deck=Deck(faces.deck, style),
    )


def _table(kind: GameKind, faces: CardFaces, _: Translate) -> tuple[tuple[Spot, ...], ...]:
    """Return the rows of a table, from the far side to the viewer's."""

    def cards(*codes: str) -> tuple[Card, ...]:
        return tuple(Card(faces.drawn_code(code)) for code in codes if code in kind.pack.index)

    if kind.pack.is_french:
        hand, trick = cards(*FRENCH_HAND), cards(*FRENCH_TRICK)
    else:
        hand, trick = cards(*HAND_OF_NINE), cards(*TRICK)
    if kind.layout == "packets":
        return (
            (
                Spot(_("your opponent’s hand"), BACKS * 10),
                Spot(_("their packets, top cards in sight"), cards("AB", "5S"), "beside"),
            ),
            (
                Spot(_("the trick"), trick[:2], "beside"),
                Spot(_("your packets: play the top card"), cards("3S", "6D"), "beside"),
            ),
            (Spot(_("your hand: two packets"), cards(*HAND)),),
        )
    if kind.layout == "stock":
        return (
            (Spot(_("your opponent’s hand"), BACKS * 9),),
            (
                Spot(_("the stock"), BACKS * 4, "pile"),
                Spot(_("the trick"), trick[:2], "beside"),
                Spot(_("drawn and shown"), cards("4C", "RD"), "beside"),
            ),
            (Spot(_("your hand"), cards(*HAND_WITH_DRAWN)),),
        )
    if kind.seats == 2:
        return (
            (Spot(_("your opponent’s hand"), BACKS * len(hand)),),
            (Spot(_("the trick"), trick[:2], "beside"),),
            (Spot(_("your hand"), hand),),
        )
    return (
        (Spot(_("your partner"), BACKS * 9),),
        (Spot(_("opponent"), BACKS * 9), Spot(_("the trick"), trick), Spot(_("opponent"), BACKS * 9)),
        (Spot(_("your hand"), hand),),
    )
