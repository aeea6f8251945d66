"""Branches of finished games, for their benchmark."""

from random import Random

import pytest

from benchmarks.branches import choose_branch
from engine import GAMES, load
from tests.bot.finished.games import finished_game


@pytest.mark.parametrize("game", GAMES)
def test_branch_leaves_the_record_with_a_legal_move(game: str) -> None:
    finished, branch_count = finished_game(1, game), 0
    for seed in range(20):
        branch = choose_branch(Random(seed), finished)
        position = load(finished.record, branch.deal, branch.place)
        assert position.turn is not None
        assert branch.move in position.legal_moves(position.turn)
        branch_count += branch.move != finished.record.deals[branch.deal - 1].moves[branch.place][1]
    assert branch_count
