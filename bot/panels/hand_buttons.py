"""The buttons of a hand: one for each legal move.

They always have the same order: declarations, pick-ups, the hand by suit, and the tops of the player's packets. Some
choices need several presses: packets, cards to exchange, a signal, a resignation. They are collected in a draft, which
is stored with the message until the move is made.
"""

from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import Literal

from bot import actions
from bot.panel import Button, Role, Row
from bot.panels.strangers import DEEDS, Deed, deed_label, deed_question
from bot.tables.snapshot import TableSnapshot
from bot.tables.table_state import PHRASES
from bot.words.phrases import phrase_text
from bot.words.verdicts import ShownHint, advice_text
from bot.words.wording import JOINER, Wording
from engine.views import DealView, PacketsView, TressetteView

SIGNALS = ("busso", "volo")
RESIGN = "resign"
ON_HAND = "hand"  # word of the resign button on the hand itself, which shows the question
SAY = "say"
BLIND = "blind"  # the open question about a double nil before the first card, and the move
VOLO_WITH = "volo-"  # before the card of a false volo
HINT = "hint"  # the choice of a player who asks for a hint
CHOICE_MOVES = {"pick", "hold", "bid", "draw", "keep", "pass", "blind"}
TO_TAKE, MAX_EXCHANGED = 4, 3
CARDS_IN_ROW = 5  # cards of several suits that share a row on every platform
POINTS_IN_TRICKS = 11  # in a deal of Tressette: 32 thirds and a point for the last trick (docs/rules.md)
ROLES = {"play": Role.PLAY, "pick": Role.PICK, "claim": Role.CLAIM, RESIGN: Role.RESIGN}
"""Roles by the first word of a move; others are `Role.MOVE`."""


def is_claim_possible(snapshot: TableSnapshot) -> bool:
    """Return whether a claim of the game could be right, as far as the player can know."""
    view = snapshot.view
    if view is None or view.deal is None or snapshot.seat is None:
        return False
    side, target, declared_points, tricks = snapshot.seat & 1, int(view.rules["target"]), (0, 0), (0, 0)
    if isinstance(view.deal, TressetteView):
        declared_points, tricks = view.deal.declared, view.deal.tricks
    if min(view.totals) >= target:
        # Both sides have reached the target, so this one needs a lead: by a trick or by its declarations.
        return bool(tricks[side]) or declared_points[side] > declared_points[1 - side]
    return view.totals[side] + declared_points[side] + POINTS_IN_TRICKS >= target


class HandButtons:
    """The buttons below a hand. ``chosen`` is the chosen part of a move, ``hint`` the hint that the hand shows."""

    def __init__(self, snapshot: TableSnapshot, words: Wording, choice: str, hint: ShownHint) -> None:
        self.snapshot, self.words, self.chosen, self.hint = snapshot, words, choice, hint
        self.strangers = [seat for seat, _chair in snapshot.others] if snapshot.are_strangers else []
        self.move_prefix = actions.move(snapshot.code, snapshot.version, "")
        self.moves: defaultdict[str, list[str]] = defaultdict(list)
        for move in snapshot.view.moves if snapshot.view else ():
            self.moves[move.partition(" ")[0]].append(move)

    def is_partner(self, seat: int) -> bool:
        return self.snapshot.seat is not None and self.snapshot.seat & 1 == seat & 1

    def rows(self, deal: DealView) -> list[Row]:
        _ = self.words.text
        if self.chosen == RESIGN:
            yes_button = self._move_button(_("Yes, I resign"), RESIGN, "danger")
            return [(yes_button, self._draft_button(_("No, play on")))]
        if self.asks_blind:
            return [(self._move_button(_("Yes, double nil"), BLIND, "danger"), self._draft_button(_("No")))]
        if card := self.false_volo():
            yes_button = self._move_button(_("Yes, volo!"), f"play {card} volo")
            return [(yes_button, self._draft_button(_("No"), "volo"))]
        if stranger := self.stranger_question():
            deed, seat = stranger
            yes_label = deed_question(self.words.language, deed, self.snapshot.name(seat))[2]
            yes_button = Button(yes_label, actions.table(self.snapshot.code, deed, seat), "danger")
            return [(yes_button, self._draft_button(_("No")))]
        if self.snapshot.alarm == "flagged" and not self.snapshot.is_my_turn and self.snapshot.turn is not None:
            return [*self._declaration_rows(), *self._claim_rows(), *self._timeout_rows(self.snapshot.turn)]
        if deal.phase == "take" and self.snapshot.is_my_turn:
            return [*self._packet_rows(), *self._hint_rows()]
        if deal.phase == "exchange" and self.snapshot.is_my_turn:
            return [*self._exchange_rows(deal), *self._hint_rows()]
        if not self.moves:
            return []
        choices = self._choice_rows() if self.moves.keys() & CHOICE_MOVES else []
        return [*self._declaration_rows(), *choices, *self._card_rows(deal), *self._claim_rows()]

    def _moves(self, *words: str) -> list[str]:
        return [move for word in words for move in self.moves.get(word, ())]

    def _move_button(
        self, label: str, move: str, style: Literal["", "good", "danger"] = "", subject: str = ""
    ) -> Button:
        role = ROLES.get(move.partition(" ")[0], Role.MOVE)
        return Button(label.replace(JOINER, ""), self.move_prefix + move, style, role=role, about=subject)

    def _draft_button(self, label: str, *draft: object) -> Button:
        return Button(
            label.replace(JOINER, ""), actions.table(self.snapshot.code, "draft", self.snapshot.version, *draft)
        )

    def _choice_button(self, label: str, *draft: object, subject: str = "") -> Button:
        return self._draft_button(label, *draft)._replace(role=Role.CHOOSE, about=subject)

    def _declaration_rows(self) -> list[Row]:
        return [
            (self._move_button(f"📣 {advice_text(self.words, move)}", move, "good"),) for move in self._moves("declare")
        ]

    def _choice_rows(self) -> list[Row]:
        _ = self.words.text
        deal = self.snapshot.view.deal if self.snapshot.view else None
        tops_by_number = {str(p.number): p.top for p in deal.packets} if isinstance(deal, PacketsView) else {}
        picks, holds, bids = list[Button](), list[Button](), list[Button]()
        for move in self._moves("pick"):
            number = move.split(" ")[1]
            label = _("⬆️ {card} into hand").format(card=self.words.card(tops_by_number.get(number) or "?"))
            picks.append(self._move_button(label, move, subject=number))
        for move in self._moves("hold"):
            numbers = move.removeprefix("hold ")
            holds.append(self._move_button(numbers.replace(" ", " + "), move, subject=numbers))
        for move in self._moves("bid"):
            bids.append(self._move_button(_("nil") if move == "bid 0" else move.split(" ")[1], move))
        single_moves = {
            "draw": _("Draw a card"),
            "keep": _("Keep it"),
            "pass": _("Throw it away"),
            BLIND: _("Double nil, blind"),
        }
        other_buttons = tuple(
            self._choice_button(label, BLIND) if move == BLIND else self._move_button(label, move)
            for move, label in single_moves.items()
            if move in self.moves
        )
        return [tuple(picks), tuple(holds[:3]), tuple(holds[3:]), tuple(bids[:7]), tuple(bids[7:]), other_buttons]

    def _card_rows(self, deal: DealView) -> list[Row]:
        """Return rows of playable cards: the suits of the hand, short ones together, then the tops of packets."""
        moves = self.moves.get("play", [])
        if not moves:
            return []
        plays = {move.split(" ")[1] for move in moves}
        # Moves with a signal come last.
        has_signal = moves[-1].endswith(SIGNALS)
        signal_suffix = f" {self.chosen}" if has_signal and self.chosen in SIGNALS else ""
        in_hand = [code for code in deal.hand or () if code in plays]
        label = self.words.faces.label
        rows: list[Row] = []
        if has_signal:
            rows.append(tuple(map(self._signal_button, SIGNALS)))
        suits = [
            tuple([self._card_button(label(code), code, signal_suffix) for code in codes])
            for _suit, codes in groupby(in_hand, key=itemgetter(1))
        ]
        rows.extend(_join_short_rows(suits))
        # Packets are in the same order as on the table.
        packets = deal.packets if isinstance(deal, PacketsView) else ()
        top_cards = [packet.top for packet in packets if packet.top in plays.difference(in_hand)]
        rows.append(tuple(self._card_button(f"📦 {label(code)}", code) for code in top_cards))
        return rows

    def _signal_button(self, signal: str) -> Button:
        label = f"{signal.capitalize()}!"
        return self._choice_button(f"✓ {label}") if self.chosen == signal else self._choice_button(label, signal)

    def _card_button(self, label: str, code: str, signal_suffix: str = "") -> Button:
        if signal_suffix == " volo" and self._has_others_of_suit(code):
            return self._choice_button(label, f"{VOLO_WITH}{code}", subject=code)
        return Button(label, f"{self.move_prefix}play {code}{signal_suffix}", role=Role.PLAY, about=code)

    def _claim_rows(self) -> list[Row]:
        _ = self.words.text
        claims = self._moves("claim") if is_claim_possible(self.snapshot) else []
        return [tuple(self._move_button(_("🏁 Claim the game"), move) for move in claims), *self._hint_rows()]

    def _hint_rows(self) -> list[Row]:
        """Return the row about hints.

        It stays while the bot looks for a hint, so that the buttons of cards do not move.
        """
        _ = self.words.text
        if self.hint.is_unasked and not self.hint.is_busy:
            return [(Button(_("No more hints"), actions.table(self.snapshot.code, "nohints"), role=Role.HINT),)]
        if self.snapshot.can_have_hint:
            return [(self._draft_button(_("💡 Hint"), HINT)._replace(role=Role.HINT),)]
        return []

    def _has_others_of_suit(self, code: str) -> bool:
        deal = self.snapshot.view.deal if self.snapshot.view else None
        return deal is not None and any(card[1] == code[1] and card != code for card in deal.hand or ())

    @property
    def asks_blind(self) -> bool:
        return self.chosen == BLIND and BLIND in self.moves

    def false_volo(self) -> str:
        """Return the card of an open question about saying volo with more cards of its suit, or an empty string.

        The rules allow it, but a player rarely means it.
        """
        card = self.chosen.removeprefix(VOLO_WITH)
        return card if card != self.chosen and f"play {card} volo" in self.moves["play"] else ""

    def stranger_question(self) -> tuple[Deed, int] | None:
        """Return the action and seat of an open question about a stranger, such as the draft ``block1``."""
        if not self.chosen:
            return None
        for deed in DEEDS:
            seat = self.chosen.removeprefix(deed)
            if seat != self.chosen and seat.isdecimal() and int(seat) in self.strangers:
                return deed, int(seat)
        return None

    def resign_button(self) -> Button:
        """Return the button that asks whether to resign."""
        _ = self.words.text
        return Button(_("Resign"), actions.page("resign", self.snapshot.code, ON_HAND))

    def first_steps(self) -> Row:
        """Return the buttons to the rules and to the lessons, for a player's first hand. The hand stays."""
        _ = self.words.text
        rules = Button(_("Rules"), actions.rules(self.snapshot.kind.id, "hand", self.snapshot.code))
        return (rules, Button(_("Learn in 3 minutes"), actions.page("learn", actions.SEPARATE)))

    def stranger_rows(self) -> list[Row]:
        """Return rows with actions about strangers and phrases for them, unless a choice is half made."""
        _ = self.words.text
        if self.chosen == SAY and self.snapshot.can_say:
            labels = {phrase: phrase_text(self.words.language, phrase) for phrase in PHRASES}
            phrases = [
                Button(label, actions.table(self.snapshot.code, "say", phrase), role=Role.PHRASE)
                for phrase, label in labels.items()
            ]
            back_button = self._draft_button(_("◀ Back"))._replace(role=Role.PHRASE)
            return [tuple(phrases[:3]), tuple(phrases[3:6]), (*phrases[6:], back_button)]
        if self.chosen:
            return []
        row = [self._draft_button(_("💬 Say"), SAY)._replace(role=Role.SAY)] if self.snapshot.can_say else []
        for deed in DEEDS:
            for seat in self.strangers:
                label = deed_label(self.words.language, deed, self.snapshot.name(seat), len(self.strangers))
                row.append(self._draft_button(label, f"{deed}{seat}")._replace(role=Role.STRANGER))
        return [tuple(row)]

    def _timeout_rows(self, late_seat: int) -> list[Row]:
        """Return the buttons that a player's opponents get when that player's time is up."""
        _ = self.words.text
        if self.snapshot.seat is None or self.is_partner(late_seat):
            return []
        code = self.snapshot.code
        claim = Button(_("Claim the win"), actions.table(code, "claim"), "danger")
        robot = Button(_("Let a robot play this move"), actions.table(code, "automatic"))
        return [(claim,), (robot, Button(_("Wait"), actions.table(code, "wait"), "good"))]

    def _packet_rows(self) -> list[Row]:
        """Return buttons that toggle eight packets, four at most, and a button that takes the four."""
        _ = self.words.text
        chosen_numbers = {number for number in self.chosen if number in "12345678"}
        rows: list[Row] = []
        for numbers in ("1234", "5678"):
            row = []
            for number in numbers:
                new_choice = "".join(sorted(chosen_numbers ^ {number}))
                if len(new_choice) <= TO_TAKE:
                    label = f"✓ {number}" if number in chosen_numbers else number
                    row.append(self._choice_button(label, new_choice, subject=number))
            rows.append(tuple(row))
        if len(chosen_numbers) == TO_TAKE:
            packets = " ".join(sorted(chosen_numbers))
            label = _("Take packets {rest}").format(rest=packets)
            rows.append((self._move_button(label, f"take {packets}", "good"),))
        return rows

    def _exchange_rows(self, deal: DealView) -> list[Row]:
        _ = self.words.text
        chosen_codes = dict.fromkeys(self.chosen.split(","))
        chosen_cards = [code for code in chosen_codes if code in (deal.hand or ())][:MAX_EXCHANGED]
        suits: list[Row] = []
        for _suit, codes in groupby(deal.hand or (), key=lambda code: code[1]):
            row = []
            for code in codes:
                label, new_cards = self.words.card(code), [*chosen_cards, code]
                if code in chosen_cards:
                    label, new_cards = f"✓ {label}", [card for card in chosen_cards if card != code]
                if len(new_cards) <= MAX_EXCHANGED:
                    row.append(self._choice_button(label, ",".join(new_cards), subject=code))
            suits.append(tuple(row))
        label = _("Exchange {cards}") if chosen_cards else _("Exchange nothing")
        move = " ".join(["exchange", *sorted(chosen_cards)])
        exchange = self._move_button(label.format(cards=self.words.cards(chosen_cards)), move, "good")
        return [*_join_short_rows(suits), (exchange,)]


def _join_short_rows(rows: Iterable[Row]) -> list[Row]:
    """Join neighbouring rows of up to `CARDS_IN_ROW` buttons, so that a hand leaves room for the table above it."""
    joined_rows: list[Row] = []
    for row in rows:
        if joined_rows and len(joined_rows[-1]) + len(row) <= CARDS_IN_ROW:
            joined_rows[-1] += row
        else:
            joined_rows.append(row)
    return joined_rows
