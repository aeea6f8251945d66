"""Tressette for two with packets of five: each player holds two packets and plays two from the table."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from .cards import mask_of
from .deal import Carry
from .declarations import HONOURS
from .errors import NotAnHonour, NotYourPacket, PacketEmpty
from .options import Pizzichino, Spizzichino
from .tressette import TressetteDeal
from .views import Packet, PacketsView, ShownCard

PACKETS = range(1, 9)
TAKES = {f"take {' '.join(map(str, four))}": frozenset(four) for four in combinations(PACKETS, 4)}
HOLDS = {f"hold {' '.join(map(str, two))}": frozenset(two) for two in combinations(PACKETS, 2)}
PICK_TEXTS = {number: f"pick {number}" for number in PACKETS}
PICKS = {text: number for number, text in PICK_TEXTS.items()}
NO_PACKETS: frozenset[int] = frozenset()


class PacketsDeal(TressetteDeal):
    """A deal with packets, numbered from 1 in the order of dealing.

    ``packets[k]`` are the cards of packet k from the top (entry 0 is empty). By seat, ``owned_packets`` are its four
    packets. Two of them are ``packets_in_hand``. The other two are ``on_table``, by rising number, and ``tops`` is the
    set of their open top cards. ``picked`` are the honours picked up into hands, in order.
    """

    VIEW = PacketsView
    LENGTH = 20
    LISTS = (*TressetteDeal.LISTS, "packets", "owned_packets", "packets_in_hand", "on_table", "tops", "picked")

    def __init__(self, rules: Pizzichino | Spizzichino, dealer: int, pack: Sequence[int], carry: Carry) -> None:
        self.peek = rules.packets == "peek"
        super().__init__(rules, dealer, pack, carry, seats=2)

    def deal_out(self, pack: Sequence[int]) -> None:
        self.phase = "take"
        self.packets: list[tuple[int, ...]] = [(), *(tuple(pack[5 * k - 5 : 5 * k]) for k in PACKETS)]
        self.owned_packets = [NO_PACKETS, NO_PACKETS]
        self.packets_in_hand = [NO_PACKETS, NO_PACKETS]
        self.on_table: list[tuple[int, ...]] = [(), ()]
        self.tops = [0, 0]
        self.picked: list[ShownCard] = []

    def hand(self, seat: int) -> int:
        return self.cards[seat] & ~self.tops[seat]

    def legal_moves(self, seat: int) -> list[str]:
        if self.phase == "play":
            moves = super().legal_moves(seat)
            if (honours := self.tops[seat] & HONOURS) and seat == self.turn:
                packets = self.packets
                for number in self.on_table[seat]:
                    if packets[number] and honours >> packets[number][0] & 1:
                        moves.append(PICK_TEXTS[number])
            return moves
        if seat != self.turn:
            return []
        if self.phase == "take":
            return [*TAKES]
        return [move for move, two in HOLDS.items() if two <= self.owned_packets[seat]]

    def play_other(self, seat: int, move: str) -> None:
        if move in TAKES:
            self.check_turn(seat, "take")
            self.owned_packets[seat] = TAKES[move]
            self.owned_packets[1 - seat] = frozenset(PACKETS) - TAKES[move]
            self.phase = "hold"
        elif move in HOLDS:
            self._hold(seat, HOLDS[move])
        elif move in PICKS:
            self._pick(seat, PICKS[move])
        else:
            super().play_other(seat, move)

    def _hold(self, seat: int, two: frozenset[int]) -> None:
        self.check_turn(seat, "hold")
        for number in sorted(two - self.owned_packets[seat]):
            raise NotYourPacket(packet=number)
        self.packets_in_hand[seat] = two
        for number in two:
            self.cards[seat] |= mask_of(self.packets[number])
            self.packets[number] = ()
        self.on_table[seat] = tuple(sorted(self.owned_packets[seat] - two))
        for number in self.on_table[seat]:
            self._turn_up(seat, self.packets[number])
        self.note_first_hand(seat)
        self.turn = 1 - seat
        if seat == self.dealer:
            self.phase = "play"

    def _pick(self, seat: int, number: int) -> None:
        self.check_turn(seat, "play")
        if number not in self.on_table[seat]:
            raise NotYourPacket(packet=number)
        if not self.packets[number]:
            raise PacketEmpty(packet=number)
        top = self.packets[number][0]
        if not HONOURS >> top & 1:
            raise NotAnHonour(packet=number, card=self.PACK.codes[top], suits=self.PACK.suits)
        self._reveal(seat, top)
        self.picked.append(ShownCard(seat, self.PACK.codes[top]))
        self.shown_cards[seat] |= 1 << top
        self.acquired[seat] |= 1 << top

    def _reveal(self, seat: int, top: int) -> None:
        """Take an open card off its packet, and turn up the next card."""
        for number in self.on_table[seat]:
            packet = self.packets[number]
            if packet and packet[0] == top:
                self.packets[number] = left = packet[1:]
                self.tops[seat] ^= 1 << top
                self._turn_up(seat, left)

    def _turn_up(self, seat: int, packet: tuple[int, ...]) -> None:
        """Make a packet's top card, if any, visible and playable."""
        if packet:
            self.tops[seat] |= 1 << packet[0]
            self.cards[seat] |= 1 << packet[0]

    def play_card(self, seat: int, card: int) -> None:
        super().play_card(seat, card)
        if self.tops[seat] >> card & 1:
            self._reveal(seat, card)

    def after_trick(self, winner: int) -> None:
        self.acquired = [0, 0]

    def public_fields(self) -> dict[str, Any]:
        return {
            **super().public_fields(),
            "packets": tuple([self._packet_view(number, None) for number in PACKETS]),
            "picked": tuple(self.picked),
        }

    def seat_fields(self, seat: int) -> dict[str, Any]:
        return {**super().seat_fields(seat), "packets": tuple([self._packet_view(number, seat) for number in PACKETS])}

    def _packet_view(self, number: int, viewer: int | None) -> Packet:
        owner = next((seat for seat in (0, 1) if number in self.owned_packets[seat]), None)
        cards_left = self.packets[number]
        if owner is None:
            return Packet(number, None, "middle", None, len(cards_left))
        if number in self.packets_in_hand[owner]:
            return Packet(number, owner, "hand", None, 0)
        has_chosen = bool(self.packets_in_hand[owner])
        visible = cards_left and (has_chosen or (self.peek and viewer == owner))
        top = self.PACK.codes[cards_left[0]] if visible else None
        return Packet(number, owner, "table" if has_chosen else "taken", top, len(cards_left))
