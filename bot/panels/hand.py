"""A player's hand in the private chat: the table as this seat sees it. `bot.panels.hand_buttons` has its buttons."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

from bot import actions
from bot.notification import Notification
from bot.panel import Button, Panel, Role, Row, Span, Writer
from bot.panels.cutting import cut_row, stand_button, write_cut_task
from bot.panels.hand_buttons import HINT, RESIGN, SIGNALS, HandButtons
from bot.panels.hand_news import move_news, newcomer_lines, partner_line, step_line, trick_news
from bot.panels.strangers import deed_question
from bot.tables.snapshot import FinishedDeal, TableSnapshot, counted_totals, final_trick, isolate_name
from bot.words.deal_results import deal_lines, total_line
from bot.words.rules import points_line
from bot.words.table_lines import (
    TableLines,
    blind_line,
    only_deal_line,
    rank_legend,
    shown_points,
    table_words,
    turn_line,
)
from bot.words.verdicts import NO_HINT, ShownHint, shown_hint_text
from bot.words.wording import Wording, score_pair, score_unit
from engine.views import DealView, SpadesView, TressetteView, View


def hand_panel(
    snapshot: TableSnapshot,
    language: str,
    suits: str,
    choice: str = "",
    *,
    has_pages: bool = False,
    plays_here: bool = False,
    has_resign: bool = False,
    hint: ShownHint = NO_HINT,
    is_beginner: bool = False,
    last_deal: FinishedDeal | None = None,
    is_paused: bool = False,
    end_rows: tuple[Row, ...] = (),
    has_result_below: bool = False,
) -> Panel:
    """Return the panel of a seat; ``choice`` is the chosen part of a move (`Draft.choice`).

    ``has_pages`` is whether the panel can open the table in a browser, and ``plays_here`` inside the chat's app. With
    ``has_resign`` it has a button to resign at the player's turn. ``hint`` is the hint to show. With ``is_beginner``
    the panel explains the letters and points of cards. ``last_deal`` is the deal whose score to show. With
    ``is_paused`` the panel shows only that, and a button to go on. ``end_rows`` are the buttons after the game. With
    ``has_result_below`` the next message has its result, so the panel leaves it out.
    """
    words = table_words(snapshot, language, suits)
    hand = _Hand(
        snapshot, words, choice, has_pages, plays_here, has_resign, hint, is_beginner, last_deal, has_result_below
    )
    panel = hand.pause_panel() if is_paused else hand.panel(end_rows)
    if not snapshot.is_my_turn:
        return panel
    _ = words.text
    text = _("{game}: it’s your turn.").format(game=_(snapshot.kind.name))
    return replace(panel, notification=Notification("turn", text, f"/t/{snapshot.code}"))


def task_text(snapshot: TableSnapshot, language: str, suits: str, choice: str = "") -> str:
    """Return one line: the open question, the seat's task, or whose turn it is."""
    words = table_words(snapshot, language, suits)
    hand = _Hand(snapshot, words, choice)
    if question_lines := hand.question():
        return " ".join(question_lines)
    warning, turn = hand.warning(), turn_line(snapshot, words)
    to_do = f"{warning} {turn}".lstrip() if snapshot.is_my_turn else warning or turn
    return " ".join(filter(None, [*hand.lines.robot_lines(), to_do]))


@dataclass
class _Hand:
    snapshot: TableSnapshot
    words: Wording
    choice: str
    has_pages: bool = False
    plays_here: bool = False
    has_resign: bool = False
    hint: ShownHint = NO_HINT
    is_beginner: bool = False
    last_deal: FinishedDeal | None = None
    has_result_below: bool = False

    def __post_init__(self) -> None:
        self.chosen = "" if self.choice == HINT else self.choice
        self.hint = NO_HINT if self.choice == RESIGN else self.hint
        self.lines = TableLines(self.snapshot, self.words)
        self.page = Writer()
        self.buttons = HandButtons(self.snapshot, self.words, self.chosen, self.hint)

    def panel(self, end_rows: tuple[Row, ...] = ()) -> Panel:
        if self.snapshot.phase in ("open", "closed"):
            return self._waiting_panel()
        view = self.snapshot.view
        assert view
        assert view.deal
        if view.ending:
            return self._end_panel(view, end_rows)
        self._write_last_deal()
        if self.snapshot.cutting.seat is not None:
            return self._cut_panel(view)
        is_first_deal = self.is_beginner and view.deal_number == 1
        is_newcomer = is_first_deal and not self.snapshot.since
        self._write_task()
        self._write_news(view.deal)
        about_step = step_line(self.snapshot, self.words) if is_first_deal else ""
        first_lines = newcomer_lines(self.snapshot, self.words) if is_newcomer else ()
        self._write_lines(about_step, *first_lines, partner_line(self.snapshot, self.words))
        self._write_lines(shown_hint_text(self.hint, self.words))
        letters = rank_legend(self.words, self._explained_cards(view.deal.hand or ())) if self.is_beginner else ""
        if is_first_deal and view.deal.hand:
            self.page.line(letters, "italic")
        self.page.fold()
        if view.deal.hand:
            # Each suit has a line, from high to low.
            self.page.gap()
            faces = self.words.faces
            for suit, codes in groupby(view.deal.hand, key=itemgetter(1)):
                self.page.line(f"{faces.sign(suit)}  {' '.join(map(faces.rank, codes))}", "bold")
            if letters and not is_first_deal:
                self.page.line(letters, "italic")
            if self.is_beginner and (points := points_line(self.words, self.snapshot.kind)):
                self.page.line(points, "italic")
        self.page.gap()
        self.lines.write_packets(self.page, view.deal)
        self._write_table(view.deal)
        self.page.gap()
        if not is_newcomer:
            self.page.line(self.lines.totals(view.totals))
        self.lines.write_heading(self.page, view.deal_number)
        browser = (*self._browser_row(), *self._resign_row()) if not self.chosen else ()
        first_steps = self.buttons.first_steps() if is_newcomer and self.snapshot.is_my_turn and not self.chosen else ()
        rows = self.buttons.rows(view.deal)
        if rows and rows[-1] and rows[-1][0].role is Role.HINT:
            rows[-1], browser = (*rows[-1], *browser), ()
        return self.page.panel(*rows, first_steps, *self.buttons.stranger_rows(), browser)

    def _end_panel(self, view: View, rows: tuple[Row, ...]) -> Panel:
        if self.has_result_below:
            self._write_end_of_deal()
        else:
            self._write_ending(view)
            self.page.fold()
            self.page.gap()
            self._write_last_deal()
        self.lines.write_heading(self.page, view.deal_number)
        return self.page.panel(*rows)

    def _write_news(self, deal: DealView) -> None:
        _ = self.words.text
        self._write_lines(trick_news(self.snapshot, self.words, deal))
        self.lines.write_trick(self.page, deal)
        if isinstance(deal, SpadesView) and deal.drawn:
            self.page.line(_("You have drawn {card}"), "bold", card=self.words.card(deal.drawn))
        self._write_lines(*move_news(self.snapshot, self.words, self.lines))

    def pause_panel(self) -> Panel:
        """Return the score of the last deal, before the player looks at the new one."""
        view, _ = self.snapshot.view, self.words.text
        assert view
        self._write_last_deal()
        self.page.fold()
        self.lines.write_heading(self.page, view.deal_number)
        go_on = Button(_("Go on"), actions.table(self.snapshot.code, "draft", self.snapshot.version), "good")
        return self.page.panel((go_on,), self._browser_row())

    def _browser_row(self) -> Row:
        _ = self.words.text
        label = _("🃏 Play here") if self.plays_here else _("🌐 In the browser")
        browser = Button(label, actions.table(self.snapshot.code, "browser"), kind="browser")
        return (browser,) if self.has_pages else ()

    def _explained_cards(self, hand: tuple[str, ...]) -> Sequence[str]:
        """Return the cards whose letters a beginner must know: the line of points names all letters."""
        return self.snapshot.kind.pack.codes if self.snapshot.kind.is_tressette else hand

    def _resign_row(self) -> Row:
        return (self.buttons.resign_button(),) if self.has_resign and self.snapshot.is_my_turn else ()

    def _write_lines(self, *lines: str) -> None:
        for line in filter(None, lines):
            self.page.line(line)

    def _cut_panel(self, view: View) -> Panel:
        """Return the panel between two deals, while a player can cut the pack of the next one."""
        self._write_question()
        write_cut_task(self.page, self.snapshot, self.words)
        self.page.fold()
        self.page.gap()
        self.page.line(self.lines.totals(view.totals))
        self.lines.write_heading(self.page, view.deal_number)
        assert view.deal
        return self.page.panel(
            cut_row(self.snapshot, self.words, is_for_cutter=self.snapshot.cutting.seat == self.snapshot.seat),
            *self.buttons.rows(view.deal),
            *self.buttons.stranger_rows(),
        )

    def _waiting_panel(self) -> Panel:
        _ = self.words.text
        self.page.line(_("Table {code}"), "", code=Span(self.snapshot.code, "code"))
        if self.snapshot.phase == "closed":
            self.page.line(_("This challenge closed before the game began."))
            return self.page.panel()
        if self.snapshot.cutting.seat is not None:
            write_cut_task(self.page, self.snapshot, self.words)
            is_cutter = self.snapshot.cutting.seat == self.snapshot.seat
            return self.page.panel(
                cut_row(self.snapshot, self.words, is_for_cutter=is_cutter),
                (stand_button(self.snapshot.code, self.words),),
            )
        if self.snapshot.asking is None:
            self.page.line(_("You’re in. The game starts when all seats are taken."))
            return self.page.panel()
        seat, chair = self.snapshot.asking
        self.page.line(_("{name} asks to sit opposite you, as your partner."), name=isolate_name(chair.name))
        accept = Button(_("Accept"), actions.table(self.snapshot.code, "accept", seat), "good")
        refuse = Button(_("Refuse"), actions.table(self.snapshot.code, "refuse", seat), "danger")
        return self.page.panel((accept, refuse))

    def _write_ending(self, view: View) -> None:
        """Write who won, and the score."""
        _ = self.words.text
        winner = view.winner or ()
        if winner and not (self.snapshot.is_only_deal_played or self.snapshot.is_cut_short):
            self.page.line(self.lines.own_result(), "bold")
            return
        if self.snapshot.is_only_deal_played:
            self.page.line(only_deal_line(self.snapshot, self.words), "bold")
        elif not winner:
            self.page.line(_("The game was cancelled."), "bold")
        elif self.snapshot.own_texts.confirm_resign:
            # A deal that can be played only once counts also when it is given up.
            self.page.line(_("You gave up."), "bold")
            return
        else:
            self.page.line(self.lines.own_result(), "bold")
            if not view.deal or view.deal.phase != "over":
                if view.deal_number > 1:
                    self.page.line(self.lines.totals(counted_totals(self.snapshot)))
                self.page.line(_("The unfinished deal doesn’t count."))
                return
        self.page.line(self.lines.totals(view.totals))

    def _write_end_of_deal(self) -> None:
        """Write only the last deal, because the message below this one has the game's result."""
        view = self.snapshot.view
        if not (self.last_deal or (view and view.deal and view.deal.phase == "over")):
            self.page.line(self.words.text("The unfinished deal doesn’t count."))
        self._write_last_deal(is_folded=True)
        if not self.last_deal:
            self.page.fold()
            self.page.gap()

    def _write_last_deal(self, *, is_folded: bool = False) -> None:
        """Write the points of the last deal, and where they come from; ``is_folded`` folds all but the points."""
        _ = self.words.text
        if self.last_deal:
            words = Wording(self.words.language, self.lines.names)
            record, number = self.last_deal.record, self.last_deal.number
            headline, *lines = deal_lines(words, record, number)
            self.page.line(headline, "bold")
            if is_folded:
                self.page.fold()
            self._write_lines(*lines)
            if self.snapshot.view and not self.snapshot.view.ending:
                self.page.line(total_line(words, record, number), "bold")
            if trick := final_trick(self.snapshot):
                last_trick = _("Last trick of deal {deal}: {trick}")
                self.page.line(last_trick, deal=number, trick=self.lines.trick_text(trick))
            if self.is_beginner and number == 1 and self.snapshot.kind.is_tressette:
                rounding = _("Leftover thirds of a point don’t count.")
                if score_unit(self.snapshot.rules) > 1:
                    rounding = _("Card points count in threes, leftovers are lost.")
                self.page.line(rounding, "italic")
            self.page.gap()

    def _write_table(self, deal: DealView) -> None:
        _ = self.words.text
        if deal.last_trick and deal.phase != "over":
            self.page.line(_("Previous trick: {trick}"), trick=self.lines.trick_text(deal.last_trick))
        self.lines.write_drawn_cards(self.page, deal)
        self.lines.write_known_cards(self.page, deal)
        if isinstance(deal, TressetteView) and any(deal.declared):
            declared_points = [shown_points(self.snapshot, points) for points in deal.declared]
            self.page.line(_("Declared: {sides}"), sides=self.lines.side_figures(declared_points))
        self.lines.write_running_points(self.page)
        self.lines.write_bids(self.page, deal)
        tricks = _("Tricks: {sides}").format(sides=self.lines.side_figures(deal.tricks))
        counts = [tricks] if deal.phase in ("play", "over") else []
        if stock := self.lines.stock_text(deal):
            counts.append(stock)
        if counts:
            self.page.line(" · ".join(counts))

    def _write_task(self) -> None:
        _ = self.words.text
        snapshot = self.snapshot
        if self._write_question():
            return
        turn, warning = turn_line(snapshot, self.words), self.warning()
        is_waiting = snapshot.turn is not None and not snapshot.is_my_turn
        if is_waiting:
            self.page.line(turn, "italic")
        if warning:
            self.page.line(warning, "bold")
        if not is_waiting:
            self.page.line(turn, "bold")
        if self.chosen in SIGNALS and not is_waiting:
            self.page.line(_("With the card that you lead you say “{signal}”."), signal=self.chosen)

    def _write_question(self) -> bool:
        """Write the open question; return whether there is one."""
        question_lines = self.question()
        for number, line in enumerate(question_lines):
            self.page.line(line, "" if number else "bold")
        return bool(question_lines)

    def question(self) -> tuple[str, ...]:
        """Return the open question about resigning or a stranger, and its consequence; or an empty tuple."""
        _ = self.words.text
        if self.chosen == RESIGN:
            if question := self.snapshot.own_texts.confirm_resign:
                return (_(question),)
            if self.snapshot.is_duplicate:
                return (_("Do you really want to resign? The other side wins the deal."),)
            line = _("Do you really want to resign? The other side wins the game.")
            if len(self.snapshot.chairs) == 2:
                line = _("Do you really want to resign? {name} wins the game.")
            question = line.format(name=self.snapshot.name(1 - (self.snapshot.seat or 0) & 1))
            return (question, lead) if (lead := self._lead_line()) else (question,)
        if self.buttons.asks_blind:
            return (blind_line(self.words),)
        if card := self.buttons.false_volo():
            suit = self.words.suits[card[1]]
            return (_("You still have {suit}: say volo all the same?").format(suit=suit),)
        if stranger := self.buttons.stranger_question():
            return deed_question(self.words.language, stranger[0], self.snapshot.name(stranger[1]))[:2]
        return ()

    def _lead_line(self) -> str:
        """Return that the viewer's side is ahead, with the score; empty if it is not."""
        view, side = self.snapshot.view, (self.snapshot.seat or 0) & 1
        assert view
        own_points, other_points = (view.totals[index] * score_unit(self.snapshot.rules) for index in (side, 1 - side))
        if own_points <= other_points:
            return ""
        _ = self.words.text
        return _("You are ahead, {score}.").format(score=score_pair(own_points, other_points))

    def warning(self) -> str:
        """Return a warning that the time for a move is running out or is up; empty before that."""
        _ = self.words.text
        snapshot = self.snapshot
        # Nobody waits at a practice table, but an older release might have nudged it.
        alarm = "" if snapshot.is_practice or snapshot.turn is None else snapshot.alarm
        if snapshot.turn is not None and not snapshot.is_my_turn:
            if alarm != "flagged":
                return ""
            if not self.buttons.is_partner(snapshot.turn):
                sentence = _("{name}’s time is up: what now?")
            elif snapshot.has_opponents:
                sentence = _("{name}’s time is up: the others decide.")
            else:
                sentence = _("{name}’s time is up.")
            return sentence.format(name=snapshot.name(snapshot.turn))
        if alarm == "nudged":
            return _("⏳ Half of your time for this move is gone.")
        if alarm == "flagged" and snapshot.has_opponents and len(snapshot.chairs) == 2:
            line = _("⌛ Your time is up: {name} can claim the win. Play while you can.")
            return line.format(name=snapshot.name(1 - (snapshot.seat or 0)))
        if alarm == "flagged" and snapshot.has_opponents:
            return _("⌛ Your time is up: the others can claim the win. Play while you can.")
        return _("⌛ Your time is up, and your partner is waiting.") if alarm == "flagged" else ""
