"""Properties that hold in every game: legality, scores and places of cards."""

from copy import deepcopy
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import GAMES, Game
from engine.declarations import COMBINATIONS
from engine.errors import ClaimRefused, IllegalMove
from engine.full import FullDeal
from engine.packets import HOLDS, PICKS, TAKES
from engine.spades import BIDS, DRAFT_MOVES
from tests.engine.tables import play_random_step, random_game, random_rules

EVERY_MOVE = [
    *TAKES, *HOLDS, *PICKS, *COMBINATIONS, *BIDS, *DRAFT_MOVES, *FullDeal.SIGNAL_MOVES, "claim", "exchange", "exchange 2C",
    *(f"play {code}" for game in ("testa", "spades") for code in GAMES[game].pack.codes), "play XX", "gives 2C", "", "play",
]  # fmt: skip


def table_state(table: Game) -> object:
    """Return the whole state of a table: its deal, record and totals."""
    assert table.current
    return deepcopy((table.current.__dict__, table.record(), table.totals, table.bags, table.turn, table.ending))


def refusal(table: Game, seat: int, move: str) -> IllegalMove | None:
    """Play a move; return the error if it is refused."""
    try:
        table.play(seat, move)
    except IllegalMove as error:
        return error
    return None


@pytest.mark.parametrize("game", GAMES)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 80))
def test_illegal_moves_are_refused_and_change_nothing(game: str, seed: int, steps: int) -> None:
    random = Random(seed)
    table = Game(game, random_rules(game, random))
    for _ in range(steps):
        if not table.is_over and not (table.needs_deal and table.current):
            play_random_step(table, random)
    before = table_state(table)
    for seat in range(table.kind.seats):
        legal = set(table.legal_moves(seat))
        for move in EVERY_MOVE:
            if move in legal and move != "claim":
                continue
            error = refusal(table, seat, move)
            if error is None:
                assert (move, table.ending) == ("claim", "claim")  # a right claim ends the game
                return
            assert type(error) is not IllegalMove
            assert str(error).endswith(".")
            assert isinstance(error, ClaimRefused) == (move == "claim" and "claim" in legal)
    assert table_state(table) == before


@pytest.mark.parametrize("game", GAMES)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 80))
def test_legal_moves_are_accepted_and_recorded(game: str, seed: int, steps: int) -> None:
    random = Random(seed)
    table = Game(game, random_rules(game, random))
    for _ in range(steps):
        if not table.is_over and not (table.needs_deal and table.current):
            play_random_step(table, random)
    for seat in range(table.kind.seats):
        for move in random.sample(table.legal_moves(seat), min(12, len(table.legal_moves(seat)))):
            after = table.copy()
            try:
                after.play(seat, move)
            except ClaimRefused:
                assert move == "claim"
                continue
            assert (seat, move) in after.moves[len(table.moves) :]


@pytest.mark.parametrize("game", GAMES)
@given(seed=st.integers(0, 2**32))
def test_random_games_end_and_their_points_add_up(game: str, seed: int) -> None:
    random = Random(seed)
    table = random_game(game, random, random_rules(game, random))
    assert table.ending == "target"
    assert table.winner
    totals = [0, 0]
    for deal in table.record().deals:
        for side in (0, 1):
            totals[side] += deal.points[side]
        assert deal.totals == tuple(totals)
        if game != "spades":
            assert sum(deal.thirds) == 35
            assert sum(deal.points) == 11 + sum(deal.declared)
        else:
            assert sum(deal.tricks) == 13
    winners = table.winner[0] & 1
    assert totals[winners] > totals[1 - winners]
    assert totals[winners] >= table.rules.target


@pytest.mark.parametrize("game", GAMES)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 80))
def test_every_card_is_in_exactly_one_place(game: str, seed: int, steps: int) -> None:
    random = Random(seed)
    table = Game(game, random_rules(game, random))
    for _ in range(steps):
        if not table.is_over and not (table.needs_deal and table.current):
            play_random_step(table, random)
    deal = table.current
    assert deal
    played_cards = [table.kind.pack.index[move.split(" ")[1]] for _, move in table.moves if move.startswith("play ")]
    assert len(set(played_cards)) == len(played_cards)
    assert sum(mask.bit_count() for mask in deal.cards) == sum(deal.cards).bit_count()
    assert not any(deal.cards[seat] >> card & 1 for seat in range(deal.seats) for card in played_cards)
