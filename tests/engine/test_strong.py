"""The strong robot: deterministic, exact with all cards known, and better than the medium robot."""

from random import Random

import pytest

from benchmarks.robots import FLAT_SEARCH
from bot.words.verdicts import reason_texts
from bot.words.wording import Wording
from engine import GAMES, Game
from engine.cards import ITALIAN, cards
from engine.declarations import COMBINATIONS, HONOURS
from engine.position import search_position
from engine.robots import Budget, MediumRobot, act, make_robot
from engine.robots.deductions import worlds_of
from engine.robots.hints import find_hint
from engine.robots.strong import MoveEstimate, StrongRobot
from engine.search.solver import Solver
from tests.engine.tables import full_table, game_in_play, last_packet_card_table, play, spades_table
from tests.groups import COMPILED_SEARCHES
from tests.long import long, mostly_long

pytestmark = COMPILED_SEARCHES

QUICK = Budget(share=0.05)


def strong_robot(seed: object, share: float = 1.0) -> StrongRobot:
    return StrongRobot(Random(str(seed)), Budget(share=share))


@pytest.mark.parametrize("game_id", GAMES)
def test_same_seed_and_budget_give_the_same_choice(game_id: str) -> None:
    for number in range(4):
        game = game_in_play(game_id, Random(f"{game_id} {number}"), 30)
        seat = game.turn
        assert seat is not None
        choices = {strong_robot(number, 0.2).choose(game.view(seat), game.history(seat)) for _ in range(3)}
        assert len(choices) == 1


def test_robot_stops_when_its_budget_is_spent() -> None:
    game = game_in_play("metamazzo", Random(1))
    ask_count = 0

    def has_budget() -> bool:
        nonlocal ask_count
        ask_count += 1
        return ask_count < 3

    seat = game.turn
    assert seat is not None
    StrongRobot(Random(1), Budget(share=1000.0, more=has_budget)).choose(game.view(seat), game.history(seat))
    assert ask_count == 3


def test_robot_makes_no_move_out_of_turn() -> None:
    game = game_in_play("metamazzo", Random(3))
    assert game.turn is not None
    idle = 1 - game.turn
    assert strong_robot(1).choose(game.view(idle), game.history(idle)) is None


def test_robot_plays_exactly_with_all_cards_known() -> None:
    solver = Solver()
    for number in range(20):
        game = game_in_play("metamazzo", Random(f"exact {number}"), 18)
        seat = game.turn
        assert seat is not None
        assert game.current
        values = solver.solve(search_position(game.current))
        assert values
        move = strong_robot(number, 0.1).choose(game.view(seat), game.history(seat))
        assert move
        while move in COMBINATIONS:
            game.play(seat, move)
            move = strong_robot(number, 0.1).choose(game.view(seat), game.history(seat))
            assert move
        sign = 1 if seat == 0 else -1
        card = game.kind.pack.index[move.split(" ")[1]]
        assert sign * values[card] == max(sign * value for value in values.values())


@pytest.mark.parametrize("game_id", mostly_long(["tavolo", "testa"], "testa"))
def test_waiting_declarations_are_made_in_time(game_id: str) -> None:
    """The robot declares every combination by the end of its window, and mostly not at once."""
    waited = 0
    for number in range(6):
        game = Game(game_id, {"target": 21}, dealer=0)
        game.deal(Random(f"late {game_id} {number}").randbytes(32))
        robots = [strong_robot(f"{number} {seat}", 0.05) for seat in range(game.kind.seats)]
        held: set[tuple[int, int]] = set()
        declared: set[tuple[int, int]] = set()
        while not game.needs_deal and game.turn is not None:
            seat = game.turn
            last = game_id == "tavolo" or (game.current is not None and game.current.tricks_done == 3)
            legal = [COMBINATIONS[move] for move in game.legal_moves(seat) if move in COMBINATIONS]
            before = len(game.moves)
            act(game, seat, robots[seat])
            move = game.moves[before][1] if len(game.moves) > before else game.record().deals[-1].moves[-1][1]
            if move in COMBINATIONS:
                declared.add((seat, COMBINATIONS[move].kind))
            elif legal:
                waited += 1
            if last:
                held |= {(seat, combination.kind) for combination in legal}
        assert held <= declared
    assert waited


@pytest.mark.long
def test_robot_declares_only_at_its_turn_and_misses_nothing() -> None:
    """After the first trick every seat can declare at once, but this robot waits for its turn."""
    declaration_count = 0
    for number in range(60):
        game = Game("tressette", dealer=0)
        game.deal(Random(f"own turn {number}").randbytes(32))
        robots = [strong_robot(f"{number} {seat}", 0.01) for seat in range(4)]
        possible: set[tuple[int, int]] = set()
        while game.current and game.current.tricks_done < 2 and game.turn is not None:
            for seat in range(4):
                possible |= {(seat, COMBINATIONS[move].kind) for move in game.legal_moves(seat) if move in COMBINATIONS}
            assert act(game, game.turn, robots[game.turn])
        declared_kinds = {(seat, COMBINATIONS[move].kind) for seat, move in game.moves if move in COMBINATIONS}
        assert declared_kinds == possible
        declaration_count += len(declared_kinds)
    assert declaration_count


@pytest.mark.long
def test_signals_of_the_robot_are_true() -> None:
    volos = bussos = 0
    for number in range(8):
        game = Game("tressette", dealer=0)
        game.deal(Random(f"volo {number}").randbytes(32))
        robots = [strong_robot(f"{number} {seat}", 0.01) for seat in range(4)]
        while game.turn is not None and game.current is not None:
            seat, leads = game.turn, not game.current.trick
            held = game.current.cards[seat]
            before = len(game.moves)
            act(game, seat, robots[seat])
            if len(game.moves) <= before:
                break
            word, *arguments = game.moves[before][1].split(" ")
            if word == "play" and leads:
                suit = game.kind.pack.suit_of[game.kind.pack.index[arguments[0]]]
                is_only_card = (held & suit).bit_count() == 1
                assert ("volo" in arguments) == is_only_card
                volos += is_only_card
                other_honours = held & suit & HONOURS & ~(1 << game.kind.pack.index[arguments[0]])
                assert ("busso" in arguments) == (other_honours.bit_count() >= 2)
                bussos += "busso" in arguments
    assert volos
    assert bussos


def test_busso_is_answered_with_the_highest_card() -> None:
    answer_count = 0
    for number in range(60):
        game = Game("tressette", dealer=3)
        game.deal(Random(f"busso {number}").randbytes(32))
        assert game.current
        lead = next(move for move in game.legal_moves(0) if move.startswith("play "))
        suit = game.kind.pack.suit_of[game.kind.pack.index[lead.split(" ")[1]]]
        game.play(0, f"{lead.split(' busso')[0].split(' volo')[0]} busso")
        game.play(1, min(move for move in game.legal_moves(1) if move.startswith("play ")))
        held = game.current.cards[2] & suit
        if held.bit_count() < 2:
            continue
        move = strong_robot(number, 0.1).choose(game.view(2), game.history(2))
        assert move
        answer_count += game.kind.pack.index[move.split(" ")[1]] == held.bit_length() - 1
    assert answer_count > 20


@pytest.mark.long
@pytest.mark.parametrize(("game_id", "packs"), [("metamazzo", 6), long("pizzichino", 6), long("tressette", 12)])
def test_robot_beats_the_medium_robot(game_id: str, packs: int) -> None:
    """Each pack is played twice with seats swapped; `python -m benchmarks robots` measures the margin."""
    margin = 0
    for number in range(packs):
        for first in (0, 1):
            game = Game(game_id, dealer=number % 2)
            game.deal(Random(f"beats {number}").randbytes(32))
            robots = [
                strong_robot(f"{number} {seat}", 0.3)
                if (seat ^ first) & 1 == 0
                else MediumRobot(Random(f"{number} {seat}"))
                for seat in range(game.kind.seats)
            ]
            while not game.needs_deal and game.turn is not None:
                seats = [seat for seat in range(game.kind.seats) if seat != game.turn]
                if not any(
                    act(game, seat, robots[seat]) for seat in seats if set(game.legal_moves(seat)) - {"claim", "resign"}
                ):
                    act(game, game.turn, robots[game.turn])
            margin += (game.totals[0] - game.totals[1]) * (1 - 2 * first)
    assert margin > 0


@pytest.mark.parametrize(
    ("declare", "hand", "picks"),
    [("acquired", "2D AD", True), ("acquired", "", False), ("none", "2D AD", False), ("dealt", "2D AD", False)],
)
def test_last_packet_card_is_picked_up_only_to_declare(declare: str, hand: str, picks: bool) -> None:
    table = last_packet_card_table(declare, hand)
    move = strong_robot(1, 0.2).choose(table.view(1), table.history(1))
    assert move
    assert move.startswith("pick" if picks else "play")


def test_bids_of_two_robots_add_up_to_about_13() -> None:
    for number in range(5):
        game = Game("spades", dealer=0)
        game.deal(Random(f"bid {number}").randbytes(32))
        robots = [strong_robot(f"{number} {seat}", 0.5) for seat in (0, 1)]
        while game.turn is not None and game.current and game.current.phase != "play":
            assert act(game, game.turn, robots[game.turn])
        bids = [int(move.split(" ")[1]) for _, move in game.moves if move.startswith("bid")]
        assert len(bids) == 2
        assert 8 <= sum(bids) <= 15


@pytest.mark.parametrize("is_blind", [False, True])
@pytest.mark.parametrize("card", ["AH", "KD", "9S", "9C", "2D"])
def test_robot_drafts_high_cards_or_low_after_a_double_nil(card: str, is_blind: bool) -> None:
    table = spades_table(card, "", drafted=False)
    play(table, *(["0: blind"] if is_blind else []), "0: draw")
    wins = card in ("AH", "KD", "9S")
    assert strong_robot(1).choose(table.view(0), table.history(0)) == ("keep" if wins != is_blind else "pass")


def test_equal_cards_are_chosen_by_appeal(monkeypatch: pytest.MonkeyPatch) -> None:
    game = full_table("tressette", ["4D 5D 6D 7D FD", "", "", ""], dealer=3)
    strong = strong_robot(1, 0.2)
    five, six, seven, figure = (ITALIAN.index[code] for code in ("5D", "6D", "7D", "FD"))
    judged = {
        five: MoveEstimate(visits=900, mean=2.0, appeal=-50),
        six: MoveEstimate(visits=300, mean=1.8, appeal=-20),
        seven: MoveEstimate(visits=300, mean=1.0, appeal=40),
        figure: MoveEstimate(visits=20, mean=1.9, appeal=40),
    }
    monkeypatch.setattr(strong, "judge_moves", lambda view, history: judged)
    assert strong.choose(game.view(0), game.history(0)) == "play 6D"


def test_exact_play_keeps_visits_of_the_best_cards() -> None:
    game = game_in_play("metamazzo", Random(2), 12)
    seat = game.turn
    assert seat is not None
    strong = strong_robot(1, 0.2)
    estimates = {
        card: MoveEstimate(visits=5, mean=0.0, appeal=7)
        for card in strong.judge_moves(game.view(seat), game.history(seat))
    }
    exact = strong._solve_exactly(worlds_of(game.view(seat), game.history(seat)), estimates)
    best = max(estimate.mean for estimate in exact.values())
    assert len(exact) > 1
    assert all(
        estimate.appeal == 7 and estimate.visits == (5 if estimate.mean == best else 0) for estimate in exact.values()
    )


def test_flat_search_visits_all_cards_equally() -> None:
    game = game_in_play("metamazzo", Random(4), 34)
    seat = game.turn
    assert seat is not None
    flat = StrongRobot(Random(1), search=FLAT_SEARCH)
    judged = flat.judge_moves(game.view(seat), game.history(seat))
    visits = [estimate.visits for estimate in judged.values()]
    assert max(visits) - min(visits) <= 1 + max(visits) // 20


@pytest.mark.parametrize("game_id", GAMES)
def test_hint_is_a_legal_move_with_a_reason(game_id: str) -> None:
    reasons = set()
    game = Game(game_id, dealer=0)
    random = Random(game_id)
    game.deal(random.randbytes(32))
    while game.turn is not None and not game.needs_deal:
        seat = game.turn
        found = find_hint(game.view(seat), game.history(seat), random, QUICK)
        assert found
        assert found.move in game.legal_moves(seat)
        assert found.reason in reason_texts(Wording("en", ()))
        reasons.add(found.reason)
        act(game, seat, make_robot("medium", random))
    assert len(reasons) > 3
    other = (seat + 1) % game.kind.seats
    game = game_in_play(game_id, random)
    assert game.turn is not None
    other = (game.turn + 1) % game.kind.seats
    assert find_hint(game.view(other), game.history(other), random, QUICK) is None


def test_hint_says_takes_only_if_the_card_takes_the_trick() -> None:
    for number in range(40):
        game = game_in_play("tressette", Random(f"reason {number}"), 30)
        seat = game.turn
        assert seat is not None
        assert game.current
        if not game.current.trick:
            continue
        found = find_hint(game.view(seat), game.history(seat), Random(1), QUICK)
        assert found
        if found.move.startswith("play ") and found.reason in ("takes", "takes_points", "gives_little", "spares"):
            after = game.copy()
            after.play(seat, found.move)
            deal = after.current
            assert deal
            holder = deal.best_seat if deal.trick else deal.last[2] if deal.last else -1
            assert (holder == seat) == found.reason.startswith("takes")


def test_judged_cards_are_playable() -> None:
    game = game_in_play("metamazzo", Random(8), 30)
    seat = game.turn
    assert seat is not None
    assert game.current
    judged = strong_robot(1, 0.2).judge_moves(game.view(seat), game.history(seat))
    hand = game.current.cards[seat]
    assert set(judged) <= set(cards(hand & game.current.allowed_cards or hand))
