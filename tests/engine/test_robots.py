"""Robots make legal moves from visible cards only; the medium robot beats the random one."""

from collections import Counter
from random import Random

import pytest

import engine
from bot.robots.simulation import simulate
from engine import GAMES, Game
from engine.cards import FRENCH
from engine.robots import ROBOTS, act, make_robot
from engine.robots.memory import Memory, remember
from engine.views import DealView, View
from tests.engine.hidden import hidden_cards, shuffle_hidden
from tests.engine.tables import (
    draft,
    full_table,
    last_packet_card_table,
    play,
    play_any_card,
    play_cards,
    play_random_step,
    random_rules,
    spades_table,
)
from tests.long import long, mostly_long

MIN_WIN_SHARE = {"pizzichino": 0.9, "metamazzo": 0.85, "testa": 0.8, "tressette": 0.75, "tavolo": 0.7, "spades": 0.8}


@pytest.mark.long
@pytest.mark.parametrize("game", mostly_long(MIN_WIN_SHARE, "spades", "testa"))
def test_greedy_beats_random(game: str) -> None:
    games = 40 if game != "spades" else 20
    wins = 0
    for number in range(games):
        greedy = number % 2
        players = ["greedy" if seat % 2 == greedy else "random" for seat in range(GAMES[game].seats)]
        record = simulate(game, {}, players, f"{game} {number}")
        assert record.winner
        wins += record.winner[0] % 2 == greedy
    assert wins >= MIN_WIN_SHARE[game] * games


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("players", ["random", "greedy"])
def test_robot_games_verify(game: str, players: str) -> None:
    for seed in range(3):
        random = Random(f"{game} {seed}")
        record = simulate(game, random_rules(game, random), [players] * GAMES[game].seats, str(seed), legal=True)
        engine.verify(engine.read(record.to_json()))


def test_same_seed_gives_the_same_game() -> None:
    for game in GAMES:
        first, same, other = (
            simulate(game, {}, ["random"] * GAMES[game].seats, seed).to_json() for seed in ("1", "1", "2")
        )
        assert first == same != other


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("tables", [4, long(40)])
def test_robot_choice_ignores_hidden_cards(game: str, name: str, tables: int) -> None:
    for seed in range(tables):
        random = Random(f"{game} {seed}")
        table = Game(game, random_rules(game, random))
        for _ in range(random.randrange(1, 60)):
            if not table.is_over and not (table.needs_deal and table.current):
                play_random_step(table, random)
        if table.turn is None or table.current is None:
            continue
        seat = table.turn
        other = table.copy()
        other.current = other._playing = shuffle_hidden(table.current, hidden_cards(table.current, seat), random)
        choices = [
            make_robot(name, Random(seed)).choose(seen_table.view(seat), seen_table.history(seat))
            for seen_table in (table, other)
        ]
        assert choices[0] == choices[1]
        assert choices[0] in table.legal_moves(seat)


def test_robot_still_moves_after_a_refused_claim() -> None:
    class Claimer:
        def __init__(self) -> None:
            self.tries = 0

        def choose(self, view: engine.View, history: object) -> str:
            self.tries += 1
            return "claim" if self.tries < 4 else view.moves[0]

    table = Game("tressette", dealer=0)
    table.deal(bytes(32))
    claimer = Claimer()
    assert act(table, 1, claimer)
    assert claimer.tries == 4
    assert len(table.moves) == 1


def test_greedy_claims_when_it_has_won() -> None:
    endings = [simulate("tressette", {}, ["greedy"] * 4, str(seed)).ending for seed in range(10)]
    assert "claim" in endings


@pytest.mark.parametrize("game", GAMES)
def test_memory_agrees_with_the_deal(game: str) -> None:
    table = Game(game, dealer=0)
    table.deal(bytes(32))
    while table.turn is not None and table.current:
        deal, seat = table.current, table.turn
        if deal.phase == "play":
            memory = remember(current_deal_view(table), table.history(seat), seat)
            assert memory.unseen == sum(1 << card for card in hidden_cards(deal, seat))
            assert memory.own_cards == deal.cards[seat]
            for other, hand in enumerate(deal.cards):
                assert memory.open_to[other] & ~hand == 0
                assert memory.hidden[other] == (hand & ~memory.open_to[other]).bit_count() or other == seat
            assert memory.thirds == (deal.taken if deal.turn is not None else memory.thirds)
        moves = [move for move in table.legal_moves(seat) if move not in ("blind", "claim")]
        table.play(seat, moves[0])


@pytest.mark.parametrize(("exchange", "can_hold"), [("exchange", False), ("exchange 2C", True)])
def test_draft_discards_can_be_given_to_a_double_nil(exchange: str, can_hold: bool) -> None:
    table = spades_table("2C", "AH KH", drafted=False)
    play(table, "0: blind", "0: draw", "0: keep", "1: blind", "1: draw", "1: pass")
    draft(table)
    play(table, "1: exchange KH")
    given_card = next(card for card in table.current.available_discards() if card != "AH")  # type: ignore[union-attr]
    table.play(None, f"gives {given_card}")
    play(table, f"0: {exchange}")
    if can_hold:
        table.play(None, "gives AH")
    assert table.turn == 1
    memory = remember(current_deal_view(table), table.history(1), 1)
    assert memory.unseen & FRENCH.mask(["AH", "KH"]) == (FRENCH.mask(["AH"]) if can_hold else 0)


def current_deal_view(table: Game) -> DealView:
    """Return the deal as the seat to move sees it."""
    view = table.view(table.turn).deal
    assert view
    return view


def count_choices(view: View, times: int = 600) -> Counter[str | None]:
    """Count the random robot's choices in a position."""
    return Counter(make_robot("random", Random(seed)).choose(view, []) for seed in range(times))


def test_random_robot_bids_near_its_likely_tricks() -> None:
    """Three aces, two kings, a queen, two spades and the chances of other cards are worth about seven tricks."""
    table = spades_table("", "AS 5S AH KH 7H AD KD 9D AC QC 8C 6C 2C")
    bids = count_choices(table.view(1))
    seldom = [bid for bid, times in bids.items() if times < 30]
    assert {bid for bid, times in bids.items() if times > 100} == {"bid 6", "bid 7", "bid 8"}
    assert 0 < sum(bids[bid] for bid in seldom) < 40


def test_random_robot_avoids_accidental_nil_and_wild_bids() -> None:
    weak = count_choices(spades_table("", "9H 8H 7H 6H 5H 4D 3D 2D 9C 8C 7C 3C 5S").view(1))
    assert weak["bid 1"] > 200
    assert weak["bid 0"] < 10
    strong = count_choices(spades_table("", "AS KS QS JS TS 9S 8S 7S 6S AC AH AD KD").view(1))
    assert {bid for bid, times in strong.items() if times > 100} == {"bid 10", "bid 11", "bid 12"}


def test_random_robot_seldom_plays_blind_and_never_resigns() -> None:
    table = Game("spades", dealer=0)
    table.deal(bytes(32))
    first = count_choices(table.view(table.turn))
    assert set(first) == {"draw", "blind"}
    assert 0 < first["blind"] < 30


def test_random_robot_seldom_claims_even_out_of_turn() -> None:
    table = full_table("tressette", ["", "", "", ""])
    own_choices = count_choices(table.view(1))
    assert 0 < own_choices["claim"] < 40
    assert len(own_choices) > 10
    idle = count_choices(table.view(0))
    assert set(idle) == {None, "claim"}
    assert idle["claim"] < 40


def test_random_robot_declares_out_of_turn_half_the_time() -> None:
    table = full_table("tressette", ["3D 3C 3S", "3B", "", ""])
    play_cards(table, "3B")
    for _ in range(3):
        play_any_card(table)
    idle = count_choices(table.view(0))
    assert table.turn != 0
    assert 200 < idle["declare three 3 missing B"] < 400
    assert idle[None] > 200


def test_easy_robot_plays_well_half_the_time() -> None:
    table = full_table("tressette", ["", "", "", ""])
    sensible = make_robot("greedy", Random(0)).choose(table.view(1), [])
    choice_counts = Counter(make_robot("easy", Random(seed)).choose(table.view(1), []) for seed in range(600))
    assert 250 < choice_counts[sensible] < 400
    assert len(choice_counts) > 9
    assert not choice_counts["claim"]


def test_easy_robot_gives_no_false_signals() -> None:
    table = full_table("tressette", ["", "", "", ""])
    assert any("volo" in move for move in table.legal_moves(1))
    chosen = {make_robot("easy", Random(seed)).choose(table.view(1), []) for seed in range(600)}
    assert not [move for move in chosen if move and move.endswith(("busso", "volo"))]


@pytest.mark.parametrize(
    ("declare", "hand", "picks"),
    [("acquired", "2D AD", True), ("acquired", "", False), ("none", "2D AD", False), ("dealt", "2D AD", False)],
)
def test_easy_robot_picks_up_a_last_card_only_to_declare(declare: str, hand: str, picks: bool) -> None:
    table = last_packet_card_table(declare, hand)
    view, history = table.view(1), table.history(1)
    chosen = Counter(make_robot("easy", Random(seed)).choose(view, history) for seed in range(200))
    assert (chosen["pick 3"] > 0) == picks
    assert len(chosen) > 4


def test_easy_robot_bids_at_spades_like_the_medium_one() -> None:
    bids = spades_table("", "AS 5S AH KH 7H AD KD 9D AC QC 8C 6C 2C").view(1)
    before = Game("spades", dealer=0)
    before.deal(bytes(32))
    for view in (bids, before.view(before.turn)):
        sensible = make_robot("greedy", Random(0)).choose(view, [])
        assert {make_robot("easy", Random(seed)).choose(view, []) for seed in range(600)} == {sensible}


def test_chance_of_lacking_cards_counts_known_and_unseen() -> None:
    """A seat's hidden cards count as drawn at random from all unseen cards."""
    memory = Memory(own_cards=0, unseen=0b111111, open_to=[0, 1 << 9], hidden=[2, 3], thirds=[0, 0])
    assert memory.chance_without(0, 0b1) == pytest.approx(4 / 6)
    assert memory.chance_without(0, 0b11) == pytest.approx(4 / 6 * 3 / 5)
    assert memory.chance_without(1, 0b111) == pytest.approx(3 / 6 * 2 / 5 * 1 / 4)
    assert memory.chance_without(1, 0b1111) == 0
    assert memory.chance_without(0, 1 << 20) == 1
    assert memory.chance_without(1, 1 << 9) == 0
