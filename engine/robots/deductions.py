"""Facts about unseen cards that follow from a seat's view and history, in the form that searches take."""

from collections.abc import Sequence

from ..cards import FRENCH, ITALIAN, Pack, cards
from ..declarations import COMBINATIONS, HONOURS
from ..game import MoveEntry
from ..search import playing
from ..search.compiled import Ints, int_array, zeros
from ..search.playing import Board
from ..search.worlds import Worlds, fill_pool
from ..spades import NOT_SPADES, SPADE_SUIT
from ..views import DealView, PacketsView, SpadesView, StockView, TressetteView, View
from .memory import remember

WINDOWS = {
    "acquired": playing.AS_THEY_COME,
    "three_tricks": playing.FOUR_TRICKS,
    "after_first_trick": playing.AFTER_FIRST_TRICK,
    "any_turn": playing.ANY_TURN,
}

# Trust that others play sensibly (`engine.search.worlds.fill_pool`). Stricter values win more against the
# medium robot, which plays exactly that way, and lose against others: docs/robots.md.
DOUBT, MILDNESS, SPREAD = 0.3, 100.0, 1.0


def worlds_of(view: View, history: Sequence[MoveEntry], *, pool: int = 0, believing: bool = True) -> Worlds:
    """Return all worlds that this seat's knowledge allows, in the phases of play and bidding.

    ``pool`` is the number of worlds to make room for. With ``believing``, a volo proves that its player has no more
    cards of the suit.
    """
    deal, seat = view.deal, view.seat
    assert deal is not None
    assert seat is not None
    memory = remember(deal, history, seat)
    seats = len(deal.counts)
    packets: list[int] = []
    if isinstance(deal, PacketsView):
        for packet in deal.packets:
            if packet.place == "table" and packet.top and packet.owner is not None:
                top = ITALIAN.index[packet.top]
                if packet.left > 1 or HONOURS >> top & 1:
                    packets += [packet.owner, top, packet.left - 1]
    known_cards, unseen = memory.open_to, memory.unseen
    need = [0 if other == seat else count for other, count in enumerate(memory.hidden)]
    seekers = [other for other in range(seats) if need[other]]
    if len(seekers) == 1 and unseen.bit_count() == need[seekers[0]]:
        # All unseen cards are in one hand.
        known_cards, unseen, need = known_cards.copy(), 0, [0] * seats
        known_cards[seekers[0]] |= memory.unseen
    voids = _voids(pack_of(deal), history, seats, believing=believing)
    return Worlds(
        start=_start_state(view, deal, memory.thirds),
        known_cards=int_array(known_cards),
        need=int_array(need),
        allowed=int_array(FRENCH.full & ~void for void in voids),
        unseen=int_array(card for card in cards(unseen) if pack_of(deal).codes[card] != getattr(deal, "drawn", None)),
        packets=int_array(packets),
        pool=zeros(pool * seats),
        weights=zeros(pool),
    )


def pack_of(deal: DealView) -> Pack:
    return FRENCH if isinstance(deal, SpadesView) else ITALIAN


def weigh_worlds(worlds: Worlds, view: View, history: Sequence[MoveEntry], board: Board) -> Worlds:
    """Return the worlds, weighted by how well they fit bids and moves.

    They are unweighted with a stock or packets, if there is nothing to fit, or if no world can be found.
    """
    deal = view.deal
    assert deal is not None
    past = [
        (seat, pack_of(deal).index[move.split(" ")[1]])
        for seat, move in history
        if move.startswith("play ") and seat is not None
    ]
    whole = isinstance(deal, SpadesView) or len(deal.counts) == 4
    if whole and len(worlds.unseen) and (past or isinstance(deal, SpadesView)):
        beginning = zeros(playing.SIZE)
        for index in (playing.SEATS, playing.SPADES, *range(playing.BIDS, playing.SIZE)):
            beginning[index] = worlds.start[index]
        beginning[playing.TURN] = past[0][0] if past else deal.turn or 0
        beginning[playing.CARDS_LEFT] = 26 if isinstance(deal, SpadesView) else 40
        beginning[playing.ALLOWED_CARDS] = NOT_SPADES if isinstance(deal, SpadesView) else 0
        flat = int_array(number for pair in past for number in pair)
        if fill_pool(worlds, board, flat, beginning, view.seat or 0, DOUBT, MILDNESS, SPREAD):
            return worlds
    return worlds._replace(pool=zeros(0), weights=zeros(0))


def _start_state(view: View, deal: DealView, thirds: Sequence[int]) -> Ints:
    """Return the known state of play. ``thirds`` are those that each side has taken."""
    start = zeros(playing.SIZE)
    seats = len(deal.counts)
    start[playing.SEATS] = seats
    start[playing.TURN] = deal.turn if deal.turn is not None else 0
    start[playing.TRICK] = sum(deal.tricks)
    start[playing.TRICK_SIZE] = len(deal.trick)
    length = 13 if isinstance(deal, SpadesView) else 40 // seats
    start[playing.CARDS_LEFT] = (length - sum(deal.tricks)) * seats - len(deal.trick)
    if isinstance(deal, SpadesView):
        start[playing.SPADES] = 1
        start[playing.BROKEN] = int(deal.broken)
        start[playing.ALLOWED_CARDS] = 0 if deal.broken else NOT_SPADES
        for side, bid in enumerate(deal.bids):
            start[playing.TAKEN + side] = deal.tricks[side]
            start[playing.BIDS + side] = bid if isinstance(bid, int) else 0
            start[playing.BLIND + side] = int(bid == "double nil")
    if isinstance(deal, StockView):
        start[playing.STOCK] = deal.stock
    if isinstance(deal, PacketsView):
        start[playing.PACKETS] = 1
    if isinstance(deal, TressetteView):
        for side in (0, 1):
            start[playing.TAKEN + side] = thirds[side]
        start[playing.WINDOW] = WINDOWS.get(str(view.rules["declare"]), playing.NO_WINDOW)
        start[playing.REUSE] = int(bool(view.rules["reuse"]))
        if not view.rules["reuse"]:
            for declaration in deal.declarations:
                start[playing.SCORED + declaration.seat] |= COMBINATIONS[declaration.move].kind
    if isinstance(deal, PacketsView) and view.rules["declare"] == "acquired" and not view.rules["reuse"]:
        # The search chooses when to declare these threes. All other combinations have been declared.
        for move in view.moves:
            if move.startswith("declare three"):
                start[playing.PENDING + (view.seat or 0)] |= COMBINATIONS[move].kind
    pack = pack_of(deal)
    for index, (seat, code, _signal) in enumerate(deal.trick):
        card = pack.index[code]
        if index == 0:
            start[playing.ALLOWED_CARDS] = pack.suit_of[card]
        # Trumps do not matter: at Spades the second card ends the trick, so at most one card lies here.
        if index == 0 or (card > start[playing.BEST_CARD] and 1 << card & start[playing.ALLOWED_CARDS]):
            start[playing.BEST_CARD], start[playing.WINNER] = card, seat
        start[playing.POT] += 0 if isinstance(deal, SpadesView) else playing.WORTH[card]
    return start


def _voids(pack: Pack, history: Sequence[MoveEntry], seats: int, *, believing: bool) -> list[int]:
    """Return, by seat, the cards that cannot be among its unseen cards.

    These are suits that the seat did not follow, suits for which it announced a volo, the cards missing from its
    declarations, and all suits but spades if it led a spade before spades were broken.
    """
    void = [0] * seats
    trick_size, led_suit, broken = 0, 0, pack is ITALIAN
    for seat, move in history:
        word, *arguments = move.split(" ")
        if word == "declare" and arguments[0] == "three" and seat is not None:
            # A player with the fourth card must declare the four.
            _, rank, _, missing_suit = arguments
            void[seat] |= 1 << ITALIAN.index[rank + missing_suit]
        if word != "play" or seat is None:
            continue
        suit = pack.suit_of[pack.index[arguments[0]]]
        if trick_size == 0:
            led_suit = suit
            if suit == SPADE_SUIT and not broken:
                # Only a player with nothing but spades can lead them before they are broken.
                void[seat] |= NOT_SPADES
            if believing and "volo" in arguments:
                void[seat] |= suit
        elif suit != led_suit:
            void[seat] |= led_suit
        broken = broken or suit == SPADE_SUIT
        trick_size = (trick_size + 1) % seats
    return void
