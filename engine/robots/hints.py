"""Hints from the strong robot: a move, and a reason code that a program can translate."""

from collections.abc import Sequence
from random import Random

from ..cards import ITALIAN, Pack, cards
from ..game import MoveEntry
from ..spades import SPADE_SUIT
from ..tressette import THIRDS
from ..views import DealView, PacketsView, SpadesView, View
from .deductions import pack_of, worlds_of
from .medium import KEEP_VALUE, can_serve_declaration, useful_picks
from .memory import remember
from .robot import Budget
from .spades import trick_worth
from .strong import StrongRobot
from .verdicts import Hint

POINT = 3  # thirds of a point
FEW = 2  # number of cards that a reason names


def usual_hint(view: View, history: Sequence[MoveEntry], budget: Budget | None = None) -> Hint | None:
    """Return the hint that a player always gets in this situation, so that an analysis can find it again.

    It depends on nothing but the player's knowledge, unless the ``budget`` ends the search early.
    """
    hand = view.deal.hand if view.deal else None
    situation = "/".join([view.game, *(hand or ()), *(f"{seat}:{move}" for seat, move in history)])
    return find_hint(view, history, Random(situation), budget or Budget())


def find_hint(view: View, history: Sequence[MoveEntry], random: Random, budget: Budget) -> Hint | None:
    """Return the strong robot's move in this seat, with a reason; None out of turn."""
    move = StrongRobot(random, budget, advises=True).choose(view, history)
    if move is None:
        return None
    reason = find_reason(view, history, move)
    if not move.startswith("play "):
        return Hint(move, reason)
    return _with_facts(view, history, Hint(move, reason))


def _with_facts(view: View, history: Sequence[MoveEntry], hint: Hint) -> Hint:
    """Return a hint to play a card with the points and cards that its reason is about."""
    deal = view.deal
    assert deal is not None
    pack, unit = pack_of(deal), int(view.rules.get("score_unit", 1))
    card = pack.index[hint.move.split(" ")[1]]
    worth = THIRDS if pack is ITALIAN else (0,) * len(pack.codes)
    trick_thirds = sum(worth[pack.index[played.card]] for played in deal.trick)
    if hint.reason == "spares":
        saved_card = min(_winning_cards(view, deal, pack), key=lambda other: (_card_cost(pack, other), other))
        return hint._replace(thirds=(trick_thirds + worth[saved_card]) * unit, cards=(pack.codes[saved_card],))
    if hint.reason == "likely" and not deal.trick:
        higher_cards = [*cards(_cards_above(view, history, card))]
        is_named = len(higher_cards) <= FEW and pack is ITALIAN
        named_cards = tuple(pack.codes[other] for other in reversed(higher_cards)) if is_named else ()
        return hint._replace(thirds=worth[card] * unit, cards=named_cards)
    takes = hint.reason in ("takes", "takes_points")
    return hint._replace(thirds=(trick_thirds * takes + worth[card]) * unit)


def find_reason(view: View, history: Sequence[MoveEntry], move: str, *, exact: bool = False) -> str:
    """Return the reason for a move. ``exact`` means that the move was found with all cards open."""
    deal = view.deal
    assert deal is not None
    word = move.split(" ", maxsplit=1)[0]
    if word != "play":
        if word == "pick" and isinstance(deal, PacketsView):
            packet = next(packet for packet in deal.packets if move == f"pick {packet.number}")
            if not can_serve_declaration(view, history, packet):
                return "frees"
            return "picks" if packet.left > 1 else "picks_last"
        is_blind = isinstance(deal, SpadesView) and deal.bids[view.seat or 0] == "double nil"
        simple = {
            "declare": "declares",
            "claim": "claims",
            "keep": "drafts_low" if is_blind else "drafts",
            "pass": "passes_high" if is_blind else "passes",
            "draw": "draws" if "blind" in view.moves else "only",
            "exchange": "exchanges_nothing" if move == "exchange" else "exchanges",
            "bid": "nil" if move == "bid 0" else "bids",
        }
        packets = deal.packets if isinstance(deal, PacketsView) else ()
        is_seen = any(packet.top for packet in packets if packet.owner == view.seat)
        return simple.get(word, "packets" if is_seen else "unseen")
    plays = {other.split(" ")[1] for other in view.moves if other.startswith("play ")}
    if len(plays) == 1 and not useful_picks(view, history):
        return _only_reason(deal, *plays)
    if not isinstance(deal, SpadesView) and len(deal.counts) == 2 and not len(worlds_of(view, history).unseen):
        return "counted"
    pack = pack_of(deal)
    card = pack.index[move.split(" ")[1]]
    reason = (_follow_reason if deal.trick else _lead_reason)(view, deal, history, pack, card)
    return reason or ("cards_open" if exact else "likely")


def _only_reason(deal: DealView, card: str) -> str:
    """Return why no other card can be played."""
    if deal.trick and deal.trick[0].card[1] == card[1]:
        return "only_follows"
    if deal.counts[deal.seat or 0] == 1 and not isinstance(deal, PacketsView):
        return "last_card"
    return "no_spades_yet" if isinstance(deal, SpadesView) and not deal.trick else "only"


def _follow_reason(view: View, deal: DealView, history: Sequence[MoveEntry], pack: Pack, card: int) -> str | None:
    seat = view.seat or 0
    trumps = SPADE_SUIT if isinstance(deal, SpadesView) else 0
    led_suit = pack.suit_of[pack.index[deal.trick[0].card]]
    played_cards = [(pack.index[played.card], played.seat) for played in deal.trick]
    best_card, winner = max((other, player) for other, player in played_cards if 1 << other & (led_suit | trumps))
    beats = card > best_card and bool(1 << card & (led_suit | trumps))
    worth = 0 if trumps else sum(THIRDS[other] for other, _player in played_cards) + THIRDS[card]
    to_play = len(deal.counts) - len(deal.trick) - 1
    is_open = to_play > 0 and _can_be_beaten(view, history, card if beats else best_card)
    if _avoids_tricks(deal, seat):
        return None if beats else "wants_none"
    if beats:
        if is_open:
            return "highest_so_far"
        return "takes_points" if worth >= POINT else "takes"
    if (winner ^ seat) & 1 == 0:
        return "partners_so_far" if is_open else "gives_partner"
    plays = [pack.index[move.split(" ")[1]] for move in view.moves if move.startswith("play ")]
    if _card_cost(pack, card) > min(_card_cost(pack, other) for other in plays):
        return None
    if winning := _winning_cards(view, deal, pack):
        # A whole point is worth most cards.
        could_take = min(worth - THIRDS[card] + THIRDS[other] for other in winning) if not trumps else 0
        return "spares" if could_take < POINT else None
    # If only one player is still to play, it is an opponent.
    return "lost_so_far" if is_open and to_play > 1 else "gives_little"


def _winning_cards(view: View, deal: DealView, pack: Pack) -> list[int]:
    """Return the seat's cards that would win the trick so far."""
    trumps = SPADE_SUIT if isinstance(deal, SpadesView) else 0
    suits = trumps | pack.suit_of[pack.index[deal.trick[0].card]]
    best_card = max(pack.index[played.card] for played in deal.trick if 1 << pack.index[played.card] & suits)
    plays = [pack.index[move.split(" ")[1]] for move in view.moves if move.startswith("play ")]
    return [other for other in plays if other > best_card and 1 << other & suits]


def _card_cost(pack: Pack, card: int) -> float:
    """Return the cost of a card in a lost trick: its thirds and later worth; at Spades the tricks it would win."""
    code = pack.codes[card]
    return round(THIRDS[card] + KEEP_VALUE[code[0]]) if pack is ITALIAN else trick_worth(code)


def _lead_reason(view: View, deal: DealView, history: Sequence[MoveEntry], pack: Pack, card: int) -> str | None:
    seat = view.seat or 0
    # In both packs, cheap cards go up to the seven, and high cards are the three highest ranks.
    ranks, own_cards = len(pack.ranks), remember(deal, history, seat).own_cards
    is_cheap = card % ranks < (ranks - 1) // 2
    if _avoids_tricks(deal, seat):
        return "wants_none" if is_cheap and _can_be_beaten(view, history, card) else None
    no_trump_beats = pack.suit_of[card] == SPADE_SUIT or not isinstance(deal, SpadesView)
    if no_trump_beats and not _can_be_beaten(view, history, card):
        return "cannot_be_beaten"
    keeps_high = any(other % ranks >= ranks - 3 for other in cards(own_cards))
    cards_seen_by_seat = remember(deal, history, seat).open_to
    opponents = [cards_seen for other, cards_seen in enumerate(cards_seen_by_seat) if (other ^ seat) & 1]
    # A low lead costs a point if an opponent can take it with an ace that all have seen.
    feeds_ace = pack is ITALIAN and any(
        pack.codes[other][0] == "A" and other > card and 1 << other & pack.suit_of[card]
        for cards_seen in opponents
        for other in cards(cards_seen)
    )
    return "leads_low" if is_cheap and keeps_high and not feeds_ace else None


def _avoids_tricks(deal: DealView, seat: int) -> bool:
    """Return whether this seat has bid nil or double nil, and has won no trick yet."""
    return isinstance(deal, SpadesView) and deal.bids[seat] in ("nil", "double nil") and not deal.tricks[seat]


def _can_be_beaten(view: View, history: Sequence[MoveEntry], card: int) -> bool:
    """Return whether another player can hold a higher card of the same suit, as far as the seat knows."""
    return bool(_cards_above(view, history, card))


def _cards_above(view: View, history: Sequence[MoveEntry], card: int) -> int:
    """Return the higher cards of the same suit that other players can hold.

    Declarations and suits that were not followed exclude cards. A volo does not, because it can be false.
    """
    deal = view.deal
    assert deal is not None
    worlds = worlds_of(view, history, believing=False)
    unseen = sum(1 << int(other) for other in worlds.unseen)
    possible_cards = 0
    for seat in range(len(deal.counts)):
        if seat == view.seat:
            continue
        possible_cards |= int(worlds.known_cards[seat])
        if isinstance(deal, PacketsView):
            possible_cards |= unseen  # a pick can uncover a card that the hand cannot have
        elif worlds.need[seat]:
            possible_cards |= unseen & int(worlds.allowed[seat])
    return (possible_cards & pack_of(deal).suit_of[card]) >> (card + 1) << (card + 1)
