"""What a robot says with a card that it leads at Tressette in Quattro."""

from ..cards import ITALIAN
from ..declarations import HONOUR_RANKS
from ..views import DealView, View

HONOURS_FOR_BUSSO = 2  # honours that stay in hand, so that a partner's high card is not wasted


def signal_of(deal: DealView, view: View, card: int) -> str:
    """Return " volo" for the last card of a suit, " busso" if honours of the suit stay in hand, or an empty string."""
    if deal.trick or not view.rules.get("signals"):
        return ""
    code = ITALIAN.codes[card]
    same_suit = [other for other in deal.hand or () if other[1] == code[1] and other != code]
    if not same_suit:
        return " volo"
    return " busso" if sum(other[0] in HONOUR_RANKS for other in same_suit) >= HONOURS_FOR_BUSSO else ""
