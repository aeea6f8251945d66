"""Find the cards hidden from a viewer, and shuffle them among their places."""

from random import Random
from typing import Any

from engine.cards import cards
from engine.deal import Deal
from engine.packets import PacketsDeal
from engine.spades import SpadesDeal
from engine.stock import StockDeal
from engine.tressette import TressetteDeal

MASKS = ("cards", "dealt", "acquired", "shown_cards", "tops")
ORDERED = ("stock", "packets", "discards", "discarded")


def hidden_cards(deal: Deal, viewer: int | None) -> list[int]:
    """Return the cards whose places the viewer does not know."""
    unknown = 0
    for seat in range(deal.seats):
        if seat != viewer:
            unknown |= deal.hand(seat) & ~(deal.shown_cards[seat] if isinstance(deal, TressetteDeal) else 0)
    places: list[int] = []
    if isinstance(deal, StockDeal):
        places += deal.stock[deal.drawn_count :]
    if isinstance(deal, PacketsDeal):
        for number, packet in enumerate(deal.packets):
            owner = next((seat for seat in (0, 1) if number in deal.owned_packets[seat]), None)
            on_table = owner is not None and bool(deal.packets_in_hand[owner])
            top_seen = on_table or (deal.peek and owner is not None and owner == viewer)
            places += packet[1:] if top_seen else packet
    if isinstance(deal, SpadesDeal):
        has_drawn = viewer is not None and viewer == deal.turn and deal.drawn_card >= 0
        places += deal.stock[1:] if has_drawn else deal.stock
        places += deal.discards
        places += [card for seat in (0, 1) if seat != viewer for card in deal.discarded[seat]]
    seen_cards = {card for _, card in (*deal.trick, *(deal.last[0] if deal.last else ()))}
    if viewer is not None:
        seen_cards |= set(cards(deal.hand(viewer)))
        # Players know their own discards, even if chance has given one to the opponent since.
        seen_cards |= set(deal.discarded[viewer]) if isinstance(deal, SpadesDeal) else set()
    return sorted({*cards(unknown), *places} - seen_cards)


def shuffle_hidden(deal: Deal, hidden: list[int], random: Random) -> Deal:
    """Return a copy of the deal with the hidden cards exchanged among themselves in every field."""
    mixed = hidden.copy()
    random.shuffle(mixed)
    replacements = {card: card for card in range(deal.PACK.size)} | dict(zip(hidden, mixed, strict=True))
    changed = deal.copy()
    for name in MASKS:
        if hasattr(changed, name):
            setattr(
                changed, name, [sum(1 << replacements[card] for card in cards(mask)) for mask in getattr(deal, name)]
            )
    for name in ORDERED:
        if hasattr(changed, name):
            setattr(changed, name, _replace_cards(getattr(deal, name), replacements))
    if isinstance(changed, SpadesDeal) and changed.drawn_card >= 0:
        changed.drawn_card = replacements[changed.drawn_card]
    return changed


def _replace_cards(value: Any, replacements: dict[int, int]) -> Any:
    if isinstance(value, int):
        return replacements[value]
    return type(value)(_replace_cards(item, replacements) for item in value)
