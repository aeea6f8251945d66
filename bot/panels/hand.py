"""A player's hand in the private chat: the table as this seat sees it, and a button for each legal move.

The buttons always have the same order: declarations, pick-ups, the hand by suit, and the tops of the player's packets.
Some choices need several presses: packets, cards to exchange, a signal, a resignation. They are collected in a draft,
which is stored with the message until the move is made.
"""

from collections import defaultdict
from itertools import groupby
from operator import itemgetter
from typing import Literal

from bot import actions
from bot.panel import Button, Panel, Role, Row, Span, Writer
from bot.panels.strangers import DEEDS, Deed, deed_label, deed_question, phrase_text
from bot.tables.snapshot import TableSnapshot, isolate_name
from bot.tables.table_state import PHRASES
from bot.words.course import deal_points_line
from bot.words.phrases import Phrases, rank_legend, shown_points, table_words, turn_line
from bot.words.verdicts import hint_text
from bot.words.wording import JOINER, Wording, score_pair, score_unit
from engine.cards import ITALIAN
from engine.robots.findings import Hint
from engine.views import DealView, PacketsView, SpadesView, StockView, TressetteView, View

SIGNALS = ("busso", "volo")
RESIGN = "resign"
SAY = "say"
CHOICE_MOVES = {"pick", "hold", "bid", "draw", "keep", "pass", "blind"}
TO_TAKE, MAX_EXCHANGED = 4, 3
POINTS_IN_TRICKS = 11  # in a deal of Tressette: 32 thirds and a point for the last trick (docs/rules.md)
ROLES = {"play": Role.PLAY, "pick": Role.PICK, "claim": Role.CLAIM, RESIGN: Role.RESIGN}
"""Roles by the first word of a move; others are `Role.MOVE`."""


def hand_panel(
    seen: TableSnapshot,
    language: str,
    suits: str,
    chosen: str = "",
    *,
    has_pages: bool = False,
    hint: Hint | None = None,
    is_beginner: bool = False,
    end_rows: tuple[Row, ...] = (),
) -> Panel:
    """Return the panel of a seat; ``chosen`` is the chosen part of a move (`Draft.choice`).

    ``has_pages`` is whether the panel can open the table in a browser. ``hint`` is one to show unasked.
    ``is_beginner`` explains the letters on cards. ``end_rows`` are the rows of buttons after the game.
    """
    words = table_words(seen, language, suits)
    return _Hand(seen, words, chosen, has_pages=has_pages, hint=hint, is_beginner=is_beginner).panel(end_rows)


def task_text(seen: TableSnapshot, language: str, suits: str, chosen: str = "") -> str:
    """Return the task of a seat in one line, or the player it waits for: the beginning of `hand_panel`."""
    words = table_words(seen, language, suits)
    hand = _Hand(seen, words, chosen)
    if asked := hand.question():
        return " ".join(asked)
    warning, turn = hand.warning(), turn_line(seen, words)
    to_do = f"{warning} {turn}".lstrip() if seen.is_my_turn else warning or turn
    return " ".join(filter(None, [*hand.phrases.robot_lines(), to_do]))


def is_claim_possible(seen: TableSnapshot) -> bool:
    """Return whether a claim of the game could be right, as far as the player can know."""
    view = seen.view
    if view is None or view.deal is None or seen.seat is None:
        return False
    side, target, declared, tricks = seen.seat & 1, int(view.rules["target"]), (0, 0), (0, 0)
    if isinstance(view.deal, TressetteView):
        declared, tricks = view.deal.declared, view.deal.tricks
    if min(view.totals) >= target:
        # The deal breaks a tie, so the side needs a lead: by a trick or by its declarations.
        return bool(tricks[side]) or declared[side] > declared[1 - side]
    return view.totals[side] + declared[side] + POINTS_IN_TRICKS >= target


class _Hand:
    def __init__(
        self,
        seen: TableSnapshot,
        words: Wording,
        chosen: str,
        *,
        has_pages: bool = False,
        hint: Hint | None = None,
        is_beginner: bool = False,
    ) -> None:
        self.seen, self.words, self.chosen = seen, words, chosen
        self.has_pages, self.is_beginner = has_pages, is_beginner
        self.hint = None if chosen == RESIGN else hint
        self.phrases = Phrases(seen, words)
        self.strangers = [seat for seat, _chair in seen.others] if seen.are_strangers else []
        self.page = Writer()
        self.move_prefix = actions.move(seen.code, seen.version, "")
        self.moves: defaultdict[str, list[str]] = defaultdict(list)
        for move in seen.view.moves if seen.view else ():
            self.moves[move.partition(" ")[0]].append(move)

    def panel(self, end_rows: tuple[Row, ...] = ()) -> Panel:
        if self.seen.phase in ("open", "closed"):
            return self._waiting_panel()
        _ = self.words.text
        view = self.seen.view
        assert view
        assert view.deal
        if view.ending:
            self._write_ending()
            self.page.fold()
            self._write_last_deal(view)
            self._write_totals(view)
            return self.page.panel(*end_rows)
        self._write_task()
        self.phrases.write_trick(self.page, view.deal)
        if isinstance(view.deal, SpadesView) and view.deal.drawn:
            self.page.line(_("You have drawn {card}"), "bold", card=self.words.card(view.deal.drawn))
        self._write_news()
        if self.hint:
            self.page.line(hint_text(self.hint, self.words))
        self.page.fold()
        if view.deal.hand:
            # From high to low, a line for each suit.
            self.page.gap()
            faces = self.words.faces
            for suit, codes in groupby(view.deal.hand, key=itemgetter(1)):
                self.page.line(f"{faces.sign(suit)}  {' '.join(map(faces.rank, codes))}", "bold")
            if self.is_beginner and (legend := rank_legend(self.words, view.deal.hand)):
                self.page.line(legend, "italic")
        self.page.gap()
        self.phrases.write_packets(self.page, view.deal)
        self._write_table(view.deal)
        self._write_last_deal(view)
        self._write_totals(view)
        browser: Row = ()
        if self.has_pages and not self.chosen:
            browser = (Button(_("🌐 In the browser"), actions.table(self.seen.code, "browser"), kind="browser"),)
        return self.page.panel(*self._rows(view.deal), *self._stranger_rows(), browser)

    def _write_totals(self, view: View) -> None:
        self.page.gap()
        self.page.line(self.phrases.totals(view.totals))
        self.phrases.write_heading(self.page, view.deal_number)

    def _waiting_panel(self) -> Panel:
        _ = self.words.text
        self.page.line(_("Table {code}"), "", code=Span(self.seen.code, "code"))
        if self.seen.phase == "closed":
            self.page.line(_("This challenge closed before the game began."))
            return self.page.panel()
        if self.seen.asking is None:
            self.page.line(_("You’re in. The game starts when all seats are taken."))
            return self.page.panel()
        seat, chair = self.seen.asking
        self.page.line(_("{name} asks to sit opposite you, as your partner."), name=isolate_name(chair.name))
        accept = Button(_("Accept"), actions.table(self.seen.code, "accept", seat), "good")
        refuse = Button(_("Refuse"), actions.table(self.seen.code, "refuse", seat), "danger")
        return self.page.panel((accept, refuse))

    def _write_ending(self) -> None:
        _ = self.words.text
        assert self.seen.view
        winner = self.seen.view.winner or ()
        if self.seen.is_only_deal_played:
            self.page.line(_("The deal is over."), "bold")
        elif not winner:
            self.page.line(_("The game was cancelled."), "bold")
        else:
            line = _("You win!") if self.seen.seat in winner else _("You lose.")
            if self.seen.is_cut_short:
                self.page.line(line, "bold")
                self.page.line(self.words.ending(winner, self.seen.view.ending))
                return
            unit, own_side = score_unit(self.seen.rules), (self.seen.seat or 0) & 1
            ours, theirs = (self.seen.view.totals[side] * unit for side in (own_side, 1 - own_side))
            self.page.line(f"{line} {score_pair(ours, theirs)}", "bold")

    def _write_news(self) -> None:
        """Write the others' events since the player's last move, except played cards."""
        for line in self.phrases.robot_lines():
            self.page.line(line)
        for speaker, phrase in self.seen.phrases:
            text = phrase_text(self.words.language, phrase)
            self.page.line("💬 {name}: {phrase}", name=self.seen.name(speaker), phrase=text)
        for by, move in self.seen.history[self.seen.since :]:
            if by != self.seen.seat and not move.startswith("play "):
                self.page.line(self.words.move(by, move))

    def _write_last_deal(self, view: View) -> None:
        """Write the score of the previous deal at the beginning of a deal, or of the last deal after the game."""
        result = view.result
        if self.seen.is_cut_short:
            return
        if result and (view.ending or (result.deal < view.deal_number and self.seen.since == 0)):
            words = Wording(self.words.language, self.phrases.names)
            self.page.gap()
            self.page.line(deal_points_line(words, result.deal, result.entries, self.seen.rules))

    def _write_table(self, deal: DealView) -> None:
        _ = self.words.text
        if deal.last_trick and deal.phase != "over":
            self.page.line(_("Last trick: {trick}"), trick=self.phrases.trick_text(deal.last_trick))
        if isinstance(deal, StockView) and deal.drawn:
            drawn = " · ".join(self.phrases.played_card(by, card) for by, card, _signal in deal.drawn)
            self.page.line(_("Drawn: {cards}"), cards=drawn)
        for seat, known in enumerate(deal.known):
            if known and seat != self.seen.seat:
                self.page.line(
                    _("{name} has shown {cards}"), name=self.phrases.names[seat], cards=self.words.cards(known)
                )
        if isinstance(deal, TressetteView) and any(deal.declared):
            declared = [shown_points(self.seen, points) for points in deal.declared]
            self.page.line(_("Declared: {sides}"), sides=self.phrases.side_figures(declared))
        self.phrases.write_bids(self.page, deal)
        tricks = _("Tricks: {sides}").format(sides=self.phrases.side_figures(deal.tricks))
        counts = [tricks] if deal.phase in ("play", "over") else []
        if stock := self.phrases.stock_text(deal):
            counts.append(stock)
        if counts:
            self.page.line(" · ".join(counts))

    # The task and the buttons

    def _write_task(self) -> None:
        _ = self.words.text
        seen = self.seen
        if asked := self.question():
            for number, line in enumerate(asked):
                self.page.line(line, "" if number else "bold")
            return
        turn, warning = turn_line(seen, self.words), self.warning()
        is_waiting = seen.turn is not None and not seen.is_my_turn
        if is_waiting:
            self.page.line(turn, "italic")
        if warning:
            self.page.line(warning, "bold")
        if is_waiting:
            return
        self.page.line(turn, "bold")
        if self.chosen in SIGNALS:
            self.page.line(_("With the card that you lead you say “{signal}”."), signal=self.chosen)

    def question(self) -> tuple[str, ...]:
        """Return the open question about resigning or a stranger, and its consequence; or an empty tuple."""
        _ = self.words.text
        if self.chosen == RESIGN:
            if question := self.seen.own_texts.confirm_resign:
                return (_(question),)
            if self.seen.is_duplicate:
                return (_("Do you really want to resign? The other side wins the deal."),)
            return (_("Do you really want to resign? The other side wins the game."),)
        if about := self._stranger_question():
            return deed_question(self.words.language, about[0], self.seen.name(about[1]))[:2]
        return ()

    def warning(self) -> str:
        """Return a warning that the time for a move runs out or is up; empty before that."""
        _ = self.words.text
        seen = self.seen
        # Nobody waits at a practice table, but an older release can have nudged it.
        alarm = "" if seen.is_practice or seen.turn is None else seen.alarm
        if seen.turn is not None and not seen.is_my_turn:
            if alarm != "flagged":
                return ""
            late = _("{name}’s time is up: what now?")
            if self._is_partner(seen.turn):
                late = _("{name}’s time is up: the others decide.") if seen.has_opponents else _("{name}’s time is up.")
            return late.format(name=seen.name(seen.turn))
        if alarm == "nudged":
            return _("⏳ Half of your time for this move is gone.")
        if alarm == "flagged" and seen.has_opponents:
            return _("⌛ Your time is up: the others can claim the win. Play while you can.")
        return _("⌛ Your time is up, and your partner is waiting.") if alarm == "flagged" else ""

    def _is_partner(self, seat: int) -> bool:
        return self.seen.seat is not None and self.seen.seat & 1 == seat & 1

    def _rows(self, deal: DealView) -> list[Row]:
        _ = self.words.text
        if self.chosen == RESIGN:
            yes_button = self._move_button(_("Yes, I resign"), RESIGN, "danger")
            return [(yes_button, self._draft_button(_("No, play on")))]
        if about := self._stranger_question():
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
            (self._move_button(f"📣 {self.words.combination(move)}", move, "good"),) for move in self._moves("declare")
        ]

    def _choice_rows(self) -> list[Row]:
        _ = self.words.text
        deal = self.seen.view.deal if self.seen.view else None
        tops = {str(p.number): p.top for p in deal.packets} if isinstance(deal, PacketsView) else {}
        picks = tuple(
            self._move_button(
                _("⬆️ Pick up {card}").format(card=self.words.card(tops.get(move.split(" ")[1]) or "?")), move
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
            "blind": _("Double nil, blind"),
        }
        others = tuple(self._move_button(single[move], move) for move in self._moves(*single))
        return [picks, tuple(holds[:3]), tuple(holds[3:]), tuple(bids[:7]), tuple(bids[7:]), others]

    def _card_rows(self, deal: DealView) -> list[Row]:
        """Return rows of playable cards: one for each suit of the hand, then the tops of packets."""
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
        for _suit, codes in groupby(in_hand, key=itemgetter(1)):
            rows.append(tuple([self._card_button(label(code), code, signal_suffix) for code in codes]))
        tops = sorted(plays.difference(in_hand), key=lambda code: ITALIAN.index.get(code, 0), reverse=True)
        rows.append(tuple(self._card_button(f"📦 {label(code)}", code) for code in tops))
        return rows

    def _card_button(self, label: str, code: str, signal_suffix: str = "") -> Button:
        return Button(label, f"{self.move_prefix}play {code}{signal_suffix}", role=Role.PLAY, about=code)

    def _claim_rows(self) -> list[Row]:
        _ = self.words.text
        claims = self._moves("claim") if is_claim_possible(self.seen) else []
        return [tuple(self._move_button(_("🏁 Claim the game"), move) for move in claims), *self._hint_rows()]

    def _hint_rows(self) -> list[Row]:
        _ = self.words.text
        if self.hint:
            return [(Button(_("No more hints"), actions.table(self.seen.code, "nohints"), role=Role.HINT),)]
        if self.seen.is_practice and self.seen.is_my_turn and not self.seen.is_duplicate:
            return [(Button(_("💡 Hint"), actions.table(self.seen.code, "hint", self.seen.version), role=Role.HINT),)]
        return []

    def _stranger_question(self) -> tuple[Deed, int] | None:
        """Return the deed and seat of an open question about a stranger, such as the draft ``block1``."""
        if not self.chosen:
            return None
        for deed in DEEDS:
            seat = self.chosen.removeprefix(deed)
            if seat != self.chosen and seat.isdecimal() and int(seat) in self.strangers:
                return deed, int(seat)
        return None

    def _stranger_rows(self) -> list[Row]:
        """Return rows of deeds and phrases for strangers, unless a choice is half made."""
        _ = self.words.text
        if self.chosen == SAY and self.seen.are_strangers:
            phrases = [
                Button(phrase_text(self.words.language, phrase), actions.table(self.seen.code, "say", phrase))
                for phrase in PHRASES
            ]
            return [tuple(phrases[:3]), tuple(phrases[3:]), (self._draft_button(_("◀ Back")),)]
        if self.chosen:
            return []
        row = [self._draft_button(_("💬 Say"), SAY)] if self.seen.are_strangers and self.seen.can_say else []
        for deed in DEEDS:
            for seat in self.strangers:
                label = deed_label(self.words.language, deed, self.seen.name(seat), len(self.strangers))
                row.append(self._draft_button(label, f"{deed}{seat}"))
        return [tuple(row)]

    def _timeout_rows(self, late: int) -> list[Row]:
        """Return what opponents of a player can do when the time is up."""
        _ = self.words.text
        if self.seen.seat is None or self._is_partner(late):
            return []
        code = self.seen.code
        claim = Button(_("Claim the win"), actions.table(code, "claim"), "danger")
        robot = Button(_("Let a robot play this move"), actions.table(code, "automatic"))
        return [(claim,), (robot, Button(_("Wait"), actions.table(code, "wait"), "good"))]

    def _packet_rows(self) -> list[Row]:
        """Return eight packets that can be toggled. The fourth press takes the packets."""
        _ = self.words.text
        chosen = {number for number in self.chosen if number in "12345678"}
        buttons = []
        for number in "12345678":
            after = "".join(sorted(chosen ^ {number}))
            if number not in chosen and len(after) == TO_TAKE:
                buttons.append(self._move_button(number, f"take {' '.join(after)}", about=number))
            else:
                buttons.append(self._choice_button(f"✓ {number}" if number in chosen else number, after, about=number))
        return [tuple(buttons[:4]), tuple(buttons[4:])]

    def _exchange_rows(self, deal: DealView) -> list[Row]:
        _ = self.words.text
        meant = dict.fromkeys(self.chosen.split(","))
        chosen = [code for code in meant if code in (deal.hand or ())][:MAX_EXCHANGED]
        rows: list[Row] = []
        for _suit, codes in groupby(deal.hand or (), key=lambda code: code[1]):
            row = []
            for code in codes:
                after = [card for card in chosen if card != code] if code in chosen else [*chosen, code]
                if len(after) <= MAX_EXCHANGED:
                    sign = "✓ " if code in chosen else ""
                    row.append(self._choice_button(f"{sign}{self.words.card(code)}", ",".join(after), about=code))
            rows.append(tuple(row))
        label = _("Exchange {cards}").format(cards=self.words.cards(chosen)) if chosen else _("Exchange nothing")
        rows.append((self._move_button(label, " ".join(["exchange", *sorted(chosen)]), "good"),))
        return rows
