"""Lines that several panels use."""

from collections.abc import Mapping, Sequence
from functools import cache

from bot.panel import Span, Writer
from bot.store.entries import DEFAULT_CLOCK_SECONDS
from bot.tables.clock import CUT_SECONDS
from bot.tables.fixtures import FixtureName
from bot.tables.snapshot import TableSnapshot
from bot.texts import texts
from bot.words.spoken import figure_names, spoken_card
from bot.words.wording import NO_BREAK, CardFaces, Wording, faces_of, score_line, score_pair, score_unit, thirds_text
from engine import GAMES, GameKind
from engine.options import Value, format_value
from engine.views import DealView, LastTrick, Packet, PacketsView, SpadesView, StockView


def table_words(snapshot: TableSnapshot, language: str, suits: str) -> Wording:
    """Return the words for a table. Its cards have French suits if its game does, or if the viewer prefers them."""
    return Wording(language, snapshot.names, faces_of(snapshot.kind, suits))


class TableLines:
    """The lines about a table in one language. They call the viewer "you"."""

    def __init__(self, snapshot: TableSnapshot, words: Wording) -> None:
        self.snapshot, self.words, self.text = snapshot, words, words.text
        _ = self.text
        self.names = [_("you") if seat == snapshot.seat else name for seat, name in enumerate(words.names)]
        self.sides = tuple(_(" and ").join(self._players(side)) for side in (0, 1))

    def write_heading(self, page: Writer, deal: int) -> None:
        _ = self.text
        game, code = Span(_(self.snapshot.kind.name), "bold"), Span(self.snapshot.code, "code")
        if self.snapshot.fixture and self.snapshot.is_duplicate:
            page.line(_("{game} · {code}"), game=game, code=code)
        else:
            page.line(_("{game} · {code} · deal {deal}"), game=game, code=code, deal=deal)
        self.write_fixture(page)

    def write_fixture(self, page: Writer) -> None:
        if self.snapshot.fixture:
            page.line(fixture_line(self.words, FixtureName.from_fixture(self.snapshot.fixture)))

    def _players(self, side: int) -> list[str]:
        """Return a side's players, the viewer first."""
        names = self.names[side::2]
        return names[::-1] if self.snapshot.seat == side + 2 else names

    def partners(self, side: int) -> tuple[str, ...]:
        """Return the players of a side; empty if it has only one."""
        players = self._players(side)
        return tuple(players) if len(players) > 1 else ()

    def totals(self, totals: Sequence[int]) -> str:
        """Return each side's points in the table's unit, and the target."""
        unit = score_unit(self.snapshot.rules)
        sides = self.side_figures([total * unit for total in totals])
        target = None if self.snapshot.is_duplicate else int(self.snapshot.rules["target"]) * unit
        return score_line(self.words.language, sides, target)

    def side_figures(self, figures: Sequence[int | str]) -> str:
        pairs = zip(self.sides, figures, strict=True)
        return ", ".join([f"{side} {self.words.figure(figure)}" for side, figure in pairs])

    def write_running_points(self, page: Writer) -> None:
        """Write each side's points of the deal in progress, if its game counts them."""
        _ = self.text
        if thirds := self.snapshot.running_thirds:
            points = [thirds_text(third * score_unit(self.snapshot.rules)) for third in thirds]
            page.line(_("This deal: {sides}"), sides=self.side_figures(points))

    def write_trick(self, page: Writer, deal: DealView) -> None:
        if deal.trick:
            cards = " · ".join([self.played_card(*shown_card) for shown_card in deal.trick])
            page.line(self.text("On the table: {cards}"), "bold", cards=cards)

    def write_packets(self, page: Writer, deal: DealView) -> None:
        """Write each player's packets: their numbers, top cards and sizes."""
        _ = self.text
        if not isinstance(deal, PacketsView):
            return
        for seat, name in enumerate(self.words.names):
            owned = [packet for packet in deal.packets if packet.owner == seat and packet.place in ("table", "taken")]
            top_cards = "  ".join(map(self._packet_text, owned))
            if top_cards and seat == self.snapshot.seat:
                page.line(_("Your packets: {tops}"), tops=top_cards)
            elif top_cards:
                page.line(_("Packets of {name}: {tops}"), name=name, tops=top_cards)

    def _packet_text(self, packet: Packet) -> str:
        top = [f"{packet.number}:", self.words.card(packet.top)] if packet.top else [str(packet.number)]
        return NO_BREAK.join([*top, f"({packet.left})"])

    def write_drawn_cards(self, page: Writer, deal: DealView) -> None:
        _ = self.text
        if isinstance(deal, StockView) and deal.drawn:
            cards = " · ".join(self.played_card(seat, card) for seat, card, _signal in deal.drawn)
            page.line(_("Drawn: {cards}"), cards=cards)

    def write_known_cards(self, page: Writer, deal: DealView) -> None:
        """Write the cards in others' hands that everyone has seen."""
        _ = self.text
        line = _("Still in {name}’s hand, seen by all: {cards}")
        for seat, cards in enumerate(deal.known):
            if cards and seat != self.snapshot.seat:
                page.line(line, name=self.names[seat], cards=self.words.cards(cards))

    def robot_lines(self) -> list[str]:
        """Return a line for each player whose time was up and whose last move was made by a robot."""
        _ = self.text
        return [
            _("🤖 Your time was up: a robot moved for you.")
            if seat == self.snapshot.seat
            else _("🤖 {name}’s time was up: a robot moved.").format(name=self.snapshot.name(seat))
            for seat, count in enumerate(self.snapshot.late_counts)
            if count
        ]

    def stock_text(self, deal: DealView) -> str:
        """Return the number of cards in the stock; empty without a stock."""
        count = stock_count(self.snapshot, deal)
        cards = self.words.ngettext("{count} card in the stock", "{count} cards in the stock", count)
        return cards.format(count=count) if count else ""

    def write_bids(self, page: Writer, deal: DealView) -> None:
        _ = self.text
        if isinstance(deal, SpadesView) and any(bid is not None for bid in deal.bids):
            bids = " · ".join([f"{self.names[seat]} {self.words.figure(bid)}" for seat, bid in enumerate(deal.bids)])
            page.line(_("Bids: {bids}"), bids=bids)
        if self.snapshot.view and any(self.snapshot.view.bags):
            page.line(_("Bags: {sides}"), sides=self.side_figures(self.snapshot.view.bags))

    def own_result(self) -> str:
        """Return whether the viewer won, with the score or the reason, such as "You win! 24–15"."""
        _, view = self.text, self.snapshot.view
        assert view
        line = _("You win!") if self.snapshot.seat in (view.winner or ()) else _("You lose.")
        if self.snapshot.is_cut_short:
            has_resigned = view.ending == "resign" and self.snapshot.history[-1][0] == self.snapshot.seat
            return _("You lose: you resigned.") if has_resigned else f"{line} {self.ending_reason()}"
        unit, own_side = score_unit(self.snapshot.rules), (self.snapshot.seat or 0) & 1
        own_points, other_points = (view.totals[side] * unit for side in (own_side, 1 - own_side))
        return f"{line} {score_pair(own_points, other_points)}"

    def ending_reason(self) -> str:
        """Return why a game stopped during a deal: a side resigned or ran out of time, or it was cancelled."""
        _, view = self.text, self.snapshot.view
        assert view
        if not view.winner or view.ending not in ("resign", "timeout"):
            return self.words.ending(view.winner, view.ending)
        if view.ending == "resign":
            resigned = self.snapshot.history[-1][0]
            assert resigned is not None
            line = _("You resigned.") if resigned == self.snapshot.seat else _("{name} resigned.")
            return line.format(name=self.snapshot.name(resigned))
        side = self.sides[1 - (view.winner[0] & 1)]
        return _("Your time ran out.") if side == _("you") else _("{side} ran out of time.").format(side=side)

    def trick_text(self, trick: LastTrick) -> str:
        cards = " · ".join([self.played_card(seat, card, signal) for seat, card, signal in trick.cards])
        return f"{cards} →{NO_BREAK}{self.names[trick.winner]}"

    def played_card(self, seat: int, card: str, signal: str | None = None) -> str:
        shown_signal = f" “{signal}!”" if signal else ""
        return f"{self.names[seat]}{NO_BREAK}{self.words.card(card)}{shown_signal}"


def stock_count(snapshot: TableSnapshot, deal: DealView) -> int:
    """Return the number of cards in a deal's stock, the same for all viewers."""
    if isinstance(deal, StockView):
        return deal.stock
    if isinstance(deal, SpadesView) and deal.phase == "draft":
        # The engine still counts the card that a player looks at. Players see it as drawn. After the first draw, each
        # turn has such a card.
        return deal.stock - ((deal.turn, "draw") in snapshot.history)
    return 0


def fixture_line(words: Wording, name: FixtureName) -> str:
    """Return the game's place in a tournament. A return deal swaps the seats of the two sides."""
    _ = words.text
    line = _("🏆 Tournament {code} · round {round} · match {match}").format(
        code=name.tournament, round=name.round, match=name.match + 1
    )
    if not name.is_duplicate:
        return line
    deal = _("deal {number}") if name.deal % 2 else _("return deal {number}")
    return f"{line} · {deal.format(number=name.deal)}"


def card_name(words: Wording, code: str) -> str:
    """Return a card in words and as on buttons: "king of cups (R🏆)"."""
    return f"{spoken_card(words, code)} ({words.card(code)})"


@cache
def _legend(language: str, faces: CardFaces) -> dict[str, str]:
    """Return each rank's letter with its meaning, such as "R (king)", but not the ace's."""
    names = figure_names(language)
    return {rank: f"{letter} ({names[letter]})" for rank in "RKCQFJ" if (letter := faces.rank(rank)) in names}


def rank_legend(words: Wording, hand: Sequence[str]) -> str:
    """Return the meaning of a hand's letters, such as "R (king) · F (jack)".

    The ace is left out. The text is empty for a hand without other letters.
    """
    ranks = {code[0] for code in hand}
    return " · ".join(text for rank, text in _legend(words.language, words.faces).items() if rank in ranks)


def shown_points(snapshot: TableSnapshot, points: int) -> int:
    """Return points in the table's unit: classic Tressette shows three for one."""
    return points * score_unit(snapshot.rules)


def turn_line(snapshot: TableSnapshot, words: Wording) -> str:
    """Return the player to move or to cut, or the viewer's task; empty if nothing is due."""
    _ = words.text
    cutter = snapshot.cutting.seat
    if cutter is not None:
        line = _("Cut the pack: you have {seconds} seconds.")
        if cutter != snapshot.seat:
            line = _("{name} can cut the pack: {seconds} seconds.")
        return line.format(name=snapshot.name(cutter), seconds=CUT_SECONDS)
    if snapshot.turn is None or not snapshot.view or not snapshot.view.deal:
        return ""
    if not snapshot.is_my_turn:
        return _("{name}’s turn.").format(name=snapshot.name(snapshot.turn))
    deal = snapshot.view.deal
    asks = {
        "take": _("Your turn: take four packets."),
        "hold": _("Your turn: which two packets do you take in hand?"),
        "draft": _("Your turn: keep it, or throw it away and keep the next?")
        if isinstance(deal, SpadesView) and deal.drawn
        else _("Your turn: draw a card."),
        "exchange": _("Double nil: you can exchange up to three cards."),
        "bid": _("Your turn: how many tricks do you bid?"),
    }
    return asks.get(deal.phase, _("Your turn."))


def only_deal_line(snapshot: TableSnapshot, words: Wording) -> str:
    """Return the line at the end of a game's only deal, with the winner if the deal's points decide who wins."""
    _ = words.text
    if not snapshot.own_texts.is_won_by_deal or snapshot.view is None or snapshot.seat is None:
        return _("The deal is over.")
    side = snapshot.seat % 2
    own_points, other_points = snapshot.view.totals[side], snapshot.view.totals[1 - side]
    if own_points == other_points:
        return _("The deal is a draw.")
    return _("You win the deal!") if own_points > other_points else _("You lose the deal.")


def blind_line(words: Wording) -> str:
    """Explain the button that declares a double nil at Spades before the first card."""
    _ = words.text
    return _("Double nil, blind: before your first card you bet 200 points on taking no trick.")


def cut_news(snapshot: TableSnapshot, words: Wording) -> str:
    """Return who cut the current deal's pack, or that nobody did; empty if nobody was asked."""
    _ = words.text
    cut_by = snapshot.cutting.cut_by
    if snapshot.cutting.is_uncut:
        return _("Nobody cut the pack.")
    if cut_by is None:
        return ""
    line = _("✂️ You cut the pack.") if cut_by == snapshot.seat else _("✂️ {name} cut the pack.")
    return line.format(name=snapshot.name(cut_by))


def ordered_games(language: str) -> list[GameKind]:
    """Return all games. Readers of Italian get those first that Italians know best."""
    return sorted(GAMES.values(), key=lambda kind: kind.italian_rank if language == "it" else 0)


def game_names(language: str) -> dict[str, str]:
    _ = texts(language).gettext
    return {kind.id: _(kind.name) for kind in ordered_games(language)}


def level_names(language: str) -> dict[str, str]:
    """Return the names of the robots' levels, from weak to strong, as on buttons."""
    _ = texts(language).gettext
    return {"easy": _("🤖 Easy"), "medium": _("🤖 Medium"), "strong": _("🤖 Strong")}


def option_names(words: Wording) -> dict[str, str]:
    _ = words.text
    return {
        "target": _("points to win"),
        "packets": _("packets"),
        "declare": _("declarations"),
        "reuse": _("a rank counts again with a new card"),
        "signals": _("busso and volo"),
        "nil_bags": _("a failed nil’s tricks are bags"),
    }


def capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def option_lines(words: Wording, kind: GameKind, rules: Mapping[str, Value], *, unusual: bool = False) -> list[str]:
    """Return the options that players can choose; with ``unusual``, without the target and the game's defaults."""
    names, lines = option_names(words), []
    for name, values in kind.rules.choices().items():
        if unusual and (name == "target" or rules[name] == kind.rules.model_fields[name].default):
            continue
        if name == "target":
            lines.append(f"{names[name]}: {int(rules[name]) * score_unit(rules)}")
        elif len(values) > 1:
            lines.append(f"{names[name]}: {value_name(words, rules[name])}")
    return lines


def write_unusual_terms(
    page: Writer,
    words: Wording,
    kind: GameKind,
    rules: Mapping[str, Value],
    clock: int,
    strict: bool,
    *,
    opener: str,
    free_seats: int,
) -> None:
    """Write the unusual options and an unusual clock.

    With ``free_seats``, write the clock even if it is usual, and how many players are missing.

    ``opener`` is the name of the player who offers the game.
    """
    _ = words.text
    for line in option_lines(words, kind, rules, unusual=True):
        page.line(capitalize(line))
    if free_seats or (clock, strict) != (DEFAULT_CLOCK_SECONDS, False):
        page.line(capitalize(clock_line(words, clock, strict)))
    if free_seats == 1 and kind.seats == 2:
        page.line(_("{name} is in, 1 more player needed"), name=opener)
    elif free_seats:
        missing_text = words.ngettext("{count} more player needed", "{count} more players needed", free_seats)
        page.line(missing_text.format(count=free_seats))


def value_name(words: Wording, value: object) -> str:
    _ = words.text
    names = {
        "true": _("yes"),
        "false": _("no"),
        "blind": _("blind"),
        "peek": _("peeked at"),
        "none": _("none"),
        "dealt": _("of the first ten cards"),
        "acquired": _("as cards come"),
        "three_tricks": _("in the first four tricks"),
        "after_first_trick": _("after the first trick"),
        "any_turn": _("at any turn"),
    }
    return names.get(format_value(value), format_value(value))


def short_clock(words: Wording, seconds: int) -> str:
    _ = words.text
    if not seconds:
        return _("no clock")
    length = _("1 day") if seconds == 86400 else f"{seconds // 60} min"
    return f"⏱ {length}"


def clock_name(words: Wording, seconds: int) -> str:
    _ = words.text
    if not seconds:
        return _("no clock")
    if seconds % 86400 == 0:
        days = seconds // 86400
        return words.ngettext("{count} day a move", "{count} days a move", days).format(count=days)
    minutes = seconds // 60
    return words.ngettext("{count} minute a move", "{count} minutes a move", minutes).format(count=minutes)


def clock_line(words: Wording, seconds: int, strict: bool) -> str:
    _, name = words.text, clock_name(words, seconds)
    return _("{clock}, strict").format(clock=name) if strict and seconds else name
