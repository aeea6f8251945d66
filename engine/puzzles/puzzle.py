"""Puzzles, and their format in a file: one line each."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import permutations
from string import ascii_letters
from typing import NamedTuple

from ..cards import Pack, mask_of
from ..games import GAMES, GameKind
from ..position import SearchPosition, SpadesPosition
from ..spades import SpadesDeal, deal_points

ID_LENGTH = 8


class Line(NamedTuple):
    """The rest of the deal from a card on, with perfect play by each seat.

    ``points`` is the result for the side of the person who solves the puzzle. At Tressette it is that side's whole
    points without declarations. At Spades it is that side's points of the deal minus the other's, with one point for a
    bag.
    """

    cards: tuple[int, ...]
    points: int


@dataclass(frozen=True)
class Puzzle:
    """A position of play with the result of each card. All hands are open.

    ``id`` identifies the position (`puzzle_id`). The person who solves it sits in seat 0 and moves first. Cards are
    indices of the game's pack. ``hands`` are by seat. ``trick`` are the cards on the table in the order of play; the
    last seat played the last of them. ``taken`` is by side, in thirds of a point at Tressette and in tricks at Spades.
    Only Spades has ``bids``, by seat, and ``broken``. ``lines`` has one line for each legal card, the best first.
    ``missed`` is the percentage of simple players and searches (`engine.puzzles.making`) that play another card.
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
        return self.lines[0].cards[0]

    @property
    def cost(self) -> int:
        """Points lost by the second best card, at least 1."""
        return self.lines[0].points - self.lines[1].points

    def format_points(self, points: int) -> str:
        """Return a line's points as text. Points at Spades are a difference and have a sign."""
        return f"{points:+d}".replace("-", "−") if self.bids else str(points)

    def points_lost(self, code: str) -> int:
        """Return the points that a card loses; 0 for an illegal card."""
        line = self.line(self.pack.index[code])
        return self.lines[0].points - line.points if line else 0

    def line(self, card: int) -> Line | None:
        return next((line for line in self.lines if line.cards[0] == card), None)

    def position(self) -> SearchPosition:
        masks = [mask_of(hand) for hand in self.hands]
        if self.bids:
            return SpadesPosition.from_spades_hands(masks, self.trick, self.taken, broken=self.broken)
        return SearchPosition.from_hands(masks, self.trick, self.taken)

    def outcomes(self) -> list[int]:
        """Return `Line.points` by the number of side 0's tricks in the deal; empty at Tressette."""
        if self.bids is None:
            return []
        first_bid, second_bid = self.bids
        return [
            deal_points(first_bid, tricks) - deal_points(second_bid, SpadesDeal.LENGTH - tricks)
            for tricks in range(SpadesDeal.LENGTH + 1)
        ]

    def to_line(self) -> str:
        figures = [*self.taken, *(self.bids or ()), *((int(self.broken),) if self.bids else ())]
        lines = ";".join(f"{line.points}{_encode_cards(line.cards)}" for line in self.lines)
        hands = "/".join(map(_encode_cards, self.hands))
        position = f"{self.game} {hands} {_encode_cards(self.trick) or '-'} {','.join(map(str, figures))}"
        return f"{self.id} {position} {self.missed} {lines}"

    @classmethod
    def from_line(cls, text: str) -> "Puzzle":
        """Parse a line of a file. Raises ValueError for any other text."""
        id_, game, hands, trick, figures, missed, lines = text.split()
        if game not in GAMES:
            raise ValueError(f"there is no game {game}")
        first_taken, second_taken, *bids_and_broken = map(int, figures.split(","))
        return cls(
            id=id_,
            game=game,
            hands=tuple(map(_decode_cards, hands.split("/"))),
            trick=_decode_cards(trick.strip("-")),
            taken=(first_taken, second_taken),
            bids=(bids_and_broken[0], bids_and_broken[1]) if bids_and_broken else None,
            broken=bool(bids_and_broken and bids_and_broken[2]),
            lines=tuple(map(_parse_line, lines.split(";"))),
            missed=int(missed),
        )


def puzzle_id(puzzle: Puzzle) -> str:
    """Return the id of a puzzle's position, in hex.

    Positions that differ only in their game, or by an exchange of suits other than trumps, have the same id.
    """
    pack, bids = puzzle.pack, puzzle.bids
    ranks, trumps = len(pack.ranks), pack.suits.index("S") if bids else -1

    def describe(order: Sequence[int]) -> str:
        mapped = [order[card // ranks] * ranks + card % ranks for card in range(pack.size)]
        dealt = [sorted(mapped[card] for card in hand) for hand in puzzle.hands]
        return f"{dealt} {[mapped[card] for card in puzzle.trick]} {puzzle.taken} {bids} {puzzle.broken}"

    orders = (order for order in permutations(range(4)) if trumps < 0 or order[trumps] == trumps)
    return sha256(min(map(describe, orders)).encode()).hexdigest()[:ID_LENGTH]


def value_to_points(position: SearchPosition, value: int) -> int:
    """Convert a value of `engine.search.solver` for side 0 to `Line.points`."""
    return value if isinstance(position, SpadesPosition) else value // 3


def _encode_cards(indices: Sequence[int]) -> str:
    return "".join(ascii_letters[card] for card in indices)


def _decode_cards(text: str) -> tuple[int, ...]:
    return tuple(ascii_letters.index(letter) for letter in text)


def _parse_line(text: str) -> Line:
    letters = text.lstrip("-0123456789")
    return Line(_decode_cards(letters), int(text[: len(text) - len(letters)]))
