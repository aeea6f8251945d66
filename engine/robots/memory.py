"""The memory of an attentive player in a deal."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..cards import FRENCH, ITALIAN, Pack
from ..game import MoveEntry
from ..tressette import THIRDS
from ..views import DealView, PacketsView, SpadesView


@dataclass
class Memory:
    """An attentive player's knowledge, as sets of cards (`engine.cards`).

    ``own_cards`` are the cards that the seat can play. ``unseen`` are the cards that it has not seen and that are still
    in the deal. ``open_to[s]`` are the cards that seat s is known to be able to play, and ``hidden[s]`` is the number
    of its other cards. ``thirds`` are taken in tricks, by side.
    """

    own_cards: int
    unseen: int
    open_to: list[int]
    hidden: list[int]
    thirds: list[int]

    def chance_without(self, seat: int, cards: int) -> float:
        """Return the probability that a seat has no card of this set."""
        if cards & self.open_to[seat]:
            return 0.0
        pool, chance = self.unseen.bit_count(), 1.0
        for drawn_count in range((cards & self.unseen).bit_count()):
            chance *= max(0, pool - drawn_count - self.hidden[seat]) / max(1, pool - drawn_count)
        return chance


def remember(deal: DealView, history: Sequence[MoveEntry], seat: int) -> Memory:
    pack = FRENCH if isinstance(deal, SpadesView) else ITALIAN
    open_to = [pack.mask(known) for known in deal.known]
    hidden = [count - len(known) for count, known in zip(deal.counts, deal.known, strict=True)]
    if isinstance(deal, PacketsView):
        for packet in deal.packets:
            if packet.place == "table" and packet.top and packet.owner is not None:
                open_to[packet.owner] |= 1 << pack.index[packet.top]
    open_to[seat] |= pack.mask(deal.hand or ())
    seen_cards = pack.mask(move.split(" ")[1] for by, move in history if move.startswith("play "))
    if isinstance(deal, SpadesView):
        seen_cards |= _cards_out_of_play(deal, history, seat)
    for cards in open_to:
        seen_cards |= cards
    thirds = _count_thirds(pack, history, len(deal.counts))
    return Memory(open_to[seat], pack.full & ~seen_cards, open_to, hidden, thirds)


def _cards_out_of_play(deal: SpadesView, history: Sequence[MoveEntry], seat: int) -> int:
    """Return the cards discarded by this seat that no player can hold."""
    exchanged = {by: move.split(" ")[1:] for by, move in history if move.startswith("exchange ")}
    if 1 - seat not in exchanged:
        return FRENCH.mask(deal.discarded)
    # The opponent might have received any of the draft's discards.
    return FRENCH.mask(exchanged.get(seat, ()))


def _count_thirds(pack: Pack, history: Sequence[MoveEntry], seats: int) -> list[int]:
    """Return the thirds in the tricks won so far, by side, without the last trick's bonus."""
    thirds = [0, 0]
    if pack is not ITALIAN:
        return thirds
    trick: list[tuple[int, int]] = []
    for by, move in history:
        if by is None or not move.startswith("play "):
            continue
        trick.append((by, pack.index[move.split(" ")[1]]))
        if len(trick) == seats:
            led_suit = pack.suit_of[trick[0][1]]
            _, winner = max((card, seat) for seat, card in trick if led_suit >> card & 1)
            thirds[winner & 1] += sum(THIRDS[card] for _, card in trick)
            trick = []
    return thirds
