"""Perfect play with open cards: what each card or pick of the seat to move is worth."""

from typing import NamedTuple

from ..cards import mask_of
from ..declarations import possible_combinations
from ..game import Game
from ..packets import PacketsDeal
from ..position import SpadesPosition, search_position
from ..search.compiled import COMPILED
from ..search.solver import Solver
from ..spades import SpadesDeal
from ..tressette import TressetteDeal
from .strong import move_text

# A deal with at most this many cards left is solved, by family of games.
SOLVED_TWO, SOLVED_FOUR, SOLVED_SPADES = (20, 24, 18) if COMPILED else (14, 16, 12)


class Solution(NamedTuple):
    """The results of the moves of the seat to move, with perfect play of all seats afterwards.

    ``worth`` orders the moves. For side 0 it is the side's result: thirds of a point, or at Spades its points of the
    deal minus the other's. For side 1 it is the negative of side 0's result. ``lost_points`` are the whole points that
    a move gives away. Both are by move, without declarations.
    """

    worth: dict[str, int]
    lost_points: dict[str, int]


def solve_moves(game: Game, solver: Solver) -> Solution | None:
    """Return the solution of a position; None if it has too many cards, or cards still to be drawn or declared."""
    deal, seat = game.current, game.turn
    assert deal
    assert seat is not None
    position = search_position(deal)
    limit = SOLVED_TWO if len(position.hands) == 2 else SOLVED_FOUR
    if isinstance(position, SpadesPosition):
        limit = SOLVED_SPADES
    if position.cards_left > limit or (isinstance(deal, PacketsDeal) and _can_declare_from_packets(deal)):
        return None
    value_of_move = solver.solve(position, _spades_points(deal) if isinstance(deal, SpadesDeal) else ())
    if value_of_move is None:
        return None
    sign, view = (1 if seat & 1 == 0 else -1), game.view(seat)
    worth = {move_text(view, number): sign * value for number, value in value_of_move.items()}
    points = worth
    if isinstance(deal, TressetteDeal):
        # Points are thirds rounded down, so losing a third does not always lose a point.
        points = {move: _whole_points(deal, value, sign) for move, value in worth.items()}
    top = max(points.values())
    return Solution(worth, {move: top - value for move, value in points.items()})


def _can_declare_from_packets(deal: PacketsDeal) -> bool:
    """Return whether a packet's card can complete a declaration, which the solver ignores."""
    if deal.window != "acquired":
        return False
    for seat in (0, 1):
        on_table = mask_of(card for number in deal.on_table[seat] for card in deal.packets[number])
        if possible_combinations(on_table, deal.cards[seat] | on_table, 0 if deal.reuse else deal.scored[seat]):
            return True
    return False


def _whole_points(deal: TressetteDeal, thirds: int, sign: int) -> int:
    """Return the whole points of a side.

    ``sign`` is 1 for side 0 and -1 for side 1. ``thirds`` are ``sign`` times the thirds of side 0.
    """
    total = sum(deal.WORTH) + deal.LAST_TRICK
    return (thirds if sign > 0 else total + thirds) // 3


def _spades_points(deal: SpadesDeal) -> list[int]:
    """Return side 0's points of the deal minus side 1's, by the number of side 0's tricks."""
    points = []
    for tricks in range(deal.LENGTH + 1):
        end = deal.copy()
        end.tricks, end.tricks_done = [tricks, deal.LENGTH - tricks], deal.LENGTH
        first, second = end.score().points
        points.append(first - second)
    return points
