"""Common rules of the six Tressette games: card values, declarations and their windows.

`engine.deal` decides who takes a trick.

An ace is worth three thirds of a point, other honours and figures one third, and the last trick three thirds.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from . import errors
from .cards import ITALIAN, SuitTexts
from .deal import Carry, Deal, Score, pair, unknown_move
from .declarations import COMBINATIONS, HONOURS, Combination, combinations_in
from .errors import IllegalMove
from .options import TressetteRules
from .views import Declaration

THIRDS = tuple({"A": 3, "3": 1, "2": 1, "R": 1, "C": 1, "F": 1}.get(code[0], 0) for code in ITALIAN.codes)
FOUR_OF_COINS = 1 << ITALIAN.index["4D"]


class TressetteDeal(Deal):
    """A deal of Tressette.

    ``taken`` (thirds) and ``declared`` (whole points) are by side. The others are by seat: ``dealt`` are the first ten
    cards. ``acquired`` are the honours received since the seat's last play; in the first trick, all its honours.
    ``shown_cards`` are the cards that all players have seen, played or not. ``scored`` are the kinds already declared,
    and ``declared_bits`` the combinations.
    """

    PACK = ITALIAN
    WORTH = THIRDS
    LAST_TRICK = 3
    PLAY_TEXTS = SuitTexts(ITALIAN, "play {}")
    CARD_OF_PLAY: ClassVar = {f"play {code}": card for code, card in ITALIAN.index.items()}
    LISTS = (*Deal.LISTS, "declared", "dealt", "acquired", "shown_cards", "scored", "declared_bits")

    def __init__(self, rules: TressetteRules, dealer: int, pack: Sequence[int], carry: Carry, *, seats: int) -> None:
        super().__init__(seats, dealer)
        self.window = rules.declare
        self.reuse = rules.reuse
        self.declared = [0, 0]
        self.declarations: tuple[tuple[int, Combination], ...] = ()
        self.dealt = [0] * seats
        self.acquired = [0] * seats
        self.shown_cards = [0] * seats
        self.scored = [0] * seats
        self.declared_bits = [0] * seats
        self.deal_out(pack)
        if rules.lead == "four_of_coins" and carry.leader is not None:
            self.turn = (carry.leader + 1) % seats
        elif rules.lead == "four_of_coins":
            self.turn = next((seat for seat, hand in enumerate(self.cards) if hand & FOUR_OF_COINS), self.turn)

    @abstractmethod
    def deal_out(self, pack: Sequence[int]) -> None:
        """Lay out the pack."""

    def has_shown(self, seat: int, code: str) -> bool:
        card = self.PACK.index.get(code)
        return card is not None and bool(self.shown_cards[seat] & self.hand(seat) & 1 << card)

    def note_first_hand(self, seat: int) -> None:
        """Record a seat's first ten cards; in the first trick their honours count as acquired."""
        self.dealt[seat] = self.hand(seat)
        self.acquired[seat] = self.dealt[seat] & HONOURS

    def legal_moves(self, seat: int) -> list[str]:
        moves = self.play_moves(seat) if seat == self.turn else []
        if cards := self.declarable_cards(seat):
            moves += [each.move for each in combinations_in(cards) if self._would_score(seat, each)]
        return moves

    def play_other(self, seat: int, move: str) -> None:
        combination = COMBINATIONS.get(move)
        if combination is None:
            raise unknown_move(move)
        pool = self.declarable_cards(seat)
        if combination not in combinations_in(pool) or not self._would_score(seat, combination):
            raise self._declaration_error(seat, combination)
        self.declared[seat & 1] += combination.points
        self.declarations += ((seat, combination),)
        self.scored[seat] |= combination.kind
        self.declared_bits[seat] |= combination.bit
        self.shown_cards[seat] |= combination.cards

    def declarable_cards(self, seat: int) -> int:
        """Return the cards from which this seat can declare now; 0 outside the window."""
        match self.window:
            case "acquired":
                return self.hand(seat) if self.acquired[seat] and self.can_declare_acquired(seat) else 0
            case "after_first_trick":
                can_declare = self.tricks_done == 1 and all(other != seat for other, _ in self.trick)
                return self.dealt[seat] if can_declare else 0
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

    def can_declare_acquired(self, seat: int) -> bool:
        """Return whether a seat can now declare honours acquired since its last play."""
        return seat == self.turn

    def _would_score(self, seat: int, combination: Combination) -> bool:
        """Return whether a combination that the seat holds would score if declared now."""
        fresh = self.window != "acquired" or combination.cards & self.acquired[seat]
        is_declared = self.declared_bits[seat] & combination.bit
        return bool(fresh and not is_declared and (self.reuse or not self.scored[seat] & combination.kind))

    def _declaration_error(self, seat: int, combination: Combination) -> IllegalMove:
        after_first = self.window == "after_first_trick"
        cards = self.dealt[seat] if after_first else self.hand(seat)
        kinds_used = 0 if self.reuse else self.scored[seat]
        declared = self.declared_bits[seat] & combination.bit or kinds_used & combination.kind
        checks: list[tuple[object, type[IllegalMove]]] = [
            (self.window == "none", errors.NoDeclarations),
            (self.phase != "play" or self.is_over, errors.NotNow),
            (declared, errors.AlreadyDeclared),
            (combination.cards & cards != combination.cards, errors.NoCombination),
            (combination not in combinations_in(cards), errors.DeclareTheFour),
            (after_first and not self.tricks_done, errors.WindowNotOpen),
            (seat != self.turn and not after_first and not self.can_declare_acquired(seat), errors.NotYourTurn),
        ]
        return next((error() for fault, error in checks if fault), errors.WindowPassed())

    def score(self) -> Score:
        points = (self.taken[0] // 3 + self.declared[0], self.taken[1] // 3 + self.declared[1])
        return Score(points, {"thirds": pair(self.taken), "declared": pair(self.declared), "points": points})

    def public_fields(self) -> dict[str, Any]:
        return {
            **self.common_fields(self.shown_cards),
            "declared": pair(self.declared),
            "declarations": tuple(
                Declaration(by, combination.move, combination.points) for by, combination in self.declarations
            ),
        }
