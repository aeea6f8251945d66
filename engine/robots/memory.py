"""What an attentive player remembers of a deal and works out from it."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.cards import FRENCH, ITALIAN, Pack
from engine.game import MoveEntry
from engine.tressette import THIRDS
from engine.views import DealView, PacketsView, SpadesView


@dataclass
class Memory:
    """Cards played, and where the others may be, as sets (`engine.cards`).

    ``own`` is what the seat may play from, ``unseen`` what may lie in any hidden place, ``open_to[s]`` what seat s is
    known to be able to play, ``hidden[s]`` how many more cards it holds unseen. ``thirds`` are those taken by side.
    """

    own: int
    played: int
    unseen: int
    open_to: list[int]
    hidden: list[int]
    thirds: list[int]

    def chance_without(self, seat: int, cards: int) -> float:
        """How likely a seat holds none of these cards."""
        if cards & self.open_to[seat]:
            return 0.0
        pool, chance = self.unseen.bit_count(), 1.0
        for taken in range((cards & self.unseen).bit_count()):
            chance *= max(0, pool - taken - self.hidden[seat]) / max(1, pool - taken)
        return chance


def remember(deal: DealView, history: Sequence[MoveEntry], seat: int) -> Memory:
    """What this seat knows, from its view and the moves it saw."""
    pack = FRENCH if isinstance(deal, SpadesView) else ITALIAN
    open_to = [pack.mask(known) for known in deal.known]
    hidden = [count - len(known) for count, known in zip(deal.counts, deal.known, strict=True)]
    if isinstance(deal, PacketsView):
        for packet in deal.packets:
            if packet.place == "table" and packet.top and packet.owner is not None:
                open_to[packet.owner] |= 1 << pack.index[packet.top]
    open_to[seat] |= pack.mask(deal.hand or ())
    played = pack.mask(move.split(" ")[1] for by, move in history if move.startswith("play "))
    seen = played | (_gone(deal, history, seat) if isinstance(deal, SpadesView) else 0)
    for cards in open_to:
        seen |= cards
    return Memory(open_to[seat], played, pack.full & ~seen, open_to, hidden, _thirds(pack, history, len(deal.counts)))


def _gone(deal: SpadesView, history: Sequence[MoveEntry], seat: int) -> int:
    """The cards that this seat threw away and that nobody can hold."""
    exchanged = {by: move.split(" ")[1:] for by, move in history if move.startswith("exchange ")}
    if 1 - seat not in exchanged:
        return FRENCH.mask(deal.discarded)
    # What the other one was given comes out of all that was discarded in the draft.
    return FRENCH.mask(exchanged.get(seat, ()))


def _thirds(pack: Pack, history: Sequence[MoveEntry], seats: int) -> list[int]:
    """Thirds in the tricks won so far, by side, without the last trick's."""
    taken = [0, 0]
    if pack is not ITALIAN:
        return taken
    trick: list[tuple[int, int]] = []
    for by, move in history:
        if by is None or not move.startswith("play "):
            continue
        trick.append((by, pack.index[move.split(" ")[1]]))
        if len(trick) == seats:
            led = pack.suit_of[trick[0][1]]
            _, winner = max((card, who) for who, card in trick if led >> card & 1)
            taken[winner & 1] += sum(THIRDS[card] for _, card in trick)
            trick = []
    return taken
