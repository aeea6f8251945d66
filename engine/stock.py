"""Tressette for two with a stock: ten cards each, and a card drawn and shown after each trick."""

from collections.abc import Sequence

from engine.deal import Carry, deal_hands
from engine.declarations import HONOURS
from engine.rules import TressetteRules
from engine.tressette import TressetteDeal
from engine.views import Played, StockView


class StockDeal(TressetteDeal):
    """After each trick the winner, then the loser, draws the stock's top card and shows it.

    ``stock`` is all of it as dealt, ``left`` how many cards are still to be drawn.
    """

    def __init__(self, rules: TressetteRules, dealer: int, pack: Sequence[int], carry: Carry) -> None:
        super().__init__(rules, dealer, pack, carry, seats=2, length=20)

    def deal_out(self, pack: Sequence[int]) -> None:
        dealt = deal_hands(pack, self.cards, 1 - self.dealer)
        self.stock = tuple(pack[dealt:])
        self.left = len(self.stock)
        self.drawn: tuple[tuple[int, int], ...] = ()
        self.note_first_hand(0)
        self.note_first_hand(1)

    def end_trick(self, winner: int) -> None:
        super().end_trick(winner)
        if not self.left:
            self.drawn = ()
            self.acquired = [0, 0]
            return
        self.drawn = ((winner, self.stock[-self.left]), (1 - winner, self.stock[1 - self.left]))
        self.left -= 2
        for seat, card in self.drawn:
            bit = 1 << card
            self.cards[seat] |= bit
            self.shown[seat] |= bit
            self.acquired[seat] = bit & HONOURS

    def may_declare_acquired(self, seat: int) -> bool:
        return seat == self.turn or (self.tricks_done > 0 and not self.trick)

    def view(self, seat: int | None) -> StockView:
        drawn = tuple(Played(by, self.PACK.codes[card]) for by, card in self.drawn)
        return StockView(**self.tressette_view(seat), stock=self.left, drawn=drawn)
