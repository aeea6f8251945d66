"""Lines that several panels share."""

from collections.abc import Mapping, Sequence

from bot.panel import Span, Writer
from bot.tables.fixtures import FixtureName
from bot.tables.snapshot import TableSnapshot
from bot.texts import texts
from bot.words.wording import NO_BREAK, Wording, faces_of, score_unit
from engine import GAMES, GameKind
from engine.rules import Value, format_value
from engine.views import DealView, LastTrick, PacketsView, SpadesView, StockView


def table_words(seen: TableSnapshot, language: str, suits: str) -> Wording:
    """Return the words for a table. Its cards have French suits if its game does, or if the reader prefers them."""
    return Wording(language, seen.names, faces_of(seen.kind, suits))


class Phrases:
    """A table's lines, in one language and for one viewer, who is "you" in lists."""

    def __init__(self, seen: TableSnapshot, words: Wording) -> None:
        self.seen, self.words, self.text = seen, words, words.text
        _ = self.text
        self.names = [_("you") if seat == seen.seat else name for seat, name in enumerate(words.names)]
        self.sides = self._side_names(0), self._side_names(1)
        """Each side's players."""

    def write_heading(self, page: Writer, deal: int) -> None:
        _ = self.text
        game, code = Span(_(self.seen.kind.name), "bold"), Span(self.seen.code, "code")
        if self.seen.fixture and self.seen.is_duplicate:
            page.line(_("{game} · {code}"), game=game, code=code)
        else:
            page.line(_("{game} · {code} · deal {deal}"), game=game, code=code, deal=deal)
        self.write_fixture(page)

    def write_fixture(self, page: Writer) -> None:
        """Which game of which tournament it is, if it is any."""
        if self.seen.fixture:
            page.line(fixture_line(self.words, FixtureName.of(self.seen.fixture)))

    def _side_names(self, side: int) -> str:
        return self.text(" and ").join(self._players(side))

    def _players(self, side: int) -> list[str]:
        """A side's players; whoever reads it stands first, where there is room for all that is to be known."""
        names = self.names[side::2]
        return names[::-1] if self.seen.seat == side + 2 else names

    def partners(self, side: int) -> tuple[str, ...]:
        """The players of a side on which there are more than one."""
        players = self._players(side)
        return tuple(players) if len(players) > 1 else ()

    def totals(self, totals: Sequence[int]) -> str:
        """Each side's points, as large as the table counts them, and what they play to."""
        _ = self.text
        unit = score_unit(self.seen.rules)
        sides = " — ".join(
            [f"{side} {self.words.figure(total * unit)}" for side, total in zip(self.sides, totals, strict=True)]
        )
        if self.seen.is_duplicate:
            return sides
        return _("{sides} · to {target}").format(sides=sides, target=int(self.seen.rules["target"]) * unit)

    def side_figures(self, figures: Sequence[int]) -> str:
        """A figure of each side's beside its players."""
        return " · ".join([f"{side} {figure}" for side, figure in zip(self.sides, figures, strict=True)])

    def write_trick(self, page: Writer, deal: DealView) -> None:
        """The trick that is being played, as far as it has come."""
        if deal.trick:
            cards = " · ".join([self.played_card(*played) for played in deal.trick])
            page.line(self.text("On the table: {cards}"), "bold", cards=cards)

    def write_packets(self, page: Writer, deal: DealView) -> None:
        """The packets that lie before each player: their numbers, top cards, and how many cards there are in each."""
        _ = self.text
        if not isinstance(deal, PacketsView):
            return
        for seat, name in enumerate(self.words.names):
            owned = [packet for packet in deal.packets if packet.owner == seat and packet.place in ("table", "taken")]
            tops = "  ".join(
                NO_BREAK.join(
                    (f"{packet.number}:", self.words.card(packet.top), f"({packet.left})")
                    if packet.top
                    else (str(packet.number), f"({packet.left})")
                )
                for packet in owned
            )
            if tops and seat == self.seen.seat:
                page.line(_("Your packets: {tops}"), tops=tops)
            elif tops:
                page.line(_("Packets of {name}: {tops}"), name=name, tops=tops)

    def robot_lines(self) -> list[str]:
        """For whom a robot has moved, as their time was up; until they move themselves."""
        _ = self.text
        return [
            _("🤖 Your time was up: a robot moved for you.")
            if seat == self.seen.seat
            else _("🤖 {name}'s time was up: a robot moved.").format(name=self.seen.name(seat))
            for seat, count in enumerate(self.seen.lates)
            if count
        ]

    def stock_text(self, deal: DealView) -> str:
        """How many cards there are in the stock; empty where there is none."""
        count = stock_count(self.seen, deal)
        cards = self.words.ngettext("{count} card in the stock", "{count} cards in the stock", count)
        return cards.format(count=count) if count else ""

    def write_bids(self, page: Writer, deal: DealView) -> None:
        """What was bid, and each side's bags, if there are any."""
        _ = self.text
        if isinstance(deal, SpadesView) and any(bid is not None for bid in deal.bids):
            bids = " · ".join([f"{self.names[seat]} {self.words.figure(bid)}" for seat, bid in enumerate(deal.bids)])
            page.line(_("Bids: {bids}"), bids=bids)
        if self.seen.view and any(self.seen.view.bags):
            page.line(_("Bags: {sides}"), sides=self.side_figures(self.seen.view.bags))

    def trick_text(self, trick: LastTrick) -> str:
        """A trick that is over: who played what, and who took it."""
        cards = " · ".join([self.played_card(seat, card, signal) for seat, card, signal in trick.cards])
        return f"{cards} →{NO_BREAK}{self.names[trick.winner]}"

    def played_card(self, seat: int, card: str, signal: str | None = None) -> str:
        said = f" “{signal}!”" if signal else ""
        return f"{self.names[seat]}{NO_BREAK}{self.words.card(card)}{said}"

    def write_score(
        self, page: Writer, entries: Mapping[str, Sequence[object]], totals: tuple[int, int] | None = None
    ) -> None:
        """What a deal counted, a line an entry, and the totals, if those do not stand elsewhere; thirds are left to who
        wants to check the record.
        """
        words = Wording(self.words.language, self.names)
        for line in words.score(
            {name: value for name, value in entries.items() if name != "thirds"}, totals, self.seen.rules
        ):
            page.line(capitalize(line))


def stock_count(seen: TableSnapshot, deal: DealView) -> int:
    """How many cards lie in a deal's stock, the same for whoever looks."""
    if isinstance(deal, StockView):
        return deal.stock
    if isinstance(deal, SpadesView) and deal.phase == "draft":
        # The card being looked at still lies on top of the stock, but counts as drawn. From one's first draw on there
        # is one whenever it is one's turn.
        return deal.stock - ((deal.turn, "draw") in seen.history)
    return 0


def fixture_line(words: Wording, name: FixtureName) -> str:
    """Which game of a tournament it is. In a return deal each side has the seats that the other had before."""
    _ = words.text
    line = _("🏆 Tournament {code} · round {round} · match {match}").format(
        code=name.tournament, round=name.round, match=name.match + 1
    )
    if not name.is_duplicate:
        return line
    deal = _("deal {number}") if name.deal % 2 else _("return deal {number}")
    return f"{line} · {deal.format(number=name.deal)}"


def shown_points(seen: TableSnapshot, points: int) -> int:
    """Whole points as large as the table counts them: classic Tressette shows three for one."""
    return points * score_unit(seen.rules)


def turn_line(seen: TableSnapshot, words: Wording) -> str:
    """Whose turn it is; for the viewer, what there is to be done. Empty if it is nobody's."""
    _ = words.text
    if seen.turn is None or not seen.view or not seen.view.deal:
        return ""
    if not seen.my_turn:
        return _("{name} is to move.").format(name=seen.name(seen.turn))
    deal = seen.view.deal
    asks = {
        "take": _("Your turn: take four packets."),
        "hold": _("Your turn: which two packets do you take in hand?"),
        "draft": _("Your turn: keep it, or throw it away and keep the next?")
        if isinstance(deal, SpadesView) and deal.drawn
        else _("Your turn: draw a card."),
        "exchange": _("Double nil: you may exchange up to three cards."),
        "bid": _("Your turn: how many tricks do you bid?"),
    }
    return asks.get(deal.phase, _("Your turn."))


def game_names(language: str) -> dict[str, str]:
    """What the games are called in a language, by their ids."""
    _ = texts(language).gettext
    return {kind.id: _(kind.name) for kind in GAMES.values()}


def option_names(words: Wording) -> dict[str, str]:
    """What the options are called in front of players."""
    _ = words.text
    return {
        "target": _("points to win"),
        "packets": _("packets"),
        "declare": _("declarations"),
        "reuse": _("a rank counts again with a new card"),
        "signals": _("busso and volo"),
        "nil_bags": _("a failed nil's tricks are bags"),
    }


def capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def option_lines(words: Wording, kind: GameKind, rules: Mapping[str, Value], *, unusual: bool = False) -> list[str]:
    """The options and their values: what cannot be chosen, or has no name in front of players, is left out.

    With ``unusual`` only those that are not the game's default, and not the target.
    """
    names, lines = option_names(words), []
    for name, values in kind.rules.choices().items():
        if unusual and (name == "target" or rules[name] == kind.rules.model_fields[name].default):
            continue
        value: object = rules[name]
        if name == "target":
            value = int(rules[name]) * score_unit(rules)
        elif len(values) < 2 or name not in names:
            continue
        lines.append(f"{names[name]}: {value_name(words, value)}")
    return lines


def value_name(words: Wording, value: object) -> str:
    """What an option's value is called."""
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
    """How long a move may take, on a button."""
    _ = words.text
    if not seconds:
        return _("no clock")
    length = _("1 day") if seconds == 86400 else f"{seconds // 60} min"
    return f"⏱ {length}"


def clock_name(words: Wording, seconds: int) -> str:
    """How long a move may take."""
    _ = words.text
    if not seconds:
        return _("no clock")
    if seconds % 86400 == 0:
        days = seconds // 86400
        return words.ngettext("{count} day a move", "{count} days a move", days).format(count=days)
    minutes = seconds // 60
    return words.ngettext("{count} minute a move", "{count} minutes a move", minutes).format(count=minutes)


def clock_line(words: Wording, seconds: int, strict: bool) -> str:
    """A clock, and whether it is strict."""
    _, name = words.text, clock_name(words, seconds)
    return _("{clock}, strict").format(clock=name) if strict and seconds else name
