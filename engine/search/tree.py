"""Monte Carlo tree search with hidden cards.

Each round deals a world, walks down a tree that all worlds share, adds a move, and lets simple players finish.

This is information-set tree search with a single observer (Cowling, Powley and Whitehouse, 2012). A node is a sequence
of moves in any world. The exploration bonus of a move depends on how often it was legal.
"""

from math import log, sqrt

from .compiled import Ints, bit_index, compiled
from .playing import CARDS, CARDS_LEFT, SPADES, TURN, Board, legal_moves, make_move, outcome
from .simple_players import move_before_card, play_out, sensible_move, simple_move
from .worlds import Worlds, draw_world

# Fields of a node: its first child, its next sibling, and the move that leads to it; the numbers of times it was chosen
# and was legal; the sum of outcomes for the side that chose it.
FIRST, NEXT, MOVE, VISITS, SEEN, SUM = range(6)
FIELDS = 6

LONGEST_PATH = 64
# With more cards left, players in the tree pick up and declare by the rule of `move_before_card`. Searching these
# moves, too, would spread the rounds over too many branches.
MAX_FREE_CARDS = 12

CARDS_ONLY = -1  # value of ``first`` if the move at the root is a card


@compiled
def search(
    tree: Ints, nodes: int, path: Ints, worlds: Worlds, board: Board, rounds: int, explore: float, wild: int,
    deepest: int, lonely: bool, first: int,
) -> int:  # fmt: skip
    """Search for ``rounds`` rounds in a tree of ``nodes`` nodes; return its new number of nodes.

    ``first`` is a pick or declaration made before the tree begins, or CARDS_ONLY; each has a separate tree. The root's
    VISITS and SUM count all rounds, from the view of the seat to move. ``explore`` is the bonus for moves seldom tried,
    in the unit of outcomes. ``wild`` of 1000 moves beyond the tree are random. ``deepest`` is the largest number of
    moves that the tree chooses in a round. With ``lonely`` the tree chooses for the seat to move only. The others are
    then simple players, who know only their own hands; in a shared tree they would choose as if they knew more.
    """
    full, me = len(tree) // FIELDS, worlds.start[TURN]
    for _ in range(rounds):
        if not draw_world(worlds, board):
            return nodes
        state = board.state
        if first != CARDS_ONLY:
            make_move(board, first)
        node, depth = 0, 0
        growing = True
        while growing and state[CARDS_LEFT] and depth < deepest:
            choices = legal_moves(board)
            if not state[SPADES] and choices & ~CARDS:
                if first == CARDS_ONLY and state[CARDS_LEFT] == worlds.start[CARDS_LEFT]:
                    choices &= CARDS
                elif state[CARDS_LEFT] > MAX_FREE_CARDS:
                    move = move_before_card(board)
                    if move >= 0:
                        make_move(board, move)
                        continue
            if choices & (choices - 1) == 0:
                # A forced move is not a decision.
                make_move(board, bit_index(choices))
                continue
            if lonely and state[TURN] != me:
                move = simple_move(board, choices, wild)
                chosen = int(tree[node * FIELDS + FIRST])
                while chosen and tree[chosen * FIELDS + MOVE] != move:
                    chosen = int(tree[chosen * FIELDS + NEXT])
            else:
                chosen, untried = choose_child(tree, node, choices, explore)
                if untried:
                    move, chosen = sensible_move(board, untried), 0
                else:
                    move = tree[chosen * FIELDS + MOVE]
            if chosen == 0:
                growing = False
                if nodes < full:
                    chosen, base = nodes, nodes * FIELDS
                    tree[base + FIRST], tree[base + NEXT] = 0, tree[node * FIELDS + FIRST]
                    tree[base + MOVE], tree[base + VISITS], tree[base + SEEN], tree[base + SUM] = move, 0, 1, 0
                    tree[node * FIELDS + FIRST] = nodes
                    nodes += 1
            if chosen:
                path[depth] = chosen if state[TURN] & 1 == 0 else -chosen
                depth += 1
                node = chosen
            make_move(board, move)
        play_out(board, wild)
        won = outcome(state)
        tree[VISITS] += 1
        tree[SUM] += -won if me & 1 else won
        for step in range(depth):
            base = abs(path[step]) * FIELDS
            tree[base + VISITS] += 1
            tree[base + SUM] += won if path[step] > 0 else -won
    return nodes


@compiled
def choose_child(tree: Ints, node: int, choices: int, explore: float) -> tuple[int, int]:
    """Return the best child by its mean outcome and the exploration bonus, and the choices that have no child yet."""
    best_child, highest = 0, -1e18
    child = tree[node * FIELDS + FIRST]
    while child:
        base = child * FIELDS
        bit = 1 << tree[base + MOVE]
        if choices & bit:
            choices ^= bit
            tree[base + SEEN] += 1
            visits = tree[base + VISITS]
            worth = tree[base + SUM] / visits + explore * sqrt(log(tree[base + SEEN]) / visits)
            if worth > highest:
                highest, best_child = worth, child
        child = tree[base + NEXT]
    return best_child, choices
