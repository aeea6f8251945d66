"""The seven games: what each is called, which options it has and how its deals are played."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine import rules
from engine.cards import FRENCH, ITALIAN, Pack
from engine.deal import Carry, Deal
from engine.errors import UnknownGame
from engine.full import FullDeal
from engine.packets import PacketsDeal
from engine.spades import SpadesDeal
from engine.stock import StockDeal


@dataclass(frozen=True)
class GameKind:
    """One of the games. ``name`` is what it is called everywhere, in every language.

    ``new_deal`` is called with rules, dealer, pack (cards) and carry. ``plays`` is how many cards are played in a whole
    deal.
    """

    id: str
    name: str
    seats: int
    pack: Pack
    rules: type[rules.Rules]
    new_deal: Callable[[Any, int, Sequence[int], Carry], Deal]
    plays: int = 40


GAMES = {
    kind.id: kind
    for kind in (
        GameKind("pizzichino", "Pizzichino", 2, ITALIAN, rules.Pizzichino, PacketsDeal),
        GameKind("spizzichino", "Spizzichino", 2, ITALIAN, rules.Spizzichino, PacketsDeal),
        GameKind("metamazzo", "Metà Mazzo", 2, ITALIAN, rules.MetaMazzo, StockDeal),
        GameKind("testa", "Testa a Testa", 2, ITALIAN, rules.TestaATesta, StockDeal),
        GameKind("tressette", "Tressette in Quattro", 4, ITALIAN, rules.Tressette, FullDeal),
        GameKind("tavolo", "Tressette al Tavolo", 4, ITALIAN, rules.Tavolo, FullDeal),
        GameKind("spades", "Spades", 2, FRENCH, rules.Spades, SpadesDeal, plays=26),
    )
}


def game_kind(id: str) -> GameKind:  # noqa: A002
    """The game with this id; UnknownGame lists those there are."""
    if kind := GAMES.get(id):
        return kind
    raise UnknownGame(game=id, games=", ".join(GAMES))
