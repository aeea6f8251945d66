"""The count of a deal on a page: where its points come from, and the totals."""

from random import Random

import pytest

from bot.people import Profile
from bot.site.deal_count import DealCount
from bot.site.hand_page import hand_page
from bot.store.entries import Deal, Move
from bot.tables.table import Table
from tests.bot.tables.test_table import FOUR, start_game


def finished_deal(game: str, seed: int = 0) -> Table:
    """Return a table at the start of its second deal, or at the end of a game of one deal."""
    random, table = Random(seed), start_game(game, secret=seed)
    while table.game and not table.game.is_over and not table.game.needs_deal:
        turn = table.game.turn
        assert turn is not None
        moves = [move for move in table.game.legal_moves(turn) if move not in ("resign", "claim")]
        table = table.with_entries([Move(turn, random.choice(moves))], "m")
    return table if table.game and table.game.is_over else table.with_entries([Deal(bytes(32))], "d")


def count_for(table: Table, seat: int, language: str = "en") -> DealCount:
    count = hand_page(table, FOUR[seat], Profile(FOUR[seat], language=language)).count
    assert count
    return count


def parse_figure(figure: str) -> float:
    size = sum({"⅓": 1 / 3, "⅔": 2 / 3}.get(sign, 0) for sign in figure) + float(figure.strip("−⅓⅔") or 0)
    return -size if figure.startswith("−") else size


@pytest.mark.parametrize("game", ["testa", "metamazzo", "tressette"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_lines_add_up_to_the_points_of_the_deal(game: str, seed: int) -> None:
    count = count_for(finished_deal(game, seed), 0)
    labels = [label for label, *_figures in count.lines]
    assert labels[:2] == ["points in tricks", "the last trick"]
    unit = 3 if game == "tressette" else 1
    for side in (1, 2):
        *parts, points = [parse_figure(line[side]) for line in count.lines]
        assert round(sum(parts), 3) == points
        assert points == count.after[side - 1] - count.before[side - 1]
    assert sum(parse_figure(figure) for figure in count.lines[1][1:]) == unit


def test_each_reader_sees_their_own_side_first() -> None:
    table = finished_deal("tressette", 4)
    first, other = count_for(table, 0), count_for(table, 3, "it")
    assert [line[:0:-1] for line in first.lines] == [line[1:] for line in other.lines]
    assert first.after == other.after[::-1]
    assert first.target == 63
    assert [line[0] for line in other.lines[:2]] == ["punti nelle prese", "ultima presa"]


def test_spades_counts_bids_tricks_and_points() -> None:
    count = count_for(finished_deal("spades", 1), 0)
    assert [line[0] for line in count.lines][:2] == ["bids", "tricks"]
    assert count.lines[-1][0] == "points"
