"""The rows of buttons below a hand."""

from itertools import pairwise
from random import Random

import pytest

from bot.panel import Role
from bot.panels.hand import hand_panel
from bot.panels.hand_buttons import CARDS_IN_ROW
from bot.tables.snapshot import snapshot
from tests.bot.panels.test_boards import make_random_move
from tests.bot.panels.test_hand_news import dealt_table


@pytest.mark.parametrize("game", ["metamazzo", "tressette", "spades"])
def test_short_suits_share_a_row_and_keep_their_order(game: str) -> None:
    random, shared = Random(game), 0
    table = dealt_table(game, random)
    while table.game and not table.game.needs_deal and not table.game.is_over:
        seat = table.game.turn
        seen = snapshot(table, seat)
        assert seen.view
        assert seen.view.deal
        rows = [
            [button.about for button in row]
            for row in hand_panel(seen, "en", "italian").rows
            if row[0].role is Role.PLAY
        ]
        legal = {move.split(" ")[1] for move in seen.view.moves if move.startswith("play ")}
        assert [code for row in rows for code in row] == [code for code in seen.view.deal.hand or () if code in legal]
        for row, following in pairwise(rows):
            assert row[-1][1] != following[0][1], "a suit is split"
            assert len(row) + sum(code[1] == following[0][1] for code in following) > CARDS_IN_ROW
        shared += any(row[0][1] != row[-1][1] for row in rows)
        table = make_random_move(table, random)
    assert shared
