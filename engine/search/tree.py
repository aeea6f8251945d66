"""Search over what is not known: each round draws a world, walks down one tree that all worlds share by what its moves
have brought so far, tries a move, and has simple players finish.

This is information-set tree search with a single observer (Cowling, Powley and Whitehouse, 2012): a node stands for the
moves that led to it, whatever the cards were; a move that is legal in few worlds is judged by how often it was.
"""

from math import log, sqrt

from engine.search.compiled import Ints, compiled, place_of
from engine.search.playing import (
    CARDS,
    LEFT,
    SPADES,
    TURN,
    Board,
    before_playing,
    finish,
    make,
    moves,
    outcome,
    sensible,
    simply,
)
from engine.search.worlds import Worlds, draw_world

FIRST, NEXT, MOVE, VISITS, SEEN, SUM = range(6)
FIELDS = 6
"""Of a node: its first child, its next sibling, the move that leads to it, how often it was chosen and how often it
could have been, and the sum of outcomes for the side that chose it."""

LONGEST_PATH = 64

ALL_CHOICES = 12
"""With more cards to play than this, players in the tree pick up and declare by rule (`before_playing`) when that rule
has something to say. A move that only prepares another one spreads the rounds over too many branches.
"""

CARDS_ONLY = -1
"""For ``first``: the move at the root is a card."""


@compiled
def search(
    tree: Ints,
    nodes: int,
    path: Ints,
    worlds: Worlds,
    board: Board,
    rounds: int,
    explore: float,
    wild: int,
    deepest: int,
    lonely: bool,
    first: int,
) -> int:
    """Search for so many rounds in a tree that has so many nodes; returns how many it has then.

    ``first`` is a pick or a declaration made before the tree begins, or CARDS_ONLY: each of them has a tree of its own.
    The root's VISITS and SUM count all rounds, for the one to move.
    ``explore`` is what it is worth to try a move seldom tried, in the unit of outcomes. ``wild`` of 1000 moves beyond
    the tree are random. ``deepest`` is how many moves of a round are chosen by the tree. With
    ``lonely`` it chooses for the one to move alone, and the others are simple players who know their own hands: a tree
    that all worlds share would choose for them as if they did not.
    """
    full, me = len(tree) // FIELDS, worlds.start[TURN]
    for _ in range(rounds):
        if not draw_world(worlds, board):
            return nodes
        state = board.state
        if first != CARDS_ONLY:
            make(board, first)
        node, depth = 0, 0
        growing = True
        while growing and state[LEFT] and depth < deepest:
            choices = moves(board)
            if not state[SPADES] and choices & ~CARDS:
                if first == CARDS_ONLY and state[LEFT] == worlds.start[LEFT]:
                    choices &= CARDS
                elif state[LEFT] > ALL_CHOICES:
                    move = before_playing(board)
                    if move >= 0:
                        make(board, move)
                        continue
            if choices & (choices - 1) == 0:
                # What must be done is no decision.
                make(board, place_of(choices))
                continue
            if lonely and state[TURN] != me:
                move = simply(board, choices, wild)
                chosen = child_of(tree, node, move)
            else:
                chosen, untried = choose(tree, node, choices, explore)
                if untried:
                    move, chosen = sensible(board, untried), 0
                else:
                    move = tree[chosen * FIELDS + MOVE]
            if chosen == 0:
                growing = False
                if nodes < full:
                    chosen = nodes
                    add(tree, node, chosen, move)
                    nodes += 1
            if chosen:
                path[depth] = chosen if state[TURN] & 1 == 0 else -chosen
                depth += 1
                node = chosen
            make(board, move)
        finish(board, wild)
        won = outcome(state)
        tree[VISITS] += 1
        tree[SUM] += -won if me & 1 else won
        for at in range(depth):
            node = abs(path[at])
            tree[node * FIELDS + VISITS] += 1
            tree[node * FIELDS + SUM] += won if path[at] > 0 else -won
    return nodes


@compiled
def child_of(tree: Ints, node: int, move: int) -> int:
    """The child that a move leads to; 0 if there is none."""
    child = tree[node * FIELDS + FIRST]
    while child and tree[child * FIELDS + MOVE] != move:
        child = tree[child * FIELDS + NEXT]
    return int(child)


@compiled
def choose(tree: Ints, node: int, choices: int, explore: float) -> tuple[int, int]:
    """The best child by what it has brought and how little it was tried; and the choices that have no child yet."""
    chosen, highest = 0, -1e18
    child = tree[node * FIELDS + FIRST]
    while child:
        at = child * FIELDS
        bit = 1 << tree[at + MOVE]
        if choices & bit:
            choices ^= bit
            tree[at + SEEN] += 1
            visits = tree[at + VISITS]
            worth = tree[at + SUM] / visits + explore * sqrt(log(tree[at + SEEN]) / visits)
            if worth > highest:
                highest, chosen = worth, child
        child = tree[at + NEXT]
    return chosen, choices


@compiled
def add(tree: Ints, node: int, child: int, move: int) -> None:
    at = child * FIELDS
    tree[at + FIRST], tree[at + NEXT] = 0, tree[node * FIELDS + FIRST]
    tree[at + MOVE], tree[at + VISITS], tree[at + SEEN], tree[at + SUM] = move, 0, 1, 0
    tree[node * FIELDS + FIRST] = child
