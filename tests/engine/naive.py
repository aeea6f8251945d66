"""A deliberately naive second engine on strings and lists, to check the real one.

It shares no code with the engine and derives every answer from the moves so far. Tests compare the legal moves, scores
and node counts of both engines.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

TRESSETTE_ORDER = "32ARCF7654"
SPADES_ORDER = "AKQJT98765432"
THIRDS = {"A": 3, "3": 1, "2": 1, "R": 1, "C": 1, "F": 1}


class NaiveTressette:
    """One deal of any Tressette game."""

    def __init__(self, rules: dict[str, Any], dealer: int, pack: list[str], leader_before: int | None = None):
        self.rules = rules
        self.layout = rules["layout"]
        self.dealer = dealer
        self.n = 4 if self.layout == "full" else 2
        self.hand: list[list[str]] = [[] for _ in range(self.n)]
        self.first_ten: list[list[str]] = [[] for _ in range(self.n)]
        self.acquired: list[list[str]] = [[] for _ in range(self.n)]
        self.plays: list[tuple[int, str]] = []
        self.declared: list[tuple[int, str, tuple[str, ...], int]] = []
        self.stock: list[str] = []
        self.packets = {k: pack[5 * k - 5 : 5 * k] for k in range(1, 9)}
        self.own: dict[int, list[int]] = {}
        self.table: dict[int, list[int]] = {}
        self.tricks: list[tuple[int, list[tuple[int, str]]]] = []
        self.current: list[tuple[int, str]] = []
        self.leader = (dealer + 1) % self.n
        eldest = (dealer + 1) % self.n
        if self.layout == "stock":
            self.hand[eldest] = pack[0:5] + pack[10:15]
            self.hand[dealer] = pack[5:10] + pack[15:20]
            self.stock = pack[20:]
        if self.layout == "full":
            for packet in range(8):
                self.hand[(eldest + packet) % 4] += pack[5 * packet : 5 * packet + 5]
        self.first_ten = [list(hand) for hand in self.hand]
        if rules["lead"] == "four_of_coins":
            if leader_before is not None:
                self.leader = (leader_before + 1) % self.n
            else:
                self.leader = next((s for s in range(self.n) if "4D" in self.hand[s]), eldest)

    # state

    def is_over(self) -> bool:
        return len(self.tricks) == (10 if self.n == 4 else 20)

    def turn(self) -> int | None:
        opponent = 1 - self.dealer
        if self.layout == "packets":
            if opponent not in self.table:
                return opponent
            if self.dealer not in self.table:
                return self.dealer
        if self.is_over():
            return None
        return (self.leader + len(self.current)) % self.n

    def is_choosing(self) -> bool:
        return self.layout == "packets" and len(self.table) < 2

    def has_played(self, seat: int) -> bool:
        return any(s == seat for s, _ in self.plays)

    def tops(self, seat: int) -> dict[int, str]:
        return {k: self.packets[k][0] for k in self.table.get(seat, []) if self.packets[k]}

    def combos(self, cards: list[str]) -> list[tuple[str, tuple[str, ...], int]]:
        found = []
        for rank in "32A":
            suits = [s for s in "DCSB" if rank + s in cards]
            if len(suits) == 4:
                found.append((f"declare four {rank}", tuple(rank + s for s in suits), 4))
            if len(suits) == 3:
                missing_suit = next(s for s in "DCSB" if s not in suits)
                found.append((f"declare three {rank} missing {missing_suit}", tuple(rank + s for s in suits), 3))
        for suit in "DCSB":
            if all(rank + suit in cards for rank in "32A"):
                found.append((f"declare napoletana {suit}", tuple(rank + suit for rank in "32A"), 3))
        return found

    def declarations(self, seat: int) -> list[tuple[str, tuple[str, ...], int]]:
        window, is_own_turn, done = self.rules["declare"], self.turn() == seat, len(self.tricks)
        if self.is_choosing() or self.is_over() or window == "none":
            return []
        cards = self.hand[seat]
        fresh: list[str] | None = None
        if window == "dealt":
            if not is_own_turn or self.has_played(seat):
                return []
            cards = self.first_ten[seat]
        elif window == "acquired":
            if not self.has_played(seat):
                if not is_own_turn:
                    return []
            else:
                if self.layout == "packets" and not is_own_turn:
                    return []
                if any(s == seat for s, _ in self.current):
                    return []
                fresh = self.acquired[seat]
        elif window == "three_tricks":
            if not is_own_turn or done > 3:
                return []
        elif window == "after_first_trick":
            if done != 1 or any(s == seat for s, _ in self.current):
                return []
            cards = self.first_ten[seat]
        elif not is_own_turn:
            return []
        allowed = []
        for text, used, points in self.combos(cards):
            new = fresh is None or any(card in fresh for card in used)
            if not new or any(s == seat and t == text for s, t, _, _ in self.declared):
                continue
            subject = text.split()[2]  # the rank of a three or four, the suit of a napoletana
            again = any(s == seat and t.split()[2] == subject for s, t, _, _ in self.declared)
            acquired = any(card in self.acquired[seat] for card in used)
            if again and not (self.rules["reuse"] and (acquired or not self.has_played(seat))):
                continue
            allowed.append((text, used, points))
        return allowed

    def legal(self, seat: int) -> list[str]:
        moves = [text for text, _, _ in self.declarations(seat)]
        if self.turn() != seat:
            return sorted(moves)
        if self.is_choosing():
            if not self.own:
                return sorted(f"take {a} {b} {c} {d}" for a, b, c, d in combinations(range(1, 9), 4))
            return sorted(f"hold {a} {b}" for a, b in combinations(self.own[seat], 2))
        cards = self.hand[seat] + list(self.tops(seat).values())
        if self.current:
            led = self.current[0][1][1]
            cards = [card for card in cards if card[1] == led] or cards
        moves += [f"play {card}" for card in cards]
        if self.rules.get("signals") and not self.current:
            moves += [f"play {card} {signal}" for card in cards for signal in ("busso", "volo")]
        moves += [f"pick {k}" for k, card in self.tops(seat).items() if card[0] in "32A"]
        return sorted(moves)

    # moves

    def play(self, seat: int, text: str) -> None:
        assert text in self.legal(seat), text
        word, *arguments = text.split()
        if word == "take":
            mine = [int(k) for k in arguments]
            self.own = {seat: mine, 1 - seat: [k for k in range(1, 9) if k not in mine]}
        elif word == "hold":
            held_packets = [int(k) for k in arguments]
            self.table[seat] = [k for k in self.own[seat] if k not in held_packets]
            self.hand[seat] = [card for k in held_packets for card in self.packets[k]]
            self.first_ten[seat] = list(self.hand[seat])
        elif word == "pick":
            card = self.packets[int(arguments[0])].pop(0)
            self.hand[seat].append(card)
            self.acquired[seat].append(card)
        elif word == "declare":
            _, used, points = next(d for d in self.declarations(seat) if d[0] == text)
            self.declared.append((seat, text, used, points))
        else:
            self.lay(seat, arguments[0])

    def lay(self, seat: int, card: str) -> None:
        if card in self.hand[seat]:
            self.hand[seat].remove(card)
        else:
            next(p for p in self.packets.values() if p and p[0] == card).pop(0)
        self.plays.append((seat, card))
        self.current.append((seat, card))
        self.acquired[seat] = []
        if len(self.current) < self.n:
            return
        led_suit = self.current[0][1][1]
        winner = min((TRESSETTE_ORDER.index(c[0]), s) for s, c in self.current if c[1] == led_suit)[1]
        self.tricks.append((winner, self.current))
        self.current = []
        self.leader = winner
        if self.stock:
            for drawer in (winner, 1 - winner):
                drawn_card = self.stock.pop(0)
                self.hand[drawer].append(drawn_card)
                self.acquired[drawer] = [drawn_card]

    def is_claim_right(self, seat: int, totals: tuple[int, int]) -> bool:
        """Return whether a seat can rightly claim. ``totals`` are those before the deal.

        This is rule 3 of Tressette in Quattro.
        """
        if not self.rules.get("claim") or self.is_over():
            return False
        points, target = self.score()["points"], int(self.rules["target"])
        count = [totals[0] + points[0], totals[1] + points[1]]
        mine, other = count[seat % 2], count[1 - seat % 2]
        if totals[0] == totals[1] and totals[0] >= target and mine <= other:
            return False
        return mine >= target

    def score(self) -> dict[str, list[int]]:
        thirds, declared = [0, 0], [0, 0]
        for winner, cards in self.tricks:
            thirds[winner % 2] += sum(THIRDS.get(card[0], 0) for _, card in cards)
        if self.is_over():
            thirds[self.tricks[-1][0] % 2] += 3
        for seat, _, _, points in self.declared:
            declared[seat % 2] += points
        return {"thirds": thirds, "declared": declared, "points": [thirds[s] // 3 + declared[s] for s in (0, 1)]}


class NaiveSpades:
    """One hand of Spades for two."""

    def __init__(self, rules: dict[str, Any], first: int, pack: list[str], bags: tuple[int, int] = (0, 0)):
        self.rules = rules
        self.first, self.second = first, 1 - first
        self.stock = list(pack)
        self.bags = list(bags)
        self.hand: list[list[str]] = [[], []]
        self.out: list[str] = []
        self.blind: list[int] = []
        self.drew: list[int] = []
        self.drafted = 0
        self.exchanged: list[int] = []
        self.owed: tuple[int, int] | None = None
        self.bid: dict[int, int] = {}
        self.tricks: list[tuple[int, list[tuple[int, str]]]] = []
        self.current: list[tuple[int, str]] = []
        self.leader = self.second

    def is_over(self) -> bool:
        return len(self.tricks) == 13

    def phase(self) -> tuple[str, int | None]:
        if self.owed:
            return "chance", None
        if self.drafted < 26:
            return "draft", self.first if self.drafted % 2 == 0 else self.second
        for seat in (self.second, self.first):
            if seat in self.blind and seat not in self.exchanged:
                return "exchange", seat
        for seat in (self.second, self.first):
            if seat not in self.blind and seat not in self.bid:
                return "bid", seat
        if self.is_over():
            return "over", None
        return "play", (self.leader + len(self.current)) % 2

    def turn(self) -> int | None:
        return self.phase()[1]

    def is_broken(self) -> bool:
        for trick in [*(t for _, t in self.tricks), self.current]:
            for index, (_, card) in enumerate(trick):
                if card[1] == "S" and (index == 0 or trick[0][1][1] != "S"):
                    return True
        return False

    def legal(self, seat: int) -> list[str]:
        phase, turn = self.phase()
        if turn != seat:
            return []
        hand = self.hand[seat]
        if phase == "draft":
            if seat in self.drew:
                return ["keep", "pass"]
            return ["draw"] if seat in self.blind else ["blind", "draw"]
        if phase == "exchange":
            exchanges = [c for n in range(4) for c in combinations(sorted(hand), n)]
            return sorted(" ".join(["exchange", *c]) for c in exchanges)
        if phase == "bid":
            return sorted(f"bid {n}" for n in range(14))
        cards = hand
        if self.current:
            cards = [c for c in hand if c[1] == self.current[0][1][1]] or hand
        elif not self.is_broken():
            cards = [c for c in hand if c[1] != "S"] or hand
        return sorted(f"play {c}" for c in cards)

    def play(self, seat: int | None, text: str) -> None:
        word, *arguments = text.split()
        if seat is None:
            assert self.owed
            assert len(arguments) == self.owed[1]
            for card in arguments:
                self.out.remove(card)
                self.hand[self.owed[0]].append(card)
            self.owed = None
            return
        assert text in self.legal(seat), text
        if word == "blind":
            self.blind.append(seat)
        elif word == "draw":
            self.drew.append(seat)
        elif word in ("keep", "pass"):
            first, second = self.stock.pop(0), self.stock.pop(0)
            keep, lose = (first, second) if word == "keep" else (second, first)
            self.hand[seat].append(keep)
            self.out.append(lose)
            self.drafted += 1
        elif word == "exchange":
            self.exchanged.append(seat)
            for card in arguments:
                self.hand[seat].remove(card)
            self.owed = (seat, len(arguments)) if arguments else None
        elif word == "bid":
            self.bid[seat] = int(arguments[0])
        else:
            self.hand[seat].remove(arguments[0])
            self.current.append((seat, arguments[0]))
            if len(self.current) == 2:
                led = self.current[0][1][1]
                trumps = [(SPADES_ORDER.index(c[0]), s) for s, c in self.current if c[1] == "S"]
                follow = [(SPADES_ORDER.index(c[0]), s) for s, c in self.current if c[1] == led]
                self.leader = min(trumps or follow)[1]
                self.tricks.append((self.leader, self.current))
                self.current = []

    def score(self) -> dict[str, list[Any]]:
        won = [sum(w == s for w, _ in self.tricks) for s in (0, 1)]
        bids: list[Any] = []
        points, bags = [0, 0], list(self.bags)
        for seat in (0, 1):
            bid = self.bid.get(seat)
            bids.append("double nil" if seat in self.blind else "nil" if bid == 0 else bid)
            if not self.is_over():
                continue
            if seat in self.blind or bid == 0:
                value = 200 if seat in self.blind else 100
                points[seat] = value if won[seat] == 0 else -value
                extra = won[seat] if self.rules["nil_bags"] else 0
            else:
                assert bid is not None
                extra = max(0, won[seat] - bid)
                points[seat] = 10 * bid + extra if won[seat] >= bid else -10 * bid
            for _ in range(extra):
                bags[seat] += 1
                if bags[seat] == 10:
                    bags[seat] = 0
                    points[seat] -= 100
        return {"bids": bids, "tricks": won, "bags": bags, "points": points}


Naive = NaiveTressette | NaiveSpades


def naive_deal(
    rules: dict[str, Any],
    dealer: int,
    pack: list[str],
    leader_before: int | None = None,
    bags: tuple[int, int] = (0, 0),
) -> Naive:
    if "layout" in rules:
        return NaiveTressette(rules, dealer, pack, leader_before)
    return NaiveSpades(rules, dealer, pack, bags)
