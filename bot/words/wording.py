"""Cards, moves and scores in words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from bot.picture import Suits
from bot.texts import error_text, texts
from engine import GAMES, GameKind
from engine.cards import FRENCH, ITALIAN
from engine.errors import EngineError
from engine.options import resolve

FRACTIONS = ("", "⅓", "⅔")


def thirds_text(value: int) -> str:
    """Return thirds of a point as points: 4 is 1⅓."""
    whole, rest = divmod(value, 3)
    return f"{whole or ''}{FRACTIONS[rest]}" or "0"


def score_unit(rules: Mapping[str, Any]) -> int:
    """Return the points shown for one point of the engine: three in classic Tressette, one in other games."""
    return int(rules.get("score_unit", 1))


def score_unit_of(game: str) -> int:
    """Return the `score_unit` of a game, which tables cannot choose."""
    return score_unit(resolve(GAMES[game].rules, {}).model_dump())


SUIT_SIGNS = {
    "codes": {},
    "italian": {"D": "🪙", "C": "🏆", "S": "⚔️", "B": "🪵"},
    "french": {"D": "♦️", "C": "♥️", "S": "♠️", "B": "♣️"},
    "french_pack": {"D": "♦️", "C": "♣️", "S": "♠️", "H": "♥️"},
}
"""Signs of suits, by the faces of a pack. "french" are forty cards in French suits, which records do not have."""

FRENCH_SUITS = {"D": "D", "C": "H", "S": "S", "B": "C"}  # the French suit for each Italian one, in packs of forty

RANK_SIGNS: dict[str, dict[str, str]] = {"french": {"R": "K", "C": "Q", "F": "J"}, "french_pack": {"T": "10"}}

IN_FRENCH = {code: RANK_SIGNS["french"].get(code[0], code[0]) + FRENCH_SUITS[code[1]] for code in ITALIAN.codes}
"""The French card shown instead of each Italian one to readers who prefer French suits."""


def faces_of(kind: GameKind, suits: str) -> str:
    """Return how a game's cards are shown to a reader who prefers these suits on forty cards."""
    return "french_pack" if kind.pack.is_french else suits


JOINER, NO_BREAK = "\N{WORD JOINER}", "\N{NO-BREAK SPACE}"
"""They keep rank and suit of a card on one line, and a card with its player. Labels of buttons need neither."""

MINUS = "\N{MINUS SIGN}"


def fix_minus(figure: str) -> str:
    """Return a figure with a true minus for people. Records and programs use a hyphen."""
    return figure.replace("-", MINUS)


def signed_text(figure: int) -> str:
    """Return a difference with its sign: +5, −5."""
    return fix_minus(f"{figure:+d}")


class _TextCache(dict[str, str]):
    """Texts by the codes of cards, made on first use. A panel needs about thirty."""

    def __init__(self, make: Callable[[str], str]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, code: str) -> str:
        text = self[code] = self._make(code)
        return text


class CardFaces(_TextCache):
    """Texts of cards by their codes: rank and suit's sign. The faces "codes" keep the codes of records, such as 3D.

    ``label(code)`` is a card on a button, ``rank(code)`` its rank, and ``sign(suit)`` a suit's sign. ``deck`` are the
    suits of the deck that draws it.
    """

    def __init__(self, faces: str) -> None:
        ranks, signs = RANK_SIGNS.get(faces, {}), SUIT_SIGNS[faces]

        def card(code: str) -> str:
            return ranks.get(code[0], code[0]) + (JOINER if code[1:] in signs else "") + signs.get(code[1:], code[1:])

        super().__init__(card)
        self._is_worn = faces == "french"
        self.deck: Suits = "french" if faces in ("french", "french_pack") else "italian"
        self.label = _TextCache(lambda code: card(code).replace(JOINER, "")).__getitem__
        self.rank = _TextCache(lambda code: ranks.get(code[0], code[0])).__getitem__
        self.sign = _TextCache(lambda suit: signs.get(suit, suit)).__getitem__

    def drawn_code(self, code: str) -> str:
        """Return the code of the card drawn for this one."""
        return IN_FRENCH[code] if self._is_worn else code


@cache
def card_faces(faces: str) -> CardFaces:
    return CardFaces(faces)


def refusal_text(error: EngineError, language: str, suits: str) -> str:
    """Return an engine's error as text, with the player's ``suits`` of forty cards."""
    words = Wording(language, (), "french_pack" if error.values.get("suits") == FRENCH.suits else suits)
    card, suit, shown = error.values.get("card"), error.values.get("suit"), {}
    if isinstance(card, str):
        shown["card"] = words.card(card)
    if suit in ITALIAN.suit_names:
        shown["suit"] = words.suits[ITALIAN.suits[ITALIAN.suit_names.index(str(suit))]]
    return error_text(error, language, shown)


class Wording:
    """Words in one language for a game; ``names`` are its players by seat, ``faces`` is how cards are shown."""

    def __init__(self, language: str, names: Sequence[str], faces: str = "codes") -> None:
        self.language, self.names = language, names
        self._is_worn = faces == "french"
        self.faces = card_faces(faces)
        self.card = self.faces.__getitem__
        self.text, self.ngettext = texts(language)

    @cached_property
    def suits(self) -> dict[str, str]:
        """Names of the suits of forty cards, by the letters of the Italian suits."""
        _ = self.text
        shown, faces = (FRENCH, FRENCH_SUITS) if self._is_worn else (ITALIAN, {})
        names = dict(zip(shown.suits, shown.suit_names, strict=True))
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
        _ = self.text
        if name == "points" and "declared" in entries:
            return _("points with declarations")
        return _("bags so far") if name == "bags" else self.labels[name]

    def cards(self, codes: Iterable[str]) -> str:
        return " ".join(map(self.card, codes))

    def combination(self, move: str) -> str:
        """Return a declaration's combination, such as "three twos, missing cups"."""
        _ = self.text
        _declare, kind, subject, *rest = move.split(" ")
        if kind == "four":
            return {"3": _("four threes"), "2": _("four twos"), "A": _("four aces")}[subject]
        if kind == "three":
            three = {"3": _("three threes"), "2": _("three twos"), "A": _("three aces")}[subject]
            return _("{three}, missing {suit}").format(three=three, suit=self.suits[rest[1]])
        return _("napoletana in {suit}").format(suit=self.suits[subject])

    def move(self, seat: int | None, move: str) -> str:
        _ = self.text
        word, *rest = move.split(" ")
        if "?" in rest:
            return self._hidden_exchange(seat, len(rest))
        if seat is None:
            return _("The discards give {cards}").format(cards=self.cards(rest))
        if word == "declare":
            what = self.combination(move)
            return _("{name} declares {combination}").format(name=self.names[seat], combination=what)
        if word == "play" and len(rest) > 1:
            return _("{name} plays {card} and says {signal}").format(
                name=self.names[seat], card=self.card(rest[0]), signal=rest[1]
            )
        if word == "exchange" and not rest:
            return _("{name} exchanges nothing").format(name=self.names[seat])
        if move == "bid 0":
            return _("{name} bids nil").format(name=self.names[seat])
        sentences = {
            "take": _("{name} takes packets {rest}"),
            "hold": _("{name} holds packets {rest} in hand"),
            "pick": _("{name} picks up the honour on packet {rest}"),
            "play": _("{name} plays {rest}"),
            "claim": _("{name} claims the game"),
            "draw": _("{name} draws"),
            "blind": _("{name} declares double nil"),
            "keep": _("{name} keeps the card drawn"),
            "pass": _("{name} discards the card drawn and keeps the next"),
            "exchange": _("{name} exchanges {rest}"),
            "bid": _("{name} bids {rest}"),
            "resign": _("{name} resigns"),
        }
        what = self.cards(rest) if word in ("play", "exchange") else " ".join(rest)
        return sentences[word].format(name=self.names[seat], rest=what)

    def _hidden_exchange(self, seat: int | None, count: int) -> str:
        """Return another player's exchange, with only the number of cards."""
        if seat is None:
            sentence = self.ngettext("The discards give {count} card", "The discards give {count} cards", count)
            return sentence.format(count=count)
        sentence = self.ngettext("{name} exchanges {count} card", "{name} exchanges {count} cards", count)
        return sentence.format(name=self.names[seat], count=count)

    def side(self, side: int) -> str:
        _ = self.text
        return _(" and ").join(self.names[side::2])

    def ending(self, winner: Sequence[int] | None, ending: str | None) -> str:
        """Return who won, and how; ``winner`` are seats."""
        _ = self.text
        if not winner:
            return _("The game was cancelled.")
        sentences = {
            "target": _("{side} won by reaching the target."),
            "claim": _("{side} won by claiming the game."),
            "resign": _("{side} won: {other} resigned."),
            "timeout": _("{side} won: {other} ran out of time."),
        }
        side = winner[0] & 1
        return sentences[ending or "target"].format(side=self.side(side), other=self.side(1 - side))

    def figure(self, figure: int | str | None) -> str:
        """Return a number, a bid in words, or a dash for None."""
        _ = self.text
        return {"nil": _("nil"), "double nil": _("double nil"), None: "–"}.get(figure) or fix_minus(str(figure))  # type: ignore[arg-type]

    def sides(self, figures: Sequence[int | str | None]) -> str:
        """Return each side's players with their figure."""
        return " · ".join(f"{self.side(side)} {self.figure(figure)}" for side, figure in enumerate(figures))

    def points(self, points: Sequence[int], rules: Mapping[str, object]) -> str:
        """Return each side's points in the table's unit."""
        unit = rules.get("score_unit") or 1
        return self.sides([point * unit if isinstance(unit, int) else point for point in points])

    def score(
        self, entries: Mapping[str, Sequence[Any]], totals: Sequence[int] | None, rules: Mapping[str, object]
    ) -> Iterator[str]:
        """Yield a line for each entry of a deal's score, and one for the totals if given."""
        for name, figures in entries.items():
            shown = self.points(figures, rules) if name in ("declared", "points") else self.sides(figures)
            yield f"{self.entry_name(name, entries)}: {shown}"
        if totals is not None:
            yield f"{self.labels['totals']}: {self.points(totals, rules)}"


MEDALS = {1: "🥇", 2: "🥈", 3: "🥉"}
