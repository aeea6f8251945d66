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
    seen: TableSnapshot,
    language: str,
    suits: str,
    style: CardStyle,
    chosen: str = "",
    *,
    any_letters: bool = False,
    is_paused: bool = False,
) -> Scene | None:
    """Return a seat's view, or None before the first deal.

    ``chosen`` is the chosen part of a move. ``any_letters`` allows names with letters that pictures lack. With
    ``is_paused`` the scene shows the score of the last deal.
    """
    if seen.view is None or seen.view.deal is None or seen.phase not in ("playing", "over"):
        return None
    builder = _SceneBuilder(seen, language, suits, style, any_letters=any_letters)
    if is_paused:
        return builder.finished_deal(seen.view.totals)
    return builder.hand(seen.view.deal, chosen)


class DealEnd(NamedTuple):
    """The end of a deal: its number, its last trick, and the seats in the order of their cards."""

    number: int
    trick: tuple[PlayedCard, ...]
    seats: tuple[int, ...]


def deal_end(seen: TableSnapshot, language: str, suits: str) -> DealEnd | None:
    """Return the end of the last finished deal.

    Return None before any deal has ended, or if the game was cut short during its last deal.
    """
    if seen.view is None or seen.view.result is None or seen.is_cut_short:
        return None
    result, scenes = seen.view.result, _SceneBuilder(seen, language, suits, "classic", any_letters=True)
    played = result.last_trick.cards if result.last_trick else ()
    return DealEnd(result.deal, scenes.trick(played), tuple([card.seat for card in played]))


def board_scene(seen: TableSnapshot, language: str, suits: str, style: CardStyle) -> Scene | None:
    """Return the current deal as everyone sees it, or None before the first."""
    if seen.view is None or seen.view.deal is None:
        return None
    return _SceneBuilder(seen, language, suits, style).table(seen.view.deal)


def tally_lines(
    words: Wording, entries: Mapping[str, Sequence[Any]], rules: Mapping[str, object], last: int | None
) -> tuple[TallyLine, ...]:
    """Return a deal's score line by line. In Tressette the other lines add up to the points.

    ``last`` is the seat that took the last trick, None if the deal was not played to its end. Entries that are zero for
    both sides are left out, except the points.
    """
    _ = words.text
    if "thirds" in entries:
        unit, last_side = score_unit(rules), None if last is None else last & 1
        cards = (thirds - 3 * (side == last_side) for side, thirds in enumerate(entries["thirds"]))
        lines = {_("points in tricks"): tuple(thirds_text(thirds * unit) for thirds in cards)}
        if last_side is not None:
            lines[_("the last trick")] = tuple(str(unit * (side == last_side)) for side in (0, 1))
        if any(entries["declared"]):
            lines[words.labels["declared"]] = tuple(str(points * unit) for points in entries["declared"])
        lost = [thirds % 3 for thirds in entries["thirds"]]
        if any(lost):
            lines[_("left over")] = tuple(lost_text(thirds * unit) for thirds in lost)
        lines[words.labels["points"]] = tuple(str(points * unit) for points in entries["points"])
    else:
        lines = {
            words.entry_name(name, entries): tuple(map(words.figure, figures))
            for name, figures in entries.items()
            if name == "points" or any(figure != 0 for figure in figures)
        }
    return tuple(TallyLine(label, (one, other)) for label, (one, other) in lines.items())


class _SceneBuilder:
    def __init__(
        self, seen: TableSnapshot, language: str, suits: str, style: CardStyle, *, any_letters: bool = False
    ) -> None:
        if not any_letters:
            names = drawable_names([chair.name if chair else "" for chair in seen.chairs], language)
            chairs = [chair and chair._replace(name=name) for chair, name in zip(seen.chairs, names, strict=True)]
            seen = seen._replace(chairs=tuple(chairs))
        self.seen, self.words = seen, table_words(seen, language, suits)
        self.lines = TableLines(seen, self.words)
        self.deck = Deck(self.words.faces.deck, style)

    def scene(self, sides: tuple[Side, Side], **parts: object) -> Scene:
        _ = self.words.text
        points = shown_points(self.seen, int(self.seen.rules["target"]))
        target = _("to {target}").format(target=points)
        if self.seen.is_duplicate:
            target = _(own) if (own := self.seen.own_texts.target) else _("one deal")
        is_french = self.words.faces.is_french
        return Scene(deck=self.deck, sides=sides, target=target, italian_as_french=is_french, **parts)  # type: ignore[arg-type]

    def hand(self, deal: DealView, chosen: str) -> Scene:
        view, _ = self.seen.view, self.words.text
        assert view
        if view.ending:
            if view.winner:
                line = _("You win!") if self.seen.seat in view.winner else _("You lose.")
            else:
                is_played = self.seen.is_only_deal_played
                line = only_deal_line(self.seen, self.words) if is_played else _("The game was cancelled.")
            return self.finished_deal(counted_totals(self.seen), line)
        return self.table(deal, chosen)

    def finished_deal(self, totals: Sequence[int], line: str = "") -> Scene:
        """Return the last trick and the score of the last finished deal, unless the game was cut short."""
        view, _ = self.seen.view, self.words.text
        assert view
        result = view.result if not self.seen.is_cut_short else None
        return self.scene(
            sides=self.sides(totals),
            line=line,
            is_mine=True,
            **self._final_trick(),
            tally=self.tally(result) if result else (),
            tally_title=_("deal {number}").format(number=result.deal) if result else "",
        )

    def table(self, deal: DealView, chosen: str = "") -> Scene:
        seen, words, _ = self.seen, self.words, self.words.text
        assert seen.view
        moves = seen.view.moves if seen.is_my_turn else ()
        in_stock = stock_count(seen, deal)
        return self.scene(
            sides=self.sides(seen.view.totals, deal),
            line=turn_line(seen, words),
            is_mine=seen.is_my_turn,
            trick=self.trick(deal.trick),
            **self._last_trick(deal),
            stock=Pile(Card(), in_stock, words.labels["stock"]) if in_stock else None,
            **self._drawn_cards(deal),
            middle=self._packets(deal, None, chosen=chosen),
            packets=self._packets(deal, seen.seat, moves, chosen) if seen.seat is not None else (),
            others=self._holders(deal),
            hand=self._own_hand(deal, moves, chosen),
        )

    def _last_trick(self, deal: DealView) -> dict[str, object]:
        """Return the previous trick. At the start of a deal, players still see the last one of the deal before."""
        _ = self.words.text
        if deal.last_trick is None and self.seen.seat is not None:
            return self._final_trick()
        played = deal.last_trick.cards if deal.last_trick and deal.phase == "play" else ()
        return {"last_trick": self.trick(played), "last_title": _("previous trick")}

    def _final_trick(self) -> dict[str, object]:
        trick, _ = final_trick(self.seen), self.words.text
        return {"final_trick": self.trick(trick.cards) if trick else (), "last_title": _("last trick")}

    # Points

    def sides(self, totals: Sequence[int], deal: DealView | None = None) -> tuple[Side, Side]:
        turn = self.seen.turn
        # The viewer's side comes first.
        first = self.seen.seat % 2 if self.seen.seat is not None else 0
        one, other = (
            Side(
                self.lines.sides[side],
                fix_minus(str(shown_points(self.seen, totals[side]))),
                self._notes(deal, side) if deal else (),
                deal is not None and turn is not None and turn % 2 == side,
                self.lines.partners(side),
            )
            for side in (first, 1 - first)
        )
        return one, other

    def _notes(self, deal: DealView, side: int) -> tuple[str, ...]:
        notes = []
        labels, _ = self.words.labels, self.words.text
        bid = deal.bids[side] if isinstance(deal, SpadesView) else None
        if deal.phase == "play":
            goal = f"/{bid}" if isinstance(bid, int) else ""
            notes.append(f"{labels['tricks']} {deal.tricks[side]}{goal}")
        if bid is not None and not (isinstance(bid, int) and deal.phase == "play"):
            notes.append(_("bid {bid}").format(bid=self.words.figure(bid)))
        if isinstance(deal, SpadesView) and self.seen.view and self.seen.view.bags[side]:
            notes.append(f"{labels['bags']} {self.seen.view.bags[side]}")
        if thirds := self.seen.running_thirds:
            notes.append(f"{labels['points']} {thirds_text(thirds[side] * score_unit(self.seen.rules))}")
        return tuple(notes)

    def tally(self, result: Result) -> tuple[TallyLine, ...]:
        """Return a deal's score, the viewer's side first."""
        lines = tally_lines(self.words, result.entries, self.seen.rules, last_trick_taker(self.seen))
        is_turned = self.seen.seat is not None and self.seen.seat % 2
        return tuple(line._replace(figures=line.figures[::-1]) for line in lines) if is_turned else lines

    # Cards

    def _card(self, code: str | None, light: Light = "") -> Card:
        return Card(self.words.faces.drawn_code(code) if code else "", light)

    def trick(self, played: Sequence[ShownCard]) -> tuple[PlayedCard, ...]:
        """Return a trick's cards. The highest trump wins, otherwise the highest card of the suit led."""
        if not played:
            return ()
        index, trump, led = self.seen.kind.pack.index, self.seen.kind.trump, played[0].card[1]
        best = max(
            (card for _seat, card, _signal in played if card[1] in (led, trump)),
            key=lambda card: (card[1] == trump, index[card]),
        )
        return tuple(
            PlayedCard(self._card(card), self.lines.names[seat], signal or "", card == best)
            for seat, card, signal in played
        )

    def _drawn_cards(self, deal: DealView) -> dict[str, object]:
        drawn: tuple[PlayedCard, ...] = ()
        if isinstance(deal, StockView):
            drawn = tuple(PlayedCard(self._card(card), self.lines.names[by]) for by, card, _signal in deal.drawn)
        elif isinstance(deal, SpadesView) and deal.drawn:
            drawn = (PlayedCard(self._card(deal.drawn), ""),)
        title = self.words.ngettext("drawn", "drawn cards", len(drawn)) if drawn else ""
        return {"drawn": drawn, "drawn_title": title}

    def _own_hand(self, deal: DealView, moves: Sequence[str], chosen: str) -> tuple[Card, ...]:
        plays = {move.split(" ")[1] for move in moves if move.startswith("play ")}
        picked = chosen.split(",") if deal.phase == "exchange" else ()
        drawn = deal.drawn if isinstance(deal, StockView) else ()
        new = {card for by, card, _signal in drawn if by == self.seen.seat}
        return tuple(
            self._card(code, "chosen" if code in picked else _light(code in plays, bool(plays)))._replace(
                is_new=code in new
            )
            for code in deal.hand or ()
        )

    def _packets(
        self, deal: DealView, owner: int | None, moves: Sequence[str] = (), chosen: str = ""
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
            if chosen.isdecimal() and str(packet.number) in chosen:
                light = "chosen"
            name = "" if packet.place == "table" else str(packet.number)
            piles.append(Pile(self._card(packet.top, light), packet.left, name))
        return tuple(piles)

    def _holders(self, deal: DealView) -> tuple[Holder, ...]:
        """Return the other players in order of play. At a table of four, leave out those without known cards."""
        seats = len(deal.counts)
        first = self.seen.seat if self.seen.seat is not None else -1
        found = []
        for seat in ((first + step) % seats for step in range(1, seats + (self.seen.seat is None))):
            known, packets = deal.known[seat], self._packets(deal, seat)
            if known or packets or (seats == 2 and deal.counts[seat]):
                hidden = deal.counts[seat] - len(known)
                cards = (*(self._card(code) for code in known), *[Card()] * hidden)
                # With two players the owner is obvious.
                name = "" if seats == 2 and self.seen.seat is not None else self.lines.names[seat]
                found.append(Holder(name, cards, packets))
        return tuple(found)


def _light(is_playable: bool, any_playable: bool) -> Light:
    return ("playable" if is_playable else "dim") if any_playable else ""
