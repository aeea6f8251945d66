"""Puzzles found in games that were played: an ending is one if a single card is better than all others.

Whether it is one the exact solver says; how hard it is, how many of some simple players and shallow searches play
another card, all of whom see every hand.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial

from engine.cards import cards
from engine.deal import Deal
from engine.position import PacketsPosition, SearchPosition, SpadesPosition, StockPosition, search_position
from engine.puzzles.puzzle import Line, Puzzle, id_of, points_of
from engine.records import Record
from engine.replay import replay
from engine.search import playing
from engine.search.playing import Board, new_board
from engine.search.solver import Solver
from engine.spades import SpadesDeal

FEWEST, MOST_TWO, MOST_FOUR = 8, 20, 20
"""Cards that are left in a puzzle, for two hands and for four."""

FEWEST_CHOICES = 3
"""Cards that may be played at its first move."""

LEAST_COST, LEAST_COST_AT_SPADES = 1, 10
"""Points that the second best card gives away at least: at Spades what turns on a bag or two is no puzzle."""

LEAST_MISSED = 20
"""In hundredths: what nearly everybody finds is no puzzle."""

DEPTHS = (1, 2, 3, 4)
"""How many cards ahead the searches look before they have simple players finish."""

RANDOM_SEARCHES, ROUNDS = 3, 24
"""So many searches that play on at random, each so often for a card."""

POSITIONS = 200_000
"""After so many positions a solve is given up, with compiled searches as without: so that the same ones are found."""

WILD = 1000
"""Of a thousand cards, those that are played at random."""


def puzzles_of(record: Record, number: int, solver: Solver) -> Iterator[Puzzle]:
    """The puzzles in a deal of a game, by the deal's number from 1, in the order of play.

    FaultyRecord if the deal cannot be replayed.
    """
    for game in replay(record, number):
        deal = game.current
        if deal is None or deal.turn is None or deal.phase != "play":
            continue
        puzzle = puzzle_at(record.game, deal, solver)
        if puzzle is not None:
            yield puzzle


def puzzle_at(game: str, deal: Deal, solver: Solver) -> Puzzle | None:
    """The position as a puzzle; None if it is none, or not one that the solver can see through."""
    here = search_position(deal)
    most = MOST_TWO if deal.seats == 2 else MOST_FOUR
    if not FEWEST <= here.left <= most or _is_hidden(here) or here.legal().bit_count() < FEWEST_CHOICES:
        return None
    if isinstance(deal, SpadesDeal) and (None in deal.bids or any(deal.blind)):
        return None
    seats, first = deal.seats, here.turn
    order = [(first + step) % seats for step in range(seats)]
    bids = (deal.bids[first] or 0, deal.bids[1 - first] or 0) if isinstance(deal, SpadesDeal) else None
    taken = (here.taken[first & 1], here.taken[1 - (first & 1)])
    bare = Puzzle(
        id="",
        game=game,
        hands=tuple(tuple(cards(here.hands[seat])) for seat in order),
        trick=tuple(card for _seat, card in deal.trick),
        taken=taken,
        bids=bids,
        broken=isinstance(here, SpadesPosition) and here.broken,
        lines=(),
        missed=0,
    )
    here, outcomes = bare.position(), bare.outcomes()
    values = solver.solve(here, outcomes)
    if values is None:
        return None
    points = sorted((points_of(here, value) for value in values.values()), reverse=True)
    least = LEAST_COST_AT_SPADES if bids else LEAST_COST
    if len(points) < FEWEST_CHOICES or points[0] - points[1] < least:
        return None
    lines = [Line(_played_on(here, card, solver, outcomes), points_of(here, values[card])) for card in values]
    lines.sort(key=lambda line: -line.points)
    best = lines[0].cards[0]
    chosen = _choices(here, bids)
    missed = round(100 * sum(card != best for card in chosen) / len(chosen))
    if missed < LEAST_MISSED:
        return None
    puzzle = replace(bare, lines=tuple(lines), missed=missed)
    return replace(puzzle, id=id_of(puzzle))


def _is_hidden(here: SearchPosition) -> bool:
    """Whether cards lie where they cannot be played from yet."""
    match here:
        case StockPosition():
            return here.drawn < len(here.stock)
        case PacketsPosition():
            return any(len(packet) > 1 for packets in here.packets for packet in packets)
    return False


def _played_on(here: SearchPosition, card: int, solver: Solver, outcomes: Sequence[int]) -> tuple[int, ...]:
    """The cards from that one on to the last, if everybody plays as well as can be; of equals the lowest."""
    here, played = here.copy(), [card]
    here.play(card)
    while here.left:
        legal = here.legal()
        if legal & (legal - 1):
            values = solver.solve(here, outcomes)
            assert values is not None, "what was solved once is solved again, with a card less"
            best = max(values.values()) if here.turn & 1 == 0 else min(values.values())
            card = min(one for one, value in values.items() if value == best)
        else:
            card = legal.bit_length() - 1
        here.play(card)
        played.append(card)
    return tuple(played)


# Simple players


def _choices(here: SearchPosition, bids: Sequence[int] | None) -> list[int]:
    """What each of them plays."""
    board = _board(here, bids)
    found = [int(playing.sensible(board, playing.legal(board)))]
    found += [_searched(board, partial(_looked_ahead, depth=depth)) for depth in DEPTHS]
    for number in range(RANDOM_SEARCHES):
        board.random[0] = number + 1
        found.append(_searched(board, _tried))
    return found


def _board(here: SearchPosition, bids: Sequence[int] | None) -> Board:
    board = new_board(1)
    state = board.state
    seats = len(here.hands)
    state[playing.SEATS], state[playing.TURN], state[playing.LEFT] = seats, here.turn, here.left
    state[playing.LAID], state[playing.POT], state[playing.WANTED] = here.laid, here.pot, here.wanted
    state[playing.BEST], state[playing.WINNER] = here.best, here.winner
    for seat, hand in enumerate(here.hands):
        board.hands[seat] = hand
    for side in (0, 1):
        state[playing.TAKEN + side] = here.taken[side]
    if isinstance(here, SpadesPosition) and bids:
        state[playing.SPADES], state[playing.BROKEN] = 1, int(here.broken)
        state[playing.BIDS], state[playing.BIDS + 1] = bids
    return board


def _after(board: Board, card: int) -> Board:
    after = _copied(board)
    playing.play(after, card)
    return after


def _copied(board: Board) -> Board:
    return board._replace(state=copy(board.state), hands=copy(board.hands))


def _searched(board: Board, judge: Callable[[Board], int]) -> int:
    """The card after which a judge likes the position best for side 0, who is to move; of equals the lowest."""
    return max(cards(int(playing.legal(board))), key=lambda card: judge(_after(board, card)))


def _looked_ahead(board: Board, depth: int) -> int:
    """What a position comes to if both sides look so many cards ahead, and simple players finish."""
    if not board.state[playing.LEFT]:
        return int(playing.outcome(board.state))
    if depth <= 1:
        end = _copied(board)
        playing.finish(end, 0)
        return int(playing.outcome(end.state))
    choose = min if board.state[playing.TURN] & 1 else max
    return choose(_looked_ahead(_after(board, card), depth - 1) for card in cards(int(playing.legal(board))))


def _tried(board: Board) -> int:
    """What a position comes to if both sides play at random, of several times."""
    total = 0
    for _ in range(ROUNDS):
        end = _copied(board)
        playing.finish(end, WILD)
        total += int(playing.outcome(end.state))
    return total
