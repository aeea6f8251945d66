"""Tressette for four: all cards are dealt, ten tricks, partners sit opposite."""

from collections.abc import Sequence
from typing import ClassVar

from .cards import ITALIAN, SuitTexts
from .deal import Carry, deal_hands
from .errors import NoSignals, SignalsAreForLeaders
from .options import FourHands
from .tressette import TressetteDeal
from .views import TressetteView

SIGNALS = ("busso", "volo")


class FullDeal(TressetteDeal):
    """A deal of ten cards each, dealt five at a time. If the table allows signals, the leader can make one."""

    VIEW = TressetteView
    LENGTH = 10
    SIGNAL_TEXTS = SuitTexts(ITALIAN, *(f"play {{}} {signal}" for signal in SIGNALS))
    SIGNAL_MOVES: ClassVar = {
        f"play {code} {signal}": (card, signal) for code, card in ITALIAN.index.items() for signal in SIGNALS
    }

    def __init__(self, rules: FourHands, dealer: int, pack: Sequence[int], carry: Carry) -> None:
        self.signals = rules.signals
        super().__init__(rules, dealer, pack, carry, seats=4)

    def deal_out(self, pack: Sequence[int]) -> None:
        deal_hands(pack, self.cards, (self.dealer + 1) % 4)
        for seat in range(4):
            self.note_first_hand(seat)

    def lead_moves(self, playable: int) -> list[str]:
        moves = super().lead_moves(playable)
        return moves + self.SIGNAL_TEXTS.list_texts(playable) if self.signals else moves

    def play_other(self, seat: int, move: str) -> None:
        if move not in self.SIGNAL_MOVES:
            return super().play_other(seat, move)
        card, signal = self.SIGNAL_MOVES[move]
        if not self.signals:
            raise NoSignals()
        self.check_turn(seat, "play")
        if self.trick:
            raise SignalsAreForLeaders()
        self.play_card(seat, card)
        self.signal = signal
        return None
