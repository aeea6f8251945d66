"""Builds the scenes of hands and boards from a panel's snapshot."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bot.panel_picture import CardStyle, Deck
from bot.pictures.lettering import drawable_names
from bot.pictures.scene import Card, Holder, Light, Pile, PlayedCard, Scene, Side, TallyLine
from bot.tables.snapshot import TableSnapshot, counted_totals, final_trick, last_trick_taker
from bot.words.table_lines import TableLines, only_deal_line, shown_points, stock_count, table_words, turn_line
from bot.words.wording import Wording, fix_minus, lost_text, score_unit, thirds_text
from engine.views import DealView, PacketsView, Result, ShownCard, SpadesView, StockView


def hand_scene(
    snapshot: TableSnapshot,
    language: str,
    suits: str,
    style: CardStyle,
    choice: str = "",
    *,
    any_letters: bool = False,
    is_paused: bool = False,
) -> Scene | None:
    """Return a seat's view, or None before the first deal.

    ``choice`` is the chosen part of a move. ``any_letters`` allows names with letters that pictures lack. With
    ``is_paused`` the scene shows the score of the last deal.
    """
    if snapshot.view is None or snapshot.view.deal is None or snapshot.phase not in ("playing", "over"):
        return None
    builder = _SceneBuilder(snapshot, language, suits, style, any_letters=any_letters)
    if is_paused:
        return builder.finished_deal(snapshot.view.totals)
    return builder.hand(snapshot.view.deal, choice)


class DealEnd(NamedTuple):
    """The end of a deal: its number, its last trick, and the seats in the order of their cards."""

    number: int
    trick: tuple[PlayedCard, ...]
    seats: tuple[int, ...]


def deal_end(snapshot: TableSnapshot, language: str, suits: str) -> DealEnd | None:
    """Return the end of the last finished deal.

    Return None before any deal has ended, or if the game was cut short during its last deal.
    """
    if snapshot.view is None or snapshot.view.result is None or snapshot.is_cut_short:
        return None
    result, scenes = snapshot.view.result, _SceneBuilder(snapshot, language, suits, "classic", any_letters=True)
    played_cards = result.last_trick.cards if result.last_trick else ()
    return DealEnd(result.deal, scenes.trick(played_cards), tuple([card.seat for card in played_cards]))


def board_scene(snapshot: TableSnapshot, language: str, suits: str, style: CardStyle) -> Scene | None:
    """Return the current deal as everyone sees it, or None before the first."""
    if snapshot.view is None or snapshot.view.deal is None:
        return None
    return _SceneBuilder(snapshot, language, suits, style).table(snapshot.view.deal)


def tally_lines(
    words: Wording, entries: Mapping[str, Sequence[Any]], rules: Mapping[str, object], last_seat: int | None
) -> tuple[TallyLine, ...]:
    """Return a deal's score line by line. In Tressette the other lines add up to the points.

    ``last_seat`` took the last trick; None if the deal was not played to its end. Entries that are zero for both sides
    are left out, except the points.
    """
    _ = words.text
    if "thirds" in entries:
        unit, last_side = score_unit(rules), None if last_seat is None else last_seat & 1
        cards = (thirds - 3 * (side == last_side) for side, thirds in enumerate(entries["thirds"]))
        lines = {_("points in tricks"): tuple(thirds_text(thirds * unit) for thirds in cards)}
        if last_side is not None:
            lines[_("the last trick")] = tuple(str(unit * (side == last_side)) for side in (0, 1))
        if any(entries["declared"]):
            lines[words.labels["declared"]] = tuple(str(points * unit) for points in entries["declared"])
        lost_thirds = [thirds % 3 for thirds in entries["thirds"]]
        if any(lost_thirds):
            lines[_("left over")] = tuple(lost_text(thirds * unit) for thirds in lost_thirds)
        lines[words.labels["points"]] = tuple(str(points * unit) for points in entries["points"])
    else:
        lines = {
            words.entry_name(name, entries): tuple(map(words.figure, figures))
            for name, figures in entries.items()
            if name == "points" or any(figure != 0 for figure in figures)
        }
    return tuple(TallyLine(label, (first, second)) for label, (first, second) in lines.items())


class _SceneBuilder:
    def __init__(
        self, snapshot: TableSnapshot, language: str, suits: str, style: CardStyle, *, any_letters: bool = False
    ) -> None:
        if not any_letters:
            names = drawable_names([chair.name if chair else "" for chair in snapshot.chairs], language)
            chairs = [chair and chair._replace(name=name) for chair, name in zip(snapshot.chairs, names, strict=True)]
            snapshot = snapshot._replace(chairs=tuple(chairs))
        self.snapshot, self.words = snapshot, table_words(snapshot, language, suits)
        self.lines = TableLines(snapshot, self.words)
        self.deck = Deck(self.words.faces.deck, style)

    def scene(self, sides: tuple[Side, Side], **parts: object) -> Scene:
        _ = self.words.text
        points = shown_points(self.snapshot, int(self.snapshot.rules["target"]))
        target = _("to {target}").format(target=points)
        if self.snapshot.is_duplicate:
            target = _(own) if (own := self.snapshot.own_texts.target) else _("one deal")
        is_french = self.words.faces.is_french
        return Scene(deck=self.deck, sides=sides, target=target, italian_as_french=is_french, **parts)  # type: ignore[arg-type]

    def hand(self, deal: DealView, choice: str) -> Scene:
        view, _ = self.snapshot.view, self.words.text
        assert view
        if view.ending:
            if view.winner:
                line = _("You win!") if self.snapshot.seat in view.winner else _("You lose.")
            else:
                is_played = self.snapshot.is_only_deal_played
                line = only_deal_line(self.snapshot, self.words) if is_played else _("The game was cancelled.")
            return self.finished_deal(counted_totals(self.snapshot), line)
        return self.table(deal, choice)

    def finished_deal(self, totals: Sequence[int], line: str = "") -> Scene:
        """Return the last trick and the score of the last finished deal, unless the game was cut short."""
        view, _ = self.snapshot.view, self.words.text
        assert view
        result = view.result if not self.snapshot.is_cut_short else None
        return self.scene(
            sides=self.sides(totals),
            line=line,
            is_my_turn=True,
            **self._final_trick(),
            tally=self.tally(result) if result else (),
            tally_title=_("deal {number}").format(number=result.deal) if result else "",
        )

    def table(self, deal: DealView, choice: str = "") -> Scene:
        snapshot, words, _ = self.snapshot, self.words, self.words.text
        assert snapshot.view
        moves = snapshot.view.moves if snapshot.is_my_turn else ()
        in_stock = stock_count(snapshot, deal)
        return self.scene(
            sides=self.sides(snapshot.view.totals, deal),
            line=turn_line(snapshot, words),
            is_my_turn=snapshot.is_my_turn,
            trick=self.trick(deal.trick),
            **self._last_trick(deal),
            stock=Pile(Card(), in_stock, words.labels["stock"]) if in_stock else None,
            **self._drawn_cards(deal),
            middle=self._packets(deal, None, choice=choice),
            packets=self._packets(deal, snapshot.seat, moves, choice) if snapshot.seat is not None else (),
            others=self._holders(deal),
            hand=self._own_hand(deal, moves, choice),
        )

    def _last_trick(self, deal: DealView) -> dict[str, object]:
        """Return the previous trick. At the start of a deal, players still see the last one of the deal before."""
        _ = self.words.text
        if deal.last_trick is None and self.snapshot.seat is not None:
            return self._final_trick()
        played_cards = deal.last_trick.cards if deal.last_trick and deal.phase == "play" else ()
        return {"last_trick": self.trick(played_cards), "last_title": _("previous trick")}

    def _final_trick(self) -> dict[str, object]:
        trick, _ = final_trick(self.snapshot), self.words.text
        return {"final_trick": self.trick(trick.cards) if trick else (), "last_title": _("last trick")}

    # Points

    def sides(self, totals: Sequence[int], deal: DealView | None = None) -> tuple[Side, Side]:
        turn = self.snapshot.turn
        # The viewer's side comes first.
        first = self.snapshot.seat % 2 if self.snapshot.seat is not None else 0
        own_side, other_side = (
            Side(
                self.lines.sides[side],
                fix_minus(str(shown_points(self.snapshot, totals[side]))),
                self._notes(deal, side) if deal else (),
                deal is not None and turn is not None and turn % 2 == side,
                self.lines.partners(side),
            )
            for side in (first, 1 - first)
        )
        return own_side, other_side

    def _notes(self, deal: DealView, side: int) -> tuple[str, ...]:
        notes = []
        labels, _ = self.words.labels, self.words.text
        bid = deal.bids[side] if isinstance(deal, SpadesView) else None
        if deal.phase == "play":
            goal = f"/{bid}" if isinstance(bid, int) else ""
            notes.append(f"{labels['tricks']} {deal.tricks[side]}{goal}")
        if bid is not None and not (isinstance(bid, int) and deal.phase == "play"):
            notes.append(_("bid {bid}").format(bid=self.words.figure(bid)))
        if isinstance(deal, SpadesView) and self.snapshot.view and self.snapshot.view.bags[side]:
            notes.append(f"{labels['bags']} {self.snapshot.view.bags[side]}")
        if thirds := self.snapshot.running_thirds:
            notes.append(f"{labels['points']} {thirds_text(thirds[side] * score_unit(self.snapshot.rules))}")
        return tuple(notes)

    def tally(self, result: Result) -> tuple[TallyLine, ...]:
        """Return a deal's score, the viewer's side first."""
        lines = tally_lines(self.words, result.entries, self.snapshot.rules, last_trick_taker(self.snapshot))
        is_turned = self.snapshot.seat is not None and self.snapshot.seat % 2
        return tuple(line._replace(figures=line.figures[::-1]) for line in lines) if is_turned else lines

    # Cards

    def _card(self, code: str | None, light: Light = "") -> Card:
        return Card(self.words.faces.drawn_code(code) if code else "", light)

    def trick(self, shown_cards: Sequence[ShownCard]) -> tuple[PlayedCard, ...]:
        """Return a trick's cards. The highest trump wins, otherwise the highest card of the suit led."""
        if not shown_cards:
            return ()
        index, trump, led = self.snapshot.kind.pack.index, self.snapshot.kind.trump, shown_cards[0].card[1]
        rivals = [shown.card for shown in shown_cards if shown.card[1] in (led, trump)]
        best = max(rivals, key=lambda card: (card[1] == trump, index[card]))
        return tuple(
            PlayedCard(self._card(card), self.lines.names[seat], signal or "", card == best)
            for seat, card, signal in shown_cards
        )

    def _drawn_cards(self, deal: DealView) -> dict[str, object]:
        drawn_cards: tuple[PlayedCard, ...] = ()
        if isinstance(deal, StockView):
            drawn_cards = tuple(
                PlayedCard(self._card(drawn.card), self.lines.names[drawn.seat]) for drawn in deal.drawn
            )
        elif isinstance(deal, SpadesView) and deal.drawn:
            drawn_cards = (PlayedCard(self._card(deal.drawn), ""),)
        title = self.words.ngettext("drawn", "drawn cards", len(drawn_cards)) if drawn_cards else ""
        return {"drawn": drawn_cards, "drawn_title": title}

    def _own_hand(self, deal: DealView, moves: Sequence[str], choice: str) -> tuple[Card, ...]:
        plays = {move.split(" ")[1] for move in moves if move.startswith("play ")}
        chosen_codes = choice.split(",") if deal.phase == "exchange" else ()
        drawn_cards = deal.drawn if isinstance(deal, StockView) else ()
        new_cards = {card for seat, card, _signal in drawn_cards if seat == self.snapshot.seat}
        return tuple(
            self._card(code, "chosen" if code in chosen_codes else _light(code in plays, bool(plays)))._replace(
                is_new=code in new_cards
            )
            for code in deal.hand or ()
        )

    def _packets(
        self, deal: DealView, owner: int | None, moves: Sequence[str] = (), choice: str = ""
    ) -> tuple[Pile, ...]:
        """Return the packets of a seat, or those without an owner. Playable ones are highlighted."""
        if not isinstance(deal, PacketsView):
            return ()
        uses = {move for move in moves if move.startswith(("play ", "pick "))}
        piles = []
        for packet in deal.packets:
            if packet.owner != owner or packet.place == "hand" or not packet.left:
                continue
            light = _light(f"play {packet.top}" in uses or f"pick {packet.number}" in uses, bool(uses))
            if choice.isdecimal() and str(packet.number) in choice:
                light = "chosen"
            name = "" if packet.place == "table" else str(packet.number)
            piles.append(Pile(self._card(packet.top, light), packet.left, name))
        return tuple(piles)

    def _holders(self, deal: DealView) -> tuple[Holder, ...]:
        """Return the other players in order of play. At a table of four, leave out those without known cards."""
        seats = len(deal.counts)
        first = self.snapshot.seat if self.snapshot.seat is not None else -1
        holders = []
        for seat in ((first + step) % seats for step in range(1, seats + (self.snapshot.seat is None))):
            known_cards, packets = deal.known[seat], self._packets(deal, seat)
            if known_cards or packets or (seats == 2 and deal.counts[seat]):
                hidden_count = deal.counts[seat] - len(known_cards)
                cards = (*(self._card(code) for code in known_cards), *[Card()] * hidden_count)
                # With two players the owner is obvious.
                name = "" if seats == 2 and self.snapshot.seat is not None else self.lines.names[seat]
                holders.append(Holder(name, cards, packets))
        return tuple(holders)


def _light(is_playable: bool, any_playable: bool) -> Light:
    return ("playable" if is_playable else "dim") if any_playable else ""
