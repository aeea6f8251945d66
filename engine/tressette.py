"""What the six Tressette games share: values, declarations and when they may be made.

Values are in thirds of a point: an ace 3, the other honours and the figures 1, and 3 for the last trick; 35 a deal.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from engine.cards import ITALIAN, SuitTexts
from engine.deal import Carry, Deal, Score, pair, unknown
from engine.declarations import COMBINATIONS, HONOURS, Combination, combinations_in
from engine.errors import (
    AlreadyDeclared,
    DeclareTheFour,
    IllegalMove,
    NoCombination,
    NoDeclarations,
    NotNow,
    NotYourTurn,
    WindowNotOpen,
    WindowPassed,
)
from engine.rules import TressetteRules
from engine.views import Declared

THIRDS = tuple({"A": 3, "3": 1, "2": 1, "R": 1, "C": 1, "F": 1}.get(code[0], 0) for code in ITALIAN.codes)
FOUR_OF_COINS = 1 << ITALIAN.index["4D"]


class TressetteDeal(Deal):
    """A deal of Tressette.

    ``taken`` and ``declared`` are by side, in thirds and in whole points. By seat: ``dealt`` the first ten cards,
    ``acquired`` the honours that came to hand before its next play (in the first trick all it has), ``shown`` the cards
    that everybody has seen, played or not, ``scored`` the kinds and ``said`` the combinations already declared.
    """

    PACK = ITALIAN
    WORTH = THIRDS
    LAST_TRICK = 3
    PLAY_TEXTS = SuitTexts(ITALIAN, "play {}")
    CARD_OF_PLAY: ClassVar = {f"play {code}": card for code, card in ITALIAN.index.items()}
    LISTS = (*Deal.LISTS, "declared", "dealt", "acquired", "shown", "scored", "said")

    def __init__(
        self,
        rules: TressetteRules,
        dealer: int,
        pack: Sequence[int],
        carry: Carry,
        *,
        seats: int,
    ) -> None:
        super().__init__(seats, dealer)
        self.window = rules.declare
        self.reuse = rules.reuse
        self.declared = [0, 0]
        self.declarations: tuple[tuple[int, Combination], ...] = ()
        self.dealt = [0] * seats
        self.acquired = [0] * seats
        self.shown = [0] * seats
        self.scored = [0] * seats
        self.said = [0] * seats
        self.deal_out(pack)
        if rules.lead == "four_of_coins":
            self.turn = self._leader_by_four_of_coins(carry.leader)

    @abstractmethod
    def deal_out(self, pack: Sequence[int]) -> None:
        """Lay the pack out."""

    def has_shown(self, seat: int, code: str) -> bool:
        card = self.PACK.index.get(code)
        return card is not None and bool(self.shown[seat] & self.hand(seat) & 1 << card)

    def note_first_hand(self, seat: int) -> None:
        """The seat has its ten cards: in the first trick their honours count as acquired."""
        self.dealt[seat] = self.hand(seat)
        self.acquired[seat] = self.dealt[seat] & HONOURS

    def _leader_by_four_of_coins(self, last_leader: int | None) -> int:
        if last_leader is not None:
            return (last_leader + 1) % self.seats
        holders = [seat for seat, hand in enumerate(self.cards) if hand & FOUR_OF_COINS]
        return holders[0] if holders else (self.dealer + 1) % self.seats

    def legal_moves(self, seat: int) -> list[str]:
        moves = self.play_moves(seat) if seat == self.turn else []
        if cards := self.declarable_from(seat):
            moves += [one.move for one in combinations_in(cards) if self._scores(seat, one)]
        return moves

    def other_move(self, seat: int, move: str) -> None:
        combination = COMBINATIONS.get(move)
        if combination is None:
            raise unknown(move)
        self._declare(seat, combination)

    def declarable_from(self, seat: int) -> int:
        """The cards of which this seat may declare now; none when its window is closed."""
        match self.window:
            case "acquired":
                return self.hand(seat) if self.acquired[seat] and self.may_declare_acquired(seat) else 0
            case "after_first_trick":
                waiting = self.tricks_done == 1 and all(other != seat for other, _ in self.trick)
                return self.dealt[seat] if waiting else 0
            case _ if seat != self.turn or self.phase != "play":
                return 0
            case "any_turn":
                return self.hand(seat)
            case "three_tricks":
                return self.hand(seat) if self.tricks_done < 4 else 0
            case "dealt":
                return self.dealt[seat] if not self.tricks_done else 0
            case _:
                return 0

    def may_declare_acquired(self, seat: int) -> bool:
        """Whether this is the time for a seat to declare what it has acquired since its last play."""
        return seat == self.turn

    def _scores(self, seat: int, one: Combination) -> bool:
        """Whether a combination that the seat holds would score if declared now."""
        fresh = self.window != "acquired" or one.cards & self.acquired[seat]
        said = self.said[seat] & one.bit
        return bool(fresh and not said and (self.reuse or not self.scored[seat] & one.kind))

    def _declare(self, seat: int, one: Combination) -> None:
        pool = self.declarable_from(seat)
        if one not in combinations_in(pool) or not self._scores(seat, one):
            raise self._why_not_declare(seat, one)
        self.declared[seat & 1] += one.points
        self.declarations += ((seat, one),)
        self.scored[seat] |= one.kind
        self.said[seat] |= one.bit
        self.shown[seat] |= one.cards

    def _why_not_declare(self, seat: int, one: Combination) -> IllegalMove:
        after_first = self.window == "after_first_trick"
        cards = self.dealt[seat] if after_first else self.hand(seat)
        declared = self.said[seat] & one.bit or (not self.reuse and self.scored[seat] & one.kind)
        checks: list[tuple[object, type[IllegalMove]]] = [
            (self.window == "none", NoDeclarations),
            (self.phase != "play" or self.over, NotNow),
            (declared, AlreadyDeclared),
            (one.cards & cards != one.cards, NoCombination),
            (one not in combinations_in(cards), DeclareTheFour),
            (after_first and not self.tricks_done, WindowNotOpen),
            (seat != self.turn and not after_first and not self.may_declare_acquired(seat), NotYourTurn),
        ]
        return next((error() for fault, error in checks if fault), WindowPassed())

    def score(self) -> Score:
        points = (self.taken[0] // 3 + self.declared[0], self.taken[1] // 3 + self.declared[1])
        return Score(
            points,
            {"thirds": pair(self.taken), "declared": pair(self.declared), "points": points},
        )

    def open_view(self) -> dict[str, Any]:
        return {
            **self.common_view(self.shown),
            "declared": pair(self.declared),
            "declarations": tuple(Declared(by, one.move, one.points) for by, one in self.declarations),
        }
