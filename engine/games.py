"""The seven games: their names, options and deals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .cards import FRENCH, ITALIAN, Pack
from .deal import Carry, Deal
from .errors import UnknownGame
from .full import FullDeal
from .options import MetaMazzo, Pizzichino, Rules, Spades, Spizzichino, Tavolo, TestaATesta, Tressette, TressetteRules
from .packets import PacketsDeal
from .spades import SpadesDeal
from .stock import StockDeal

Occasion = Literal["chat", "page", "terminal", "tournament"]


@dataclass(frozen=True)
class GameKind:
    """One of the games. ``name`` is the same in every language.

    ``new_deal`` is called with rules, dealer, pack (cards) and carry. ``cards_per_deal`` is the number of cards played
    in a whole deal. ``layout`` names the cards on the table besides the trick: packets, a stock, or none ("hands").
    ``trump`` is the letter of the trump suit. ``has_dealer`` is False if the players draw their hands. With
    ``asks_partner`` the first player of a side decides who sits opposite. ``duplicate_unit`` points count as 1 in a
    duplicate. ``winner_points`` are the points that a winner makes in a deal: ``target / winner_points`` is about
    the number of deals in a game. They were measured in games of a medium robot against a medium and an easy one
    (``buongioco simulate --players medium,easy``). Spades had 150 games to each target: 200 points took 4 deals in the
    median, 300 took 6, and 500 took 11. The others had 40 games to each target.
    ``default_for`` lists the occasions for which this game is the default.
    ``is_suggested`` games are offered to newcomers. ``italian_rank`` orders the games by how well Italians know them.
    """

    id: str
    name: str
    seats: int
    pack: Pack
    rules: type[Rules]
    new_deal: Callable[[Any, int, Sequence[int], Carry], Deal]
    cards_per_deal: int = 40
    layout: Literal["packets", "stock", "hands"] = "hands"
    trump: str = ""
    has_dealer: bool = True
    asks_partner: bool = False
    duplicate_unit: int = 1
    winner_points: int = 7
    default_for: tuple[Occasion, ...] = ()
    is_suggested: bool = False
    italian_rank: int = 7

    @property
    def is_tressette(self) -> bool:
        """True for the six games with the common rules of Tressette."""
        return issubclass(self.rules, TressetteRules)


_KINDS = (
    GameKind(
        "pizzichino",
        "Pizzichino",
        2,
        ITALIAN,
        Pizzichino,
        PacketsDeal,
        layout="packets",
        default_for=("terminal",),
        italian_rank=3,
    ),
    GameKind("spizzichino", "Spizzichino", 2, ITALIAN, Spizzichino, PacketsDeal, layout="packets", italian_rank=6),
    GameKind(
        "metamazzo",
        "Metà Mazzo",
        2,
        ITALIAN,
        MetaMazzo,
        StockDeal,
        layout="stock",
        default_for=("chat", "page", "tournament"),
        is_suggested=True,
        italian_rank=2,
    ),
    GameKind("testa", "Testa a Testa", 2, ITALIAN, TestaATesta, StockDeal, layout="stock", italian_rank=4),
    GameKind("tressette", "Tressette in Quattro", 4, ITALIAN, Tressette, FullDeal, is_suggested=True, italian_rank=1),
    GameKind("tavolo", "Tressette al Tavolo", 4, ITALIAN, Tavolo, FullDeal, asks_partner=True, italian_rank=5),
    GameKind(
        "spades",
        "Spades",
        2,
        FRENCH,
        Spades,
        SpadesDeal,
        26,
        trump="S",
        has_dealer=False,
        duplicate_unit=10,
        winner_points=47,
        is_suggested=True,
    ),
)
GAMES = {kind.id: kind for kind in _KINDS}


def game_kind(id: str) -> GameKind:
    """Return the game with this id; UnknownGame lists all ids."""
    if kind := GAMES.get(id):
        return kind
    raise UnknownGame(game=id, games=", ".join(GAMES))


def default_game(occasion: Occasion) -> str:
    """Return the id of the default game for an occasion."""
    return next(kind.id for kind in GAMES.values() if occasion in kind.default_for)
