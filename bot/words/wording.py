"""Cards, moves and scores in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from bot.panel_picture import Suits
from bot.texts import decimal_mark, texts
from engine import GAMES, GameKind
from engine.cards import FRENCH, ITALIAN
from engine.options import resolve

SEAL_DIGITS = 12  # number of digits of a seal that players read; a button shows all 64


def thirds_text(value: int) -> str:
    """Return thirds of a point as points: 4 is 1⅓."""
    whole, thirds = divmod(value, 3)
    return f"{whole or ''}{('', '⅓', '⅔')[thirds]}" or "0"


def lost_text(thirds: int) -> str:
    """Return thirds of a point that a side loses: 2 is −⅔."""
    return f"{MINUS if thirds else ''}{thirds_text(thirds)}"


def score_unit(rules: Mapping[str, Any]) -> int:
    """Return the points shown for one point of the engine: three in classic Tressette, one in other games."""
    return int(rules.get("score_unit", 1))


@cache
def score_unit_of(game: str) -> int:
    """Return the `score_unit` of a game, which tables cannot choose."""
    return score_unit(resolve(GAMES[game].rules, {}).model_dump())


def target_text(rules: Mapping[str, Any]) -> str:
    """Return the points that win a game: "21", or "63 (21 × 3)" in classic Tressette, which counts three for one."""
    target, unit = int(rules["target"]), score_unit(rules)
    return f"{target * unit} ({target} × {unit})" if unit > 1 else str(target)


def usual_deals(kind: GameKind, target: int) -> int:
    """Return about how many deals a game to ``target`` lasts."""
    return max(1, round(target / kind.winner_points))


def target_choice(language: str, kind: GameKind, target: int) -> str:
    """Return the points that win, and how long that takes: "51 · about 7 deals"."""
    _, ngettext = texts(language)
    unit, deals = score_unit_of(kind.id), usual_deals(kind, target)
    length = ngettext("about {count} deal", "about {count} deals", deals).format(count=deals)
    points = _("{points} ({target} at the bar)").format(points=target * unit, target=target) if unit > 1 else target
    return f"{points} · {length}"


def target_about(language: str, kind: GameKind, target: int) -> str:
    """Explain the points that win a game in one line."""
    _, ngettext = texts(language)
    unit, deals = score_unit_of(kind.id), usual_deals(kind, target)
    if unit > 1:
        line = _("{points} points win. At the bar that is {target}: here each third of a point counts 1.")
        return line.format(points=target * unit, target=target)
    line = ngettext(
        "{points} points win, usually after {count} deal.", "{points} points win, usually after {count} deals.", deals
    )
    return line.format(points=target, count=deals)


SUIT_SIGNS = {
    "codes": {},
    "italian": {"D": "🪙", "C": "🏆", "S": "⚔️", "B": "🪵"},
    "french": {"D": "♦️", "C": "♥️", "S": "♠️", "B": "♣️"},
    "french_pack": {"D": "♦️", "C": "♣️", "S": "♠️", "H": "♥️"},
}
"""Signs of suits, by the faces of a pack. "french" shows forty cards in French suits, which records do not have."""

FRENCH_SUITS = {"D": "D", "C": "H", "S": "S", "B": "C"}  # the French suit for each Italian one, in packs of forty

RANK_SIGNS: dict[str, dict[str, str]] = {"french": {"R": "K", "C": "Q", "F": "J"}, "french_pack": {"T": "10"}}

IN_FRENCH = {code: RANK_SIGNS["french"].get(code[0], code[0]) + FRENCH_SUITS[code[1]] for code in ITALIAN.codes}
"""The French card that readers who prefer French suits see instead of each Italian one."""


def faces_of(kind: GameKind, suits: str) -> str:
    """Return the faces of a game's cards for a reader who prefers these suits on forty cards."""
    return "french_pack" if kind.pack.is_french else suits


# Joiners keep a card's rank and suit on one line, and a card with its player. Labels of buttons need neither.
JOINER, NO_BREAK = "\N{WORD JOINER}", "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"
MEDALS = {1: "🥇", 2: "🥈", 3: "🥉"}


def fix_minus(figure: str) -> str:
    """Return a number for people, with a true minus. Records and programs use a hyphen."""
    return figure.replace("-", MINUS)


def decimal_text(figure: str, language: str) -> str:
    """Return a number with a language's decimal mark and a true minus: −2.5, in Italian −2,5."""
    return fix_minus(figure).replace(".", decimal_mark(language) if "." in figure else ".")


def short_seal(seal: str) -> str:
    """Return the first digits of a seal, by which people recognize it."""
    return f"{seal[:SEAL_DIGITS]}…"


def score_pair(first_points: int, second_points: int) -> str:
    """Return two sides' points: 12–2, or 61 : −70, because a minus after a dash is hard to read."""
    separator = " : " if min(first_points, second_points) < 0 else "–"
    return fix_minus(f"{first_points}{separator}{second_points}")


def score_line(language: str, sides: str, target: int | None = None) -> str:
    """Return the score with each side's name, such as "Score (to 21): Anna 12, Bruno 2".

    ``target`` is None for a single deal.
    """
    _ = texts(language).gettext
    line = _("Score (to {target}): {sides}") if target else _("Score: {sides}")
    return line.format(target=target, sides=sides)


def signed_text(figure: int) -> str:
    """Return a difference with its sign: +5, −5."""
    return fix_minus(f"{figure:+d}")


class CardFaces:
    """Texts of cards by their codes. The faces "codes" keep the codes of records, such as 3D.

    ``deck`` names the suits in which the cards are drawn.
    """

    def __init__(self, faces: str) -> None:
        self._ranks, self._signs = RANK_SIGNS.get(faces, {}), SUIT_SIGNS[faces]
        self.is_french = faces == "french"  # shows Italian cards as French ones
        self.deck: Suits = "french" if faces in ("french", "french_pack") else "italian"
        # A panel needs about thirty of these texts, mostly the same as the previous panel.
        self.card, self.label = cache(self._card), cache(self._label)
        self.rank, self.sign = cache(self._rank), cache(self._sign)

    def _card(self, code: str) -> str:
        return self.rank(code) + (JOINER if code[1:] in self._signs else "") + self.sign(code[1:])

    def _label(self, code: str) -> str:
        return self.rank(code) + self.sign(code[1:])

    def _rank(self, code: str) -> str:
        return self._ranks.get(code[0], code[0])

    def _sign(self, suit: str) -> str:
        return self._signs.get(suit, suit)

    def drawn_code(self, code: str) -> str:
        return IN_FRENCH[code] if self.is_french else code


card_faces = cache(CardFaces)


class Wording:
    """Words in one language for a game. ``names`` are the players by seat. ``faces`` says how cards are shown."""

    def __init__(self, language: str, names: Sequence[str], faces: str = "codes") -> None:
        self.language, self.names = language, names
        self.faces = card_faces(faces)
        self.card = self.faces.card
        self.text, self.ngettext = texts(language)

    @cached_property
    def suits(self) -> dict[str, str]:
        """Names of the suits of forty cards, by the letters of the Italian suits."""
        _ = self.text
        pack, faces = (FRENCH, FRENCH_SUITS) if self.faces.is_french else (ITALIAN, {})
        names = dict(zip(pack.suits, pack.suit_names, strict=True))
        return {letter: _(names[faces.get(letter, letter)]) for letter in ITALIAN.suits}

    @cached_property
    def labels(self) -> dict[str, str]:
        """Names of a record's entries and of things on a table."""
        _ = self.text
        return {
            "bags": _("bags"),
            "bids": _("bids"),
            "declared": _("declared"),
            "drawn": self.ngettext("drawn", "drawn cards", 1),
            "hand": _("hand"),
            "points": _("points"),
            "secret": _("secret"),
            "shown": _("shown"),
            "stock": _("stock"),
            "thirds": _("thirds"),
            "totals": _("totals"),
            "trick": _("trick"),
            "tricks": _("tricks"),
        }

    def entry_name(self, name: str, entries: Collection[str]) -> str:
        """Return the name of one of a deal's ``entries``, which can depend on the others."""
        _ = self.text
        if name == "points" and "declared" in entries:
            return _("points with declarations")
        return _("bags so far") if name == "bags" else self.labels[name]

    def cards(self, codes: Iterable[str]) -> str:
        return " ".join(map(self.card, codes))

    def combination(self, move: str) -> str:
        """Return a declaration's combination, such as "three twos, all but cups" or "napoletana in cups (3 2 A)"."""
        _ = self.text
        _declare, kind, _subject, *details = move.split(" ")
        name = self.combination_name(move)
        if kind == "three":
            return _("{three}, all but {suit}").format(three=name, suit=self.suits[details[1]])
        return name if kind == "four" else f"{name} (3 2 A)"

    def combination_name(self, move: str) -> str:
        """Return a declaration's combination without the missing suit, such as "three twos"."""
        _ = self.text
        _declare, kind, subject, *_details = move.split(" ")
        if kind == "four":
            return {"3": _("four threes"), "2": _("four twos"), "A": _("four aces")}[subject]
        if kind == "three":
            return {"3": _("three threes"), "2": _("three twos"), "A": _("three aces")}[subject]
        return _("napoletana in {suit}").format(suit=self.suits[subject])

    def again(self, earlier_moves: Iterable[Sequence[object]], seat: int | None, move: str) -> str:
        """Return a note if a seat has declared the same before in this deal, such as three aces; otherwise nothing."""
        _, subject = self.text, move.split(" ")[:3]
        is_again = any(by == seat and str(earlier).split(" ")[:3] == subject for by, earlier, *_rest in earlier_moves)
        return _(" (again)") if is_again and subject[0] == "declare" else ""

    def move(self, seat: int | None, move: str) -> str:
        _ = self.text
        word, *rest = move.split(" ")
        if "?" in rest:
            # Another player's exchange: only the number of cards is known.
            count = len(rest)
            if seat is None:
                sentence = self.ngettext("The discards give {count} card", "The discards give {count} cards", count)
                return sentence.format(count=count)
            sentence = self.ngettext("{name} exchanges {count} card", "{name} exchanges {count} cards", count)
            return sentence.format(name=self.names[seat], count=count)
        if seat is None:
            return _("The discards give {cards}").format(cards=self.cards(rest))
        if word == "declare":
            return _("{name} declares {combination}").format(name=self.names[seat], combination=self.combination(move))
        if word == "play" and len(rest) > 1:
            return _("{name} plays {card} and says {signal}").format(
                name=self.names[seat], card=self.card(rest[0]), signal=rest[1]
            )
        sentences = {
            "take": _("{name} takes packets {rest}"),
            "hold": _("{name} holds packets {rest} in hand"),
            "pick": _("{name} takes the top of packet {rest} into hand"),
            "play": _("{name} plays {rest}"),
            "claim": _("{name} claims the game"),
            "draw": _("{name} draws"),
            "blind": _("{name} declares double nil"),
            "keep": _("{name} keeps the card drawn"),
            "pass": _("{name} discards the card drawn and keeps the next"),
            "exchange": _("{name} exchanges {rest}") if rest else _("{name} exchanges nothing"),
            "bid": _("{name} bids nil") if rest == ["0"] else _("{name} bids {rest}"),
            "resign": _("{name} resigns"),
        }
        arguments = self.cards(rest) if word in ("play", "exchange") else " ".join(rest)
        return sentences[word].format(name=self.names[seat], rest=arguments)

    def pick(self, seat: int, move: str, card: str) -> str:
        """Return that a seat picked up a card from a packet; ``move`` names only the packet."""
        _, packet = self.text, move.split(" ")[1]
        line = _("{name} takes {card} from packet {packet} into hand")
        return line.format(name=self.names[seat], card=self.card(card), packet=packet)

    def side(self, side: int) -> str:
        _ = self.text
        return _(" and ").join(self.names[side::2])

    def ending(self, winner: Sequence[int] | None, ending: str | None) -> str:
        """Return who won, and how; ``winner`` are seats."""
        _ = self.text
        if not winner:
            return _("The game was cancelled.")
        ngettext, side = self.ngettext, winner[0] & 1
        count = len(self.names[side::2])
        sentences = {
            "target": ngettext("{side} won by reaching the target.", "{side} won by reaching the target.", count),
            "claim": ngettext("{side} won by claiming the game.", "{side} won by claiming the game.", count),
            "resign": ngettext("{side} won: {other} resigned.", "{side} won: {other} resigned.", count),
            "timeout": ngettext("{side} won: {other} ran out of time.", "{side} won: {other} ran out of time.", count),
        }
        return sentences[ending or "target"].format(side=self.side(side), other=self.side(1 - side))

    def figure(self, figure: int | str | None) -> str:
        """Return a number, a bid in words, or a dash for None."""
        if isinstance(figure, int):
            return fix_minus(str(figure))
        _ = self.text
        return {"nil": _("nil"), "double nil": _("double nil"), None: "–"}.get(figure) or fix_minus(str(figure))

    def sides(self, figures: Sequence[Any]) -> str:
        return ", ".join(f"{self.side(side)} {self.figure(figure)}" for side, figure in enumerate(figures))

    def points(self, points: Sequence[int], rules: Mapping[str, object]) -> str:
        """Return each side's points in the table's unit."""
        unit = score_unit(rules)
        return self.sides([point * unit for point in points])

    def score(
        self, entries: Mapping[str, Sequence[Any]], totals: Sequence[int] | None, rules: Mapping[str, object]
    ) -> Iterator[str]:
        """Yield a line for each entry of a deal's score, and one for the totals if given."""
        for name, figures in entries.items():
            figures_text = self.points(figures, rules) if name in ("declared", "points") else self.sides(figures)
            yield f"{self.entry_name(name, entries)}: {figures_text}"
        if totals is not None:
            yield f"{self.labels['totals']}: {self.points(totals, rules)}"
