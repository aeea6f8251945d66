"""Tressette for two with a stock: ten cards each, then each player draws and shows a card after each trick."""

from collections.abc import Sequence
from typing import Any

from .deal import Carry, deal_hands
from .declarations import HONOURS
from .options import TressetteRules
from .tressette import TressetteDeal
from .views import ShownCard, StockView


class StockDeal(TressetteDeal):
    """A deal with draws from a stock after each trick. ``stock`` is the whole stock as dealt."""

    VIEW = StockView
    LENGTH = 20

    def __init__(self, rules: TressetteRules, dealer: int, pack: Sequence[int], carry: Carry) -> None:
        super().__init__(rules, dealer, pack, carry, seats=2)

    def deal_out(self, pack: Sequence[int]) -> None:
        dealt = deal_hands(pack, self.cards, 1 - self.dealer)
        self.stock = tuple(pack[dealt:])
        self.note_first_hand(0)
        self.note_first_hand(1)

    @property
    def drawn_count(self) -> int:
        """Number of stock cards drawn so far."""
        return min(2 * self.tricks_done, len(self.stock))

    def after_trick(self, winner: int) -> None:
        count, stock = 2 * self.tricks_done, self.stock
        if count > len(stock):
            self.acquired = [0, 0]
            return
        for seat, drawn_card in ((winner, stock[count - 2]), (1 - winner, stock[count - 1])):
            card = 1 << drawn_card
            self.cards[seat] |= card
            self.shown_cards[seat] |= card
            self.acquired[seat] = card & HONOURS

    def can_declare_acquired(self, seat: int) -> bool:
        return seat == self.turn or (self.tricks_done > 0 and not self.trick)

    def public_fields(self) -> dict[str, Any]:
        return {**super().public_fields(), "stock": len(self.stock) - self.drawn_count, "drawn": self._last_draws()}

    def _last_draws(self) -> tuple[ShownCard, ...]:
        """Return the cards drawn after the last trick, the winner's first; empty if none were drawn."""
        if not self.last or self.tricks_done > len(self.stock) // 2:
            return ()
        winner = self.last[2]
        first, second = self.stock[self.drawn_count - 2 : self.drawn_count]
        return ShownCard(winner, self.PACK.codes[first]), ShownCard(1 - winner, self.PACK.codes[second])
