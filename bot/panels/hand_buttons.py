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


def is_claim_possible(seen: TableSnapshot) -> bool:
    """Return whether a claim of the game could be right, as far as the player can know."""
    view = seen.view
    if view is None or view.deal is None or seen.seat is None:
        return False
    side, target, declared, tricks = seen.seat & 1, int(view.rules["target"]), (0, 0), (0, 0)
    if isinstance(view.deal, TressetteView):
        declared, tricks = view.deal.declared, view.deal.tricks
    if min(view.totals) >= target:
        # Both sides have reached the target, so this one needs a lead: by a trick or by its declarations.
        return bool(tricks[side]) or declared[side] > declared[1 - side]
    return view.totals[side] + declared[side] + POINTS_IN_TRICKS >= target


class HandButtons:
    """The buttons below a hand. ``chosen`` is the chosen part of a move, ``hint`` the hint that the hand shows."""

    def __init__(self, seen: TableSnapshot, words: Wording, chosen: str, hint: ShownHint) -> None:
        self.seen, self.words, self.chosen, self.hint = seen, words, chosen, hint
        self.strangers = [seat for seat, _chair in seen.others] if seen.are_strangers else []
        self.move_prefix = actions.move(seen.code, seen.version, "")
        self.moves: defaultdict[str, list[str]] = defaultdict(list)
        for move in seen.view.moves if seen.view else ():
            self.moves[move.partition(" ")[0]].append(move)

    def is_partner(self, seat: int) -> bool:
        return self.seen.seat is not None and self.seen.seat & 1 == seat & 1

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
        if about := self.stranger_question():
            deed, seat = about
            yes = deed_question(self.words.language, deed, self.seen.name(seat))[2]
            yes_button = Button(yes, actions.table(self.seen.code, deed, seat), "danger")
            return [(yes_button, self._draft_button(_("No")))]
        if self.seen.alarm == "flagged" and not self.seen.is_my_turn and self.seen.turn is not None:
            return [*self._declaration_rows(), *self._claim_rows(), *self._timeout_rows(self.seen.turn)]
        if deal.phase == "take" and self.seen.is_my_turn:
            return [*self._packet_rows(), *self._hint_rows()]
        if deal.phase == "exchange" and self.seen.is_my_turn:
            return [*self._exchange_rows(deal), *self._hint_rows()]
        if not self.moves:
            return []
        choices = self._choice_rows() if self.moves.keys() & CHOICE_MOVES else []
        return [*self._declaration_rows(), *choices, *self._card_rows(deal), *self._claim_rows()]

    def _moves(self, *words: str) -> list[str]:
        return [move for word in words for move in self.moves.get(word, ())]

    def _move_button(self, label: str, move: str, style: Literal["", "good", "danger"] = "", about: str = "") -> Button:
        role = ROLES.get(move.partition(" ")[0], Role.MOVE)
        return Button(label.replace(JOINER, ""), self.move_prefix + move, style, role=role, about=about)

    def _draft_button(self, label: str, *draft: object) -> Button:
        return Button(label.replace(JOINER, ""), actions.table(self.seen.code, "draft", self.seen.version, *draft))

    def _choice_button(self, label: str, *draft: object, about: str = "") -> Button:
        return self._draft_button(label, *draft)._replace(role=Role.CHOOSE, about=about)

    def _declaration_rows(self) -> list[Row]:
        return [
            (self._move_button(f"📣 {advice_text(self.words, move)}", move, "good"),) for move in self._moves("declare")
        ]

    def _choice_rows(self) -> list[Row]:
        _ = self.words.text
        deal = self.seen.view.deal if self.seen.view else None
        tops = {str(p.number): p.top for p in deal.packets} if isinstance(deal, PacketsView) else {}
        picks = tuple(
            self._move_button(
                _("⬆️ {card} into hand").format(card=self.words.card(tops.get(move.split(" ")[1]) or "?")),
                move,
                about=move.split(" ")[1],
            )
            for move in self._moves("pick")
        )
        packets = [move.split(" ")[1:] for move in self._moves("hold")]
        holds = [self._move_button(" + ".join(two), f"hold {' '.join(two)}", about=" ".join(two)) for two in packets]
        bids = [
            self._move_button(_("nil") if move == "bid 0" else move.split(" ")[1], move) for move in self._moves("bid")
        ]
        single = {
            "draw": _("Draw a card"),
            "keep": _("Keep it"),
            "pass": _("Throw it away"),
            BLIND: _("Double nil, blind"),
        }
        others = tuple(
            self._choice_button(label, BLIND) if move == BLIND else self._move_button(label, move)
            for move, label in single.items()
            if move in self.moves
        )
        return [picks, tuple(holds[:3]), tuple(holds[3:]), tuple(bids[:7]), tuple(bids[7:]), others]

    def _card_rows(self, deal: DealView) -> list[Row]:
        """Return rows of playable cards: the suits of the hand, short ones together, then the tops of packets."""
        moves = self.moves.get("play", [])
        if not moves:
            return []
        plays = {move.split(" ")[1] for move in moves}
        # Moves with a signal come last.
        signalled = moves[-1].endswith(SIGNALS)
        signal_suffix = f" {self.chosen}" if signalled and self.chosen in SIGNALS else ""
        in_hand = [code for code in deal.hand or () if code in plays]
        label = self.words.faces.label
        rows: list[Row] = []
        if signalled:
            rows.append(
                tuple(
                    self._choice_button(f"✓ {signal.capitalize()}!")
                    if self.chosen == signal
                    else self._choice_button(f"{signal.capitalize()}!", signal)
                    for signal in SIGNALS
                )
            )
        suits = [
            tuple([self._card_button(label(code), code, signal_suffix) for code in codes])
            for _suit, codes in groupby(in_hand, key=itemgetter(1))
        ]
        rows.extend(_join_short_rows(suits))
        # Packets are in the same order as on the table.
        packets = deal.packets if isinstance(deal, PacketsView) else ()
        tops = [packet.top for packet in packets if packet.top in plays.difference(in_hand)]
        rows.append(tuple(self._card_button(f"📦 {label(code)}", code) for code in tops))
        return rows

    def _card_button(self, label: str, code: str, signal_suffix: str = "") -> Button:
        if signal_suffix == " volo" and self._has_others_of_suit(code):
            return self._choice_button(label, f"{VOLO_WITH}{code}", about=code)
        return Button(label, f"{self.move_prefix}play {code}{signal_suffix}", role=Role.PLAY, about=code)

    def _claim_rows(self) -> list[Row]:
        _ = self.words.text
        claims = self._moves("claim") if is_claim_possible(self.seen) else []
        return [tuple(self._move_button(_("🏁 Claim the game"), move) for move in claims), *self._hint_rows()]

    def _hint_rows(self) -> list[Row]:
        """Return the row about hints.

        It stays while the bot looks for a hint, so that the buttons of cards do not move.
        """
        _ = self.words.text
        if self.hint.is_unasked and not self.hint.is_busy:
            return [(Button(_("No more hints"), actions.table(self.seen.code, "nohints"), role=Role.HINT),)]
        if self.seen.is_practice and self.seen.is_my_turn and not self.seen.is_duplicate:
            return [(self._draft_button(_("💡 Hint"), HINT)._replace(role=Role.HINT),)]
        return []

    def _has_others_of_suit(self, code: str) -> bool:
        deal = self.seen.view.deal if self.seen.view else None
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
        return Button(_("Resign"), actions.page("resign", self.seen.code))

    def first_steps(self) -> Row:
        """Return the buttons to the rules and to the lessons, for a player's first hand. The hand stays."""
        _ = self.words.text
        rules = Button(_("Rules"), actions.rules(self.seen.kind.id, "hand", self.seen.code))
        return (rules, Button(_("Learn in 3 minutes"), actions.page("learn", actions.SEPARATE)))

    def stranger_rows(self) -> list[Row]:
        """Return rows with actions about strangers and phrases for them, unless a choice is half made."""
        _ = self.words.text
        if self.chosen == SAY and self.seen.can_say:
            phrases = [
                Button(
                    phrase_text(self.words.language, phrase),
                    actions.table(self.seen.code, "say", phrase),
                    role=Role.PHRASE,
                )
                for phrase in PHRASES
            ]
            back = self._draft_button(_("◀ Back"))._replace(role=Role.PHRASE)
            return [tuple(phrases[:3]), tuple(phrases[3:6]), (*phrases[6:], back)]
        if self.chosen:
            return []
        row = [self._draft_button(_("💬 Say"), SAY)._replace(role=Role.SAY)] if self.seen.can_say else []
        for deed in DEEDS:
            for seat in self.strangers:
                label = deed_label(self.words.language, deed, self.seen.name(seat), len(self.strangers))
                row.append(self._draft_button(label, f"{deed}{seat}")._replace(role=Role.STRANGER))
        return [tuple(row)]

    def _timeout_rows(self, late: int) -> list[Row]:
        """Return the buttons that a player's opponents get when that player's time is up."""
        _ = self.words.text
        if self.seen.seat is None or self.is_partner(late):
            return []
        code = self.seen.code
        claim = Button(_("Claim the win"), actions.table(code, "claim"), "danger")
        robot = Button(_("Let a robot play this move"), actions.table(code, "automatic"))
        return [(claim,), (robot, Button(_("Wait"), actions.table(code, "wait"), "good"))]

    def _packet_rows(self) -> list[Row]:
        """Return buttons that toggle eight packets, four at most, and a button that takes the four."""
        _ = self.words.text
        chosen = {number for number in self.chosen if number in "12345678"}
        rows: list[Row] = []
        for numbers in ("1234", "5678"):
            toggled = {number: "".join(sorted(chosen ^ {number})) for number in numbers}
            rows.append(
                tuple(
                    self._choice_button(f"✓ {number}" if number in chosen else number, after, about=number)
                    for number, after in toggled.items()
                    if len(after) <= TO_TAKE
                )
            )
        if len(chosen) == TO_TAKE:
            four = " ".join(sorted(chosen))
            rows.append((self._move_button(_("Take packets {rest}").format(rest=four), f"take {four}", "good"),))
        return rows

    def _exchange_rows(self, deal: DealView) -> list[Row]:
        _ = self.words.text
        meant = dict.fromkeys(self.chosen.split(","))
        chosen = [code for code in meant if code in (deal.hand or ())][:MAX_EXCHANGED]
        suits: list[Row] = []
        for _suit, codes in groupby(deal.hand or (), key=lambda code: code[1]):
            row = []
            for code in codes:
                after = [card for card in chosen if card != code] if code in chosen else [*chosen, code]
                if len(after) <= MAX_EXCHANGED:
                    sign = "✓ " if code in chosen else ""
                    row.append(self._choice_button(f"{sign}{self.words.card(code)}", ",".join(after), about=code))
            suits.append(tuple(row))
        label = _("Exchange {cards}").format(cards=self.words.cards(chosen)) if chosen else _("Exchange nothing")
        exchange = self._move_button(label, " ".join(["exchange", *sorted(chosen)]), "good")
        return [*_join_short_rows(suits), (exchange,)]


def _join_short_rows(rows: Iterable[Row]) -> list[Row]:
    """Join neighbouring rows of up to `CARDS_IN_ROW` buttons, so that a hand leaves room for the table above it."""
    joined: list[Row] = []
    for row in rows:
        if joined and len(joined[-1]) + len(row) <= CARDS_IN_ROW:
            joined[-1] += row
        else:
            joined.append(row)
    return joined
