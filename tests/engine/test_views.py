"""Views show each seat its own cards and public facts, and nothing hidden."""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import GAMES, Game
from tests.engine.hidden import hidden_cards, shuffle_hidden
from tests.engine.tables import full_table, play_any_card, play_out, play_random_step, random_rules

SLOW = settings(suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("game", GAMES)
@SLOW
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 90))
def test_views_do_not_depend_on_hidden_cards(game: str, seed: int, steps: int) -> None:
    random = Random(seed)
    table = Game(game, random_rules(game, random))
    for _ in range(steps):
        if not table.is_over:
            play_random_step(table, random)
    assert table.current
    for viewer in (None, *range(table.kind.seats)):
        hidden = hidden_cards(table.current, viewer)
        other = table.copy()
        other.current = shuffle_hidden(table.current, hidden, random)
        if not table.needs_deal and not table.is_over:
            other._playing = other.current
        assert other.view(viewer) == table.view(viewer)


@pytest.mark.parametrize("game", GAMES)
@SLOW
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 60))
def test_views_and_histories_name_no_hidden_card(game: str, seed: int, steps: int) -> None:
    random = Random(seed)
    table = Game(game, random_rules(game, random))
    for _ in range(steps):
        if not table.is_over and not (table.needs_deal and table.current):
            play_random_step(table, random)
    assert table.current
    for viewer in (None, *range(table.kind.seats)):
        played_codes = {move.split(" ")[1] for _, move in table.moves if move.startswith("play ")}
        codes = {table.kind.pack.codes[card] for card in hidden_cards(table.current, viewer)} - played_codes
        visible_text = repr(table.view(viewer)) + repr(table.history(viewer))
        quoted = {word.strip("'\"(),") for word in visible_text.split()}
        assert not codes & quoted


def test_hidden_cards_are_found() -> None:
    table = Game("tavolo", dealer=0)
    table.deal(bytes(32))
    assert table.current
    assert len(hidden_cards(table.current, None)) == 40
    assert len(hidden_cards(table.current, 2)) == 30


def test_seat_sees_only_its_own_hand() -> None:
    table = full_table("tressette", ["3D 2D", "3C", "", ""])
    own_view, public = table.view(0).deal, table.view(None).deal
    assert own_view
    assert public
    assert set(own_view.hand or ()) >= {"3D", "2D"}
    assert public.hand is None
    assert table.view(None).moves == ()
    assert table.view(1).moves == tuple(table.legal_moves(1))


def test_only_the_last_trick_is_visible() -> None:
    table = full_table("tavolo", ["4D 3D 3C", "5D", "6D", "7D"])
    for card in ("4D", "5D", "6D", "7D"):
        table.play(table.turn or 0, f"play {card}")
    view = table.view(None).deal
    assert view
    assert view.last_trick
    assert [played.card for played in view.last_trick.cards] == ["4D", "5D", "6D", "7D"]
    assert view.last_trick.winner == 3
    for _ in range(4):
        play_any_card(table)
    assert "4D" not in repr(table.view(None).deal)


def test_points_are_hidden_until_the_deal_is_over() -> None:
    table = Game("metamazzo", dealer=0)
    table.deal(bytes(32))
    for _ in range(20):
        table.play(table.turn or 0, table.legal_moves(table.turn or 0)[0])
    assert table.view(0).result is None
    assert "thirds" not in repr(table.view(0))
    while table.turn is not None:
        table.play(table.turn, table.legal_moves(table.turn)[0])
    result = table.view(None).result
    assert result
    assert sum(result.entries["thirds"]) == 35
    assert result.deal == 1


def test_result_shows_the_deal_before_the_current_one() -> None:
    table = Game("metamazzo", {"target": 31}, dealer=0)
    for number in (1, 2, 3):
        table.deal(bytes([number]) * 32)
        result = table.view(None).result
        assert (result.deal, result.secret) == (number - 1, (bytes([number - 1]) * 32).hex()) if result else number == 1
        if number < 3:
            play_out(table)
            assert not table.is_over


def test_secret_is_shown_only_after_the_deal() -> None:
    table = Game("testa", dealer=0)
    table.deal(bytes(32))
    assert table.view(None).commitment == "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"
    assert bytes(32).hex() not in repr(table.view(0))
    while table.turn is not None:
        table.play(table.turn, table.legal_moves(table.turn)[0])
    result = table.view(None).result
    assert result
    assert result.secret == bytes(32).hex()
    table.deal(bytes([1]) * 32)
    view = table.view(None)
    assert view.deal_number == 2
    assert view.result == result
