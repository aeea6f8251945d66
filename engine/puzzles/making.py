"""Find puzzles in played games, and check them, with the exact solver.

The difficulty of a puzzle is the share of simple players and shallow searches that miss the best card. They see every
hand.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial

from ..cards import cards
from ..deal import Deal
from ..position import PacketsPosition, SearchPosition, SpadesPosition, StockPosition, search_position
from ..records import Record
from ..replay import replay
from ..search import playing, simple_players
from ..search.playing import Board, new_board
from ..search.solver import Solver
from ..spades import SpadesDeal
from .puzzle import Line, Puzzle, puzzle_id, value_to_points

MIN_CARDS, MAX_CARDS = 8, 20  # cards left in a puzzle
MIN_CHOICES = 3  # legal cards at the first move
MIN_COST, MIN_COST_AT_SPADES = 1, 10  # points lost by the second best card; one or two bags at Spades make no puzzle
MIN_MISSED = 20  # percent of simple players that must miss the best card
DEPTHS = (1, 2, 3, 4)  # cards that each search looks ahead before simple players finish
RANDOM_SEARCHES, ROUNDS = 3, 24  # random searches, and their playouts of each card
MAX_POSITIONS = 200_000  # limit of a solve; it is the same without numba, so that the same puzzles are found
WILD = 1000  # cards chosen at random in a playout, per 1000: all


def find_puzzles(record: Record, number: int, solver: Solver) -> Iterator[Puzzle]:
    """Yield a deal's puzzles in the order of play. Deals count from 1. Raises FaultyRecord for an illegal deal."""
    for game in replay(record, number):
        deal = game.current
        if deal is None or deal.turn is None or deal.phase != "play":
            continue
        if puzzle := make_puzzle(record.game, deal, solver):
            yield puzzle


def make_puzzle(game: str, deal: Deal, solver: Solver) -> Puzzle | None:
    """Return the position as a puzzle; None if it is unsuitable or too long for the solver."""
    position = search_position(deal)
    has_choice = position.legal_cards().bit_count() >= MIN_CHOICES
    if not (MIN_CARDS <= position.cards_left <= MAX_CARDS and has_choice) or _has_hidden_cards(position):
        return None
    if isinstance(deal, SpadesDeal) and (None in deal.bids or any(deal.blind)):
        return None
    seats, first = deal.seats, position.turn
    order = [(first + step) % seats for step in range(seats)]
    bids = (deal.bids[first] or 0, deal.bids[1 - first] or 0) if isinstance(deal, SpadesDeal) else None
    taken_by_side = (position.taken[first & 1], position.taken[1 - (first & 1)])
    bare = Puzzle(
        id="",
        game=game,
        hands=tuple(tuple(cards(position.hands[seat])) for seat in order),
        trick=tuple(card for _seat, card in deal.trick),
        taken=taken_by_side,
        bids=bids,
        broken=isinstance(position, SpadesPosition) and position.broken,
        lines=(),
        missed=0,
    )
    position, outcomes = bare.position(), bare.outcomes()
    value_of_move = solver.solve(position, outcomes)
    if value_of_move is None:
        return None
    points = sorted((value_to_points(position, value) for value in value_of_move.values()), reverse=True)
    min_cost = MIN_COST_AT_SPADES if bids else MIN_COST
    if len(points) < MIN_CHOICES or points[0] - points[1] < min_cost:
        return None
    lines = [
        Line(_best_line(position, card, solver, outcomes), value_to_points(position, value_of_move[card]))
        for card in value_of_move
    ]
    lines.sort(key=lambda line: -line.points)
    best_card = lines[0].cards[0]
    simple_choices = _simple_choices(position, bids)
    missed = round(100 * sum(card != best_card for card in simple_choices) / len(simple_choices))
    if missed < MIN_MISSED:
        return None
    puzzle = replace(bare, lines=tuple(lines), missed=missed)
    return replace(puzzle, id=puzzle_id(puzzle))


def _has_hidden_cards(position: SearchPosition) -> bool:
    """Return whether some cards cannot be played yet, because they are in a stock or below other cards."""
    match position:
        case StockPosition():
            return position.drawn_count < len(position.stock)
        case PacketsPosition():
            return any(len(packet) > 1 for packets in position.packets for packet in packets)
    return False


def _best_line(position: SearchPosition, card: int, solver: Solver, outcomes: Sequence[int]) -> tuple[int, ...]:
    """Return this card and the rest of the deal with perfect play. Of equal cards each seat plays the lowest."""
    position, line_cards = position.copy(), [card]
    position.play(card)
    while position.cards_left:
        legal = position.legal_cards()
        if legal & (legal - 1):
            values = solver.solve(position, outcomes)
            assert values is not None, "a position after a solved one can be solved"
            best = max(values.values()) if position.turn & 1 == 0 else min(values.values())
            card = min(move for move, value in values.items() if value == best)
        else:
            card = legal.bit_length() - 1
        position.play(card)
        line_cards.append(card)
    return tuple(line_cards)


def find_faults(puzzle: Puzzle, solver: Solver | None = None) -> Iterator[str]:
    """Yield the faults of a puzzle, in English: a wrong id or value, no single best card, or a line with another
    result.

    Pass the same ``solver`` for many puzzles, because it remembers positions.
    """
    solver = solver or Solver()
    position, outcomes = puzzle.position(), puzzle.outcomes()
    if puzzle.id != puzzle_id(puzzle):
        yield "its id belongs to another position"
    values = solver.solve(position, outcomes)
    if values is None:
        yield "it is too long to be solved"
        return
    points = {card: value_to_points(position, value) for card, value in values.items()}
    if {line.cards[0]: line.points for line in puzzle.lines} != points or len(puzzle.lines) != len(points):
        yield f"its cards come to {points}"
    elif [card for card in points if points[card] == max(points.values())] != [puzzle.best]:
        yield "it has no single best card"
    for line in puzzle.lines:
        came_to = _play_line(position, line.cards, outcomes)
        if came_to != line.points:
            yield f"the line of {puzzle.pack.codes[line.cards[0]]} comes to {came_to}"


def _play_line(position: SearchPosition, line: tuple[int, ...], outcomes: list[int]) -> int | None:
    """Return the result of a line in points; None if it cannot be played to the end."""
    position = position.copy()
    for card in line:
        if not position.cards_left or card not in cards(position.legal_cards()):
            return None
        position.play(card)
    if position.cards_left:
        return None
    taken = position.taken[0]
    return outcomes[taken] if isinstance(position, SpadesPosition) else value_to_points(position, taken)


# Simple players


def _simple_choices(position: SearchPosition, bids: Sequence[int] | None) -> list[int]:
    """Return the card that each simple player and search plays."""
    board = _make_board(position, bids)
    choices = [int(simple_players.sensible_move(board, playing.legal_cards(board)))]
    choices += [_choose_card(board, partial(_look_ahead, depth=depth)) for depth in DEPTHS]
    for number in range(RANDOM_SEARCHES):
        board.random[0] = number + 1
        choices.append(_choose_card(board, _play_randomly))
    return choices


def _make_board(position: SearchPosition, bids: Sequence[int] | None) -> Board:
    board = new_board(1)
    state = board.state
    seats = len(position.hands)
    state[playing.SEATS], state[playing.TURN], state[playing.CARDS_LEFT] = seats, position.turn, position.cards_left
    state[playing.TRICK_SIZE], state[playing.POT] = position.trick_size, position.pot
    state[playing.ALLOWED_CARDS] = position.allowed_cards
    state[playing.BEST_CARD], state[playing.WINNER] = position.best_card, position.winner
    for seat, hand in enumerate(position.hands):
        board.hands[seat] = hand
    for side in (0, 1):
        state[playing.TAKEN + side] = position.taken[side]
    if isinstance(position, SpadesPosition) and bids:
        state[playing.SPADES], state[playing.BROKEN] = 1, int(position.broken)
        state[playing.BIDS], state[playing.BIDS + 1] = bids
    return board


def _board_after(board: Board, card: int) -> Board:
    board_after = _copy_board(board)
    playing.play_card(board_after, card)
    return board_after


def _copy_board(board: Board) -> Board:
    return board._replace(state=copy(board.state), hands=copy(board.hands))


def _choose_card(board: Board, judge: Callable[[Board], int]) -> int:
    """Return side 0's card that leads to the best position; among equal cards, the lowest."""
    return max(cards(int(playing.legal_cards(board))), key=lambda card: judge(_board_after(board, card)))


def _look_ahead(board: Board, depth: int) -> int:
    """Return the outcome if both sides look this many cards ahead, and simple players finish."""
    if not board.state[playing.CARDS_LEFT]:
        return int(playing.outcome(board.state))
    if depth <= 1:
        end = _copy_board(board)
        simple_players.play_out(end, 0)
        return int(playing.outcome(end.state))
    choose = min if board.state[playing.TURN] & 1 else max
    return choose(_look_ahead(_board_after(board, card), depth - 1) for card in cards(int(playing.legal_cards(board))))


def _play_randomly(board: Board) -> int:
    """Return the total outcome of several random playouts."""
    total = 0
    for _ in range(ROUNDS):
        end = _copy_board(board)
        simple_players.play_out(end, WILD)
        total += int(playing.outcome(end.state))
    return total
