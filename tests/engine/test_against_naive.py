"""The engine and a naive second one agree on legal moves, scores and node counts."""

from copy import deepcopy
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import GAMES, Game, legal_moves_for_record
from engine.errors import IllegalMove
from tests.engine.naive import Naive, NaiveTressette, naive_deal
from tests.engine.tables import play_random_step, random_rules
from tests.long import long


@pytest.mark.parametrize("game", GAMES)
@given(seed=st.integers(0, 2**32))
def test_both_engines_agree_on_moves_and_scores(game: str, seed: int) -> None:
    random = Random(seed)
    table = Game(game, random_rules(game, random))
    for _ in range(3):
        if table.is_over:
            return
        leader, bags = (table.current.leader if table.current else None), table.bags
        table.deal(random.randbytes(32))
        deal = table.record().deals[-1]
        naive = naive_deal(table.rules.model_dump(), deal.dealer, deal.pack, leader, bags)
        while not table.needs_deal and not table.is_over:
            for seat in range(table.kind.seats):
                assert legal_moves_for_record(table, seat) == naive.legal(seat)
            assert table.turn == naive.turn()
            before = len(table.moves)
            play_random_step(table, random)
            for by, move in table.moves[before:]:
                naive.play(by, move)  # type: ignore[arg-type]
        entries = {name: list(value) for name, value in table.record().deals[-1].entries().items()}
        assert entries == naive.score()


@given(
    seed=st.integers(0, 2**32),
    ties=st.integers(0, 40) | st.sampled_from([20, 21, 22, 25]),
    behind=st.just(0) | st.integers(0, 5),
)
def test_both_engines_agree_on_claims(seed: int, ties: int, behind: int) -> None:
    random = Random(seed)
    table = Game("tressette", random_rules("tressette", random), dealer=0)
    # A game at or above the target continues only after a tie.
    totals = (ties, ties if ties >= table.rules.target else max(0, ties - behind))
    table.totals = totals
    table.deal(random.randbytes(32))
    naive = naive_deal(table.rules.model_dump(), 0, table.record().deals[0].pack)
    assert isinstance(naive, NaiveTressette)
    while not table.needs_deal:
        for seat in range(4):
            assert accepts(table, seat, "claim") == naive.is_claim_right(seat, totals)
        before = len(table.moves)
        play_random_step(table, random)
        if table.is_over:
            return
        for by, move in table.moves[before:]:
            naive.play(by, move)  # type: ignore[arg-type]


def accepts(table: Game, seat: int, move: str) -> bool:
    try:
        table.copy().play(seat, move)
    except IllegalMove:
        return False
    return True


# Node counts: the number of move sequences of a given length. They include moves out of turn, but no claims and no
# resignations. Both engines must give these golden figures.

NODE_COUNTS = [
    # game, options, number of the secret, random moves before, depth, sequences
    ("pizzichino", {}, 0, 0, 4, 31_680),
    ("pizzichino", {"reuse": True}, 1, 30, 7, 2_119),
    ("pizzichino", {"declare": "dealt", "packets": "peek"}, 2, 3, 5, 12_405),
    ("spizzichino", {}, 3, 3, 5, 22_301),
    ("metamazzo", {}, 4, 0, 5, 6_435),
    long(("metamazzo", {}, 5, 16, 5, 14_070)),
    ("testa", {}, 6, 0, 5, 6_440),
    long(("testa", {}, 7, 24, 7, 40_650)),
    long(("tressette", {}, 8, 0, 6, 24_714)),
    ("tressette", {}, 9, 4, 5, 27_558),
    ("tavolo", {}, 10, 0, 6, 2_756),
    long(("tavolo", {}, 11, 24, 9, 2_790)),
    long(("spades", {}, 12, 0, 14, 9_216)),
    ("spades", {}, 13, 27, 5, 10_388),
    long(("spades", {}, 14, 40, 8, 14_140)),
]


def open_in_both(game: str, options: dict[str, object], number: int, moves: int) -> tuple[Game, Naive]:
    """Return the same position in both engines, from a fixed pack and some random moves."""
    random = Random(number)
    table = Game(game, options, dealer=0)
    table.deal(bytes([number]) * 32)
    deal = table.record().deals[0]
    naive = naive_deal(table.rules.model_dump(), 0, deal.pack)
    while len(table.moves) < moves and table.turn is not None:
        seat, before = table.turn, len(table.moves)
        legal = [move for move in legal_moves_for_record(table, seat) if move != "blind"]
        table.play(seat, random.choice(legal))
        for by, move in table.moves[before:]:
            naive.play(by, move)  # type: ignore[arg-type]
    return table, naive


def count_sequences(table: Game, depth: int) -> int:
    moves = [(seat, move) for seat in range(table.kind.seats) for move in legal_moves_for_record(table, seat)]
    if depth == 1:
        return len(moves)
    total = 0
    for seat, move in moves:
        after = table.copy()
        after.play(seat, move)
        total += count_sequences(after, depth - 1)
    return total


def count_naive_sequences(naive: Naive, depth: int) -> int:
    seats = range(len(naive.hand))
    if depth == 1:
        return sum(len(naive.legal(seat)) for seat in seats)
    total = 0
    for seat in seats:
        for move in naive.legal(seat):
            after = deepcopy(naive)
            after.play(seat, move)
            total += count_naive_sequences(after, depth - 1)
    return total


@pytest.mark.long
@pytest.mark.parametrize("case", NODE_COUNTS, ids=str)
def test_both_engines_give_the_known_node_counts(case: tuple[str, dict[str, object], int, int, int, int]) -> None:
    game, options, number, moves, depth, sequences = case
    table, naive = open_in_both(game, options, number, moves)
    assert count_sequences(table, depth) == sequences
    assert count_naive_sequences(naive, depth) == sequences
