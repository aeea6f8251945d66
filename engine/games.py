"""The seven games: what each is called, which options it has and how its deals are played."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from engine import rules
from engine.cards import FRENCH, ITALIAN, Pack
from engine.deal import Carry, Deal
from engine.errors import UnknownGame
from engine.full import FullDeal
from engine.packets import PacketsDeal
from engine.spades import SpadesDeal
from engine.stock import StockDeal

Occasion = Literal["chat", "page", "terminal", "tournament"]


@dataclass(frozen=True)
class GameKind:
    """One of the games. ``name`` is what it is called everywhere, in every language.

    ``new_deal`` is called with rules, dealer, pack (cards) and carry. ``plays`` is how many cards are played in a whole
    deal. ``layout`` is how the table lies: with packets, with a stock, or with nothing but hands. ``trump`` is the
    letter of the suit that beats the others. ``has_dealer`` is whether somebody deals, rather than the players drawing
    their hands. ``asks_partner`` is whether the first player of a side decides who sits opposite. ``duplicate_unit`` is
    how many of its points count as one in a duplicate. ``first_for`` are occasions on which this game is played unless
    another is chosen.
    """

    id: str
    name: str
    seats: int
    pack: Pack
    rules: type[rules.Rules]
    new_deal: Callable[[Any, int, Sequence[int], Carry], Deal]
    plays: int = 40
    layout: Literal["packets", "stock", "hands"] = "hands"
    trump: str = ""
    has_dealer: bool = True
    asks_partner: bool = False
    duplicate_unit: int = 1
    first_for: tuple[Occasion, ...] = ()

    @property
    def is_tressette(self) -> bool:
        """Whether the rules that all Tressette games share hold."""
        return issubclass(self.rules, rules.TressetteRules)


GAMES = {
    kind.id: kind
    for kind in (
        GameKind(
            "pizzichino",
            "Pizzichino",
            2,
            ITALIAN,
            rules.Pizzichino,
            PacketsDeal,
            layout="packets",
            first_for=("terminal",),
        ),
        GameKind(
            "spizzichino",
            "Spizzichino",
            2,
            ITALIAN,
            rules.Spizzichino,
            PacketsDeal,
            layout="packets",
            first_for=("chat",),
        ),
        GameKind(
            "metamazzo",
            "Metà Mazzo",
            2,
            ITALIAN,
            rules.MetaMazzo,
            StockDeal,
            layout="stock",
            first_for=("page", "tournament"),
        ),
        GameKind("testa", "Testa a Testa", 2, ITALIAN, rules.TestaATesta, StockDeal, layout="stock"),
        GameKind("tressette", "Tressette in Quattro", 4, ITALIAN, rules.Tressette, FullDeal),
        GameKind("tavolo", "Tressette al Tavolo", 4, ITALIAN, rules.Tavolo, FullDeal, asks_partner=True),
        GameKind(
            "spades",
            "Spades",
            2,
            FRENCH,
            rules.Spades,
            SpadesDeal,
            plays=26,
            trump="S",
            has_dealer=False,
            duplicate_unit=10,
        ),
    )
}


def game_kind(id: str) -> GameKind:  # noqa: A002
    """The game with this id; UnknownGame lists those there are."""
    if kind := GAMES.get(id):
        return kind
    raise UnknownGame(game=id, games=", ".join(GAMES))


def first_game(occasion: Occasion) -> str:
    """The id of the game that is played on this occasion unless another is chosen."""
    return next(kind.id for kind in GAMES.values() if occasion in kind.first_for)
