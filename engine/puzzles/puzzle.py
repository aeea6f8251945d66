"""A puzzle, and how it stands in a file: a line each."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import permutations
from string import ascii_letters
from typing import NamedTuple

from engine.cards import Pack, mask_of
from engine.games import GAMES, GameKind
from engine.position import SearchPosition, SpadesPosition
from engine.spades import SpadesDeal, hand_points

ID_LENGTH = 8


class Line(NamedTuple):
    """What follows if a card is played.

    ``cards`` are from that card on to the last, each seat playing as well as it can. ``points`` is what the deal then
    counts for the solver's side: at Tressette its own whole points, without declarations; at Spades its own points of
    the hand less the other's, a bag as one point.
    """

    cards: tuple[int, ...]
    points: int


@dataclass(frozen=True)
class Puzzle:
    """A position of play, and what each card comes to. The cards in all hands are known.

    ``id`` is the position's (`id_of`). The solver sits in seat 0 and is to move. Cards are indices of the game's pack.
    ``hands`` are by seat, ``trick`` is what lies on the table, in the order of play, so its last card was laid by the
    last seat. ``taken`` is by side, in thirds of a point at Tressette, in tricks at Spades, where there are ``bids``,
    by seat, and spades may be ``broken``. ``lines`` has one for each card that may be played; the best comes first.
    ``missed`` is how many of some simple players and searches (`engine.puzzles.making`) play another card, in
    hundredths.
    """

    id: str
    game: str
    hands: tuple[tuple[int, ...], ...]
    trick: tuple[int, ...]
    taken: tuple[int, int]
    bids: tuple[int, int] | None
    broken: bool
    lines: tuple[Line, ...]
    missed: int

    @property
    def kind(self) -> GameKind:
        return GAMES[self.game]

    @property
    def pack(self) -> Pack:
        return self.kind.pack

    @property
    def best(self) -> int:
        """The one card that is better than all others."""
        return self.lines[0].cards[0]

    @property
    def cost(self) -> int:
        """Points that the second best card gives away, at least 1."""
        return self.lines[0].points - self.lines[1].points

    def in_points(self, points: int) -> str:
        """A line's points as they are read: where they are a difference, with its sign."""
        return f"{points:+d}".replace("-", "−") if self.bids else str(points)

    def given_away(self, code: str) -> int:
        """How many points a card gives away; 0 for one that may not be played."""
        line = self.line(self.pack.index[code])
        return self.lines[0].points - line.points if line else 0

    def line(self, card: int) -> Line | None:
        """What follows that card; None if it may not be played."""
        return next((line for line in self.lines if line.cards[0] == card), None)

    def position(self) -> SearchPosition:
        """The position as searches play on it."""
        masks = [mask_of(hand) for hand in self.hands]
        if self.bids:
            return SpadesPosition.of_hand(masks, self.trick, self.taken, broken=self.broken)
        return SearchPosition.with_open_hands(masks, self.trick, self.taken)

    def outcomes(self) -> list[int]:
        """At Spades, what each number of tricks of the solver's in the whole hand counts, as in `Line.points`."""
        if self.bids is None:
            return []
        ours, theirs = self.bids
        return [
            hand_points(ours, tricks) - hand_points(theirs, SpadesDeal.LENGTH - tricks)
            for tricks in range(SpadesDeal.LENGTH + 1)
        ]

    def to_line(self) -> str:
        """As a line of a file."""
        figures = [*self.taken, *(self.bids or ()), *((int(self.broken),) if self.bids else ())]
        lines = ";".join(f"{line.points}{_written(line.cards)}" for line in self.lines)
        hands = "/".join(map(_written, self.hands))
        position = f"{self.game} {hands} {_written(self.trick) or '-'} {','.join(map(str, figures))}"
        return f"{self.id} {position} {self.missed} {lines}"

    @classmethod
    def from_line(cls, text: str) -> "Puzzle":
        """What such a line says; ValueError for what is none."""
        id_, game, hands, trick, figures, missed, lines = text.split()
        if game not in GAMES:
            raise ValueError(f"there is no game {game}")
        ours, theirs, *more = map(int, figures.split(","))
        return cls(
            id=id_,
            game=game,
            hands=tuple(map(_read, hands.split("/"))),
            trick=_read(trick.strip("-")),
            taken=(ours, theirs),
            bids=(more[0], more[1]) if more else None,
            broken=bool(more and more[2]),
            lines=tuple(_line(one) for one in lines.split(";")),
            missed=int(missed),
        )


def id_of(puzzle: Puzzle) -> str:
    """Of a puzzle's position, in hex: the same in whichever game it came about, and whichever suit is called what, but
    for spades where they are trumps.
    """
    pack, bids = puzzle.pack, puzzle.bids
    ranks, trumps = len(pack.ranks), pack.suits.index("S") if bids else -1

    def look(order: Sequence[int]) -> str:
        named = [order[card // ranks] * ranks + card % ranks for card in range(pack.size)]
        dealt = [sorted(named[card] for card in hand) for hand in puzzle.hands]
        return f"{dealt} {[named[card] for card in puzzle.trick]} {puzzle.taken} {bids} {puzzle.broken}"

    orders = (order for order in permutations(range(4)) if trumps < 0 or order[trumps] == trumps)
    return sha256(min(map(look, orders)).encode()).hexdigest()[:ID_LENGTH]


def points_of(here: SearchPosition, value: int) -> int:
    """A solver's value of a position for side 0, in the points of `Line`."""
    return value if isinstance(here, SpadesPosition) else value // 3


def _written(indices: Sequence[int]) -> str:
    return "".join(ascii_letters[card] for card in indices)


def _read(text: str) -> tuple[int, ...]:
    return tuple(ascii_letters.index(letter) for letter in text)


def _line(text: str) -> Line:
    letters = text.lstrip("-0123456789")
    return Line(_read(letters), int(text[: len(text) - len(letters)]))
