"""A table as one viewer can see it."""

from random import Random

import pytest

from bot.site.tricks import finished_tricks, trick_thirds
from bot.store.entries import Move
from bot.tables.snapshot import take_snapshot
from engine.views import TressetteView
from tests.bot.panels.test_boards import make_random_move
from tests.bot.panels.test_hand_news import dealt_table


@pytest.mark.parametrize("game", ["pizzichino", "metamazzo", "tressette"])
def test_running_points_are_those_of_open_tricks(game: str) -> None:
    random, open_tricks = Random(game), 0
    table = dealt_table(game, random)
    while table.game and not table.game.needs_deal and not table.game.is_over:
        seats = range(len(table.chairs))
        snapshots = [take_snapshot(table, seat) for seat in (None, *seats)]
        deal = snapshots[0].view.deal if snapshots[0].view else None
        assert isinstance(deal, TressetteView)
        expected = [3 * points for points in deal.declared]
        for trick in finished_tricks(snapshots[0].kind, snapshots[0].history):
            expected[trick.winner & 1] += trick_thirds(snapshots[0].kind, trick)
        assert {seat_snapshot.running_thirds for seat_snapshot in snapshots} == {
            tuple(expected) if deal.phase == "play" else None
        }
        open_tricks += any(expected)
        table = make_random_move(table, random)
    assert open_tricks > 10
    assert take_snapshot(table, 0).running_thirds is None


def test_points_of_a_deal_that_was_given_up_are_not_shown() -> None:
    table = dealt_table("metamazzo", Random(1))
    assert take_snapshot(table, 0).running_thirds == (0, 0)
    assert take_snapshot(table.with_entries([Move(0, "resign")], "u"), 1).running_thirds is None
