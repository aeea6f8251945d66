"""The analysis of deals: verdicts on moves and their summary."""

from random import Random

import pytest

import engine
from bot.robots.simulation import simulate
from engine import GAMES, Game, load
from engine.cards import FRENCH, ITALIAN
from engine.declarations import COMBINATIONS
from engine.position import search_position
from engine.robots import act, analysis, make_robot
from engine.robots.analysis import analyse_deal
from engine.robots.hints import usual_hint
from engine.robots.strong import MoveEstimate, StrongRobot
from engine.robots.verdicts import Verdict, summarize
from engine.search.solver import Solver
from tests.engine.tables import (
    full_table,
    last_packet_card_table,
    packets_table,
    play,
    play_any_card,
    play_cards,
    play_out,
    spades_table,
    stock_table,
)
from tests.groups import COMPILED_SEARCHES
from tests.long import long, mostly_long

pytestmark = COMPILED_SEARCHES


@pytest.mark.parametrize("game_id", mostly_long(GAMES, "metamazzo"))
def test_analysis_is_deterministic(game_id: str) -> None:
    record = simulate(game_id, {}, ["greedy"] * GAMES[game_id].seats, "1")
    verdicts = analyse_deal(record, 1)
    assert verdicts == analyse_deal(record, 1)
    moves = record.deals[0].moves
    for verdict in verdicts:
        assert moves[verdict.move_index][:2] == (verdict.seat, verdict.move)
        assert verdict.lost >= 0
        assert (verdict.lost > 0) == (verdict.better != verdict.move)
    assert len([verdict for verdict in verdicts if verdict.exact]) > 3


@pytest.mark.parametrize("game_id", mostly_long(GAMES, "metamazzo"))
def test_move_of_a_hint_loses_nothing(game_id: str) -> None:
    game, random = Game(game_id, dealer=0), Random(4)
    game.deal(random.randbytes(32))
    robot = make_robot("medium", random)
    while game.turn is not None:
        if game.turn:
            act(game, game.turn, robot)
            continue
        hint = usual_hint(game.view(0), game.history(0))
        assert hint
        game.play(0, hint.move)
    verdicts = [verdict for verdict in analyse_deal(game.record(), 1) if verdict.seat == 0]
    assert verdicts
    # A hint can put a declaration off for a fourth card that never comes.
    assert [verdict for verdict in verdicts if verdict.lost and verdict.why != "declares"] == []


def test_same_knowledge_gives_the_same_hint() -> None:
    """Hidden cards do not matter."""
    hand = "3D RD 5D AC 4S 7B 6B 5B 4B FC"
    table, other = stock_table("metamazzo", hand, "2B", "7S 6S"), stock_table("metamazzo", hand, "2C", "7D 6D")
    hints = {usual_hint(each.view(1), each.history(1)) for each in (table, other, table)}
    assert len(hints) == 1


def test_reason_depends_on_whether_the_verdict_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "find_reason", lambda *_, exact: "cards_open" if exact else "likely")
    verdicts = analyse_deal(simulate("metamazzo", {}, ["random"] * 2, "3"), 1)
    reasons = {
        (verdict.exact, verdict.why) for verdict in verdicts if verdict.lost and verdict.better not in COMBINATIONS
    }
    assert reasons == {(True, "cards_open"), (False, "likely")}


def test_reason_does_not_apply_to_the_played_card_too(monkeypatch: pytest.MonkeyPatch) -> None:
    moves = set[str]()

    def find_reason(_view: object, _history: object, move: str, *, exact: bool) -> str:
        moves.add(move)
        return "takes" if exact or len(moves) % 2 else "takes_points"

    monkeypatch.setattr(analysis, "find_reason", find_reason)
    verdicts = analyse_deal(simulate("metamazzo", {}, ["random"] * 2, "3"), 1)
    reasons = {
        (verdict.exact, verdict.why) for verdict in verdicts if verdict.lost and verdict.better not in COMBINATIONS
    }
    assert reasons == {(True, "cards_open"), (False, "likely")}


def test_verdict_with_all_cards_known_has_reason_counted() -> None:
    record = simulate("metamazzo", {}, ["random"] * 2, "3")
    costly_verdicts = [verdict for verdict in analyse_deal(record, 1) if verdict.exact and verdict.lost]
    better_plays = [verdict for verdict in costly_verdicts if verdict.better.startswith("play ")]
    assert better_plays
    # Once the stock is drawn, a player knows every card of the opponent.
    assert {verdict.why for verdict in better_plays} == {"counted"}


def test_exact_losses_agree_with_the_solver() -> None:
    record = simulate("metamazzo", {}, ["random"] * 2, "3")
    solver, checked = Solver(), 0
    for verdict in analyse_deal(record, 1):
        if not verdict.exact or verdict.better in COMBINATIONS:
            continue
        game = load(record, 1, verdict.move_index)
        assert game.current
        values = solver.solve(search_position(game.current))
        assert values
        sign, index = (1 if verdict.seat == 0 else -1), game.kind.pack.index
        own_points = {card: (value if sign > 0 else 35 - value) // 3 for card, value in values.items()}
        assert max(own_points.values()) - own_points[index[verdict.move.split(" ")[1]]] == verdict.lost
        if verdict.lost:
            assert own_points[index[verdict.better.split(" ")[1]]] == max(own_points.values())
        checked += 1
    assert checked > 10


def deal_points(bid: int, won: int) -> int:
    """Return the score of a deal of Spades that begins without bags, from the tricks bid and won."""
    if bid == 0:
        return 100 if won == 0 else -100
    if won < bid:
        return -10 * bid
    return 10 * bid + won - bid - (100 if won - bid >= 10 else 0)


@pytest.mark.long
def test_exact_spades_losses_use_deal_scores() -> None:
    solver, lost = Solver(), 0
    for seed in range(5):
        record = simulate("spades", {}, ["random"] * 2, str(seed))
        bids = {seat: int(move.split(" ")[1]) for seat, move, *_ in record.deals[0].moves if move.startswith("bid ")}
        if len(bids) < 2:
            continue
        points = [deal_points(bids[0], won) - deal_points(bids[1], 13 - won) for won in range(14)]
        for verdict in analyse_deal(record, 1):
            if not verdict.exact:
                continue
            game = load(record, 1, verdict.move_index)
            assert game.current
            values = solver.solve(search_position(game.current), points)
            assert values
            mine = {card: value * (1 - 2 * verdict.seat) for card, value in values.items()}
            index = game.kind.pack.index
            assert max(mine.values()) - mine[index[verdict.move.split(" ")[1]]] == verdict.lost
            if verdict.lost:
                best = max(card for card, value in mine.items() if value == max(mine.values()))
                assert verdict.better == f"play {game.kind.pack.codes[best]}"
                lost += 1
    assert lost > 5


@pytest.mark.parametrize(
    ("mean", "lost_points"),
    [(2.0, 1.02), (-3.32, 0.13), (-3.55, 0.0), (-4.5, 0.0)],
    ids=["a point", "a tenth", "chance", "none"],
)
def test_losses_within_the_search_error_count_as_zero(
    mean: float, lost_points: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After 100 worlds the mean can be wrong by 0.9 thirds. A difference of six thirds is one point."""
    three, ace = ITALIAN.index["3D"], ITALIAN.index["AD"]
    judged = {ace: MoveEstimate(visits=100, mean=-5.0, appeal=0), three: MoveEstimate(visits=9000, mean=mean, appeal=0)}
    monkeypatch.setattr(StrongRobot, "judge_moves", lambda *_: judged)
    table = stock_table("metamazzo", "AD 3D", "4D")
    play_cards(table, "AD 4D")
    first = analyse_deal(table.record(), 1)[0]
    assert (first.seat, first.move, first.lost, first.exact) == (1, "play AD", lost_points, False)
    assert first.better == ("play 3D" if lost_points else "play AD")


def test_unvisited_card_is_judged_as_if_visited_once(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = {
        ITALIAN.index["AD"]: MoveEstimate(visits=0, mean=-6.0, appeal=0),
        ITALIAN.index["3D"]: MoveEstimate(visits=900, mean=9.0, appeal=0),
    }
    monkeypatch.setattr(StrongRobot, "judge_moves", lambda *_: judged)
    table = stock_table("metamazzo", "AD 3D", "4D")
    play_cards(table, "AD")
    assert analyse_deal(table.record(), 1)[0].lost == 1.0


@pytest.mark.parametrize(("mean", "lost"), [(8.0, 3.0), (7.0, 2.0), (6.5, 0.0)])
def test_spades_losses_below_two_points_count_as_zero(
    mean: float, lost: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    low, high = FRENCH.index["3C"], FRENCH.index["KC"]
    judged = {low: MoveEstimate(visits=3600, mean=4.0, appeal=0), high: MoveEstimate(visits=9000, mean=mean, appeal=0)}
    monkeypatch.setattr(StrongRobot, "judge_moves", lambda *_: judged)
    monkeypatch.setattr(StrongRobot, "judge_bids", lambda *_: {3: 1.0, 4: 1.0})
    table = spades_table("", "QS 4S 2S KH 8H 2H AD 7D 3D KC JC 5C 3C")
    play(table, "1: bid 4", "0: bid 4", "1: play 3C")
    first = next(verdict for verdict in analyse_deal(table.record(), 1) if verdict.move.startswith("play "))
    assert (first.move, first.lost, first.better) == ("play 3C", lost, "play KC" if lost else "play 3C")


@pytest.mark.long
def test_missed_declarations_cost_their_points(monkeypatch: pytest.MonkeyPatch) -> None:
    # The verdicts on cards do not matter here.
    monkeypatch.setattr(analysis, "BUDGET_SHARE", 0.01)
    lost = 0
    for seed in range(3):
        record = simulate("tressette", {}, ["greedy"] * 4, str(seed))
        silent = record.deals[0].model_copy(
            update={"moves": [move for move in record.deals[0].moves if move[1] not in COMBINATIONS]}
        )
        points = [COMBINATIONS[move[1]].points for move in record.deals[0].moves if move[1] in COMBINATIONS]
        if not points or any(move[1] == "claim" for move in silent.moves):
            continue
        changed = record.model_copy(update={"deals": [silent, *record.deals[1:]]})
        missed = [verdict for verdict in analyse_deal(changed, 1) if verdict.better in COMBINATIONS]
        assert sorted(verdict.lost for verdict in missed) == sorted(points)
        declaration_verdicts = [verdict for verdict in analyse_deal(record, 1) if verdict.better in COMBINATIONS]
        assert [(verdict.move, verdict.lost) for verdict in declaration_verdicts] == [
            (verdict.better, 0.0) for verdict in declaration_verdicts
        ]
        assert len(declaration_verdicts) == len(points)
        lost += len(missed)
    assert lost


def find_missed(table: Game, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, float]]:
    """Resign for seat 0. Return each move that missed a combination, with the combination and the points lost."""
    # The verdicts on cards do not matter here.
    monkeypatch.setattr(analysis, "BUDGET_SHARE", 0.01)
    table.play(0, "resign")
    missed = [verdict for verdict in analyse_deal(table.record(), 1) if verdict.lost and verdict.better in COMBINATIONS]
    assert all(verdict.exact for verdict in missed)
    return [(verdict.move, verdict.better.removeprefix("declare "), verdict.lost) for verdict in missed]


LOW_COPPE, LOW_SPADE = "4C 5C 6C 7C FC CC", "4S 5S 6S 7S FS CS RS 5D 6D 7D"


@pytest.mark.parametrize(
    ("window", "played", "lost"),
    [
        ("acquired", "4C 4S", [("play 4C", "napoletana D", 3.0)]),
        ("three_tricks", "4C 4S 5C 5S 6C 6S", []),
        ("three_tricks", "4C 4S 5C 5S 6C 6S 7C", [("play 7C", "napoletana D", 3.0)]),
        ("three_tricks", "4C 4S 2D 5D", [("play 2D", "napoletana D", 3.0)]),
        ("any_turn", "4D 5D 6D 7D", []),
        ("any_turn", "2D 5D 6D 7D", [("play 2D", "napoletana D", 3.0)]),
        ("after_first_trick", "4D 5D 6D 7D 4S", []),
        ("after_first_trick", "4D 5D 6D 7D 4S 4B", [("play 4B", "napoletana D", 3.0)]),
    ],
)
def test_resigned_deal_misses_only_closed_windows(
    window: str, played: str, lost: list[tuple[str, str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    if window in ("acquired", "three_tricks"):
        game = "metamazzo" if window == "acquired" else "testa"
        table = stock_table(game, f"3D 2D AD 4D {LOW_COPPE}", LOW_SPADE, "RC RD CD FD RB CB")
    else:
        game = "tavolo" if window == "any_turn" else "tressette"
        hands = ["3D 2D AD 4D 4B", "5D 3C 2S AB", "6D 3S 2B AC", "7D 4S 3B 2C AS"]
        table = full_table(game, hands, dealer=3)
    play_cards(table, played)
    assert find_missed(table, monkeypatch) == lost


def test_best_missed_combination_of_a_rank_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    packets = ["3D 3C", "3S 4C", "AD", "3B", "2C", "2S", "AC", "AS"]
    table = packets_table("pizzichino", packets)
    play_cards(table, "4C")
    while table.turn != 1:
        play_any_card(table)
    play(table, "1: pick 4")
    three, four = "three 3 missing B", "four 3"
    play_any_card(table)
    [(_move, missed, lost)] = find_missed(table, monkeypatch)
    assert (missed, lost) == (four, 4.0)
    # In Metà Mazzo, which has reuse, both count.
    table = stock_table("metamazzo", f"3D 3C 3S 4D {LOW_COPPE}", LOW_SPADE, "3B")
    play_cards(table, "4C 4S 5C")
    assert find_missed(table, monkeypatch) == [("play 4C", three, 3.0), ("play 5C", four, 4.0)]
    # A three declared when the four was gone scores one point less.
    table = full_table("tavolo", ["3D 3C 3S 3B 4D", "4C 2D AC", "5C 2C AD", "6C 2S AS"])
    play_cards(table, "3C 4C 5C 6C")
    play(table, "0: declare three 3 missing C")
    assert find_missed(table, monkeypatch) == [("play 3C", four, 1.0)]


def test_later_chance_to_declare_reduces_the_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The deal is cut short while the player still holds a three, or can still pick up the fourth card."""
    table = full_table("tavolo", ["3D 3C 3S 3B 4D", "4C 2D AC", "5C 2C AD", "6C 2S AS"])
    play_cards(table, "3C")
    assert find_missed(table, monkeypatch) == [("play 3C", "four 3", 1.0)]
    for fourth, lost in (("3B", []), ("2B", [("play 5D", "three 3 missing B", 3.0)])):
        other = "3B" if fourth == "2B" else "2B"
        table = packets_table("pizzichino", ["3D 3C", "3S 4C", f"5D {fourth}", "4S", "4D", other, "AC", "AS"])
        play_cards(table, "5D")
        assert find_missed(table, monkeypatch) == lost
    # Declarations for earlier cards end when the seat plays to the trick.
    table = packets_table("pizzichino", ["3D 3C", "3S 4C 5B", "3B", "4S", "4D", "2B", "AC", "AS"])
    play(table, "1: pick 3", "1: play 5B")
    assert find_missed(table, monkeypatch) == [("play 5B", "four 3", 4.0)]


@pytest.mark.parametrize("game_id", mostly_long([game for game in GAMES if game != "spades"], "testa", "tavolo"))
def test_records_without_fixed_options_can_be_analysed(game_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "BUDGET_SHARE", 0.01)
    record = simulate(game_id, {}, ["random"] * GAMES[game_id].seats, "1")
    choices = record.kind.rules.choices()
    rules = {name: value for name, value in record.rules.items() if len(choices[name]) > 1}
    bare = engine.read(record.model_copy(update={"rules": rules}).to_json())
    number = next(n for n, deal in enumerate(record.deals, 1) if any(move[1] in COMBINATIONS for move in deal.moves))
    assert analyse_deal(bare, number) == analyse_deal(record, number)


def test_declaration_that_was_made_has_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "BUDGET_SHARE", 0.01)
    table = stock_table("metamazzo", f"3D 2D AD 4D {LOW_COPPE}", LOW_SPADE)
    play(table, "1: declare napoletana D")
    play_cards(table, "4C")
    table.play(0, "resign")
    made, card = analyse_deal(table.record(), 1)
    assert (made.move, made.better, made.lost, made.move_index) == (*["declare napoletana D"] * 2, 0.0, 0)
    assert (card.move, card.move_index) == ("play 4C", 1)


@pytest.mark.parametrize(("worse", "losses"), [(0.0, ["three", "napoletana"]), (60.0, ["3D", "three", "napoletana"])])
def test_card_with_several_losses_is_one_bad_decision(
    worse: float, losses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = {
        ITALIAN.index["4C"]: MoveEstimate(visits=100, mean=0.0),
        ITALIAN.index["3D"]: MoveEstimate(visits=100, mean=worse),
    }
    monkeypatch.setattr(StrongRobot, "judge_moves", lambda *_: judged)
    table = stock_table("metamazzo", "3D 2D AD 3C 3S 4C 5C 6C 7C 7D", LOW_SPADE.replace("7D", "4D"))
    play_cards(table, "4C")
    table.play(0, "resign")
    verdicts = analyse_deal(table.record(), 1)
    assert [verdict.better.split(" ")[1] for verdict in verdicts] == losses
    assert all(verdict.lost for verdict in verdicts)
    assert (summarize(verdicts, 1).decisions, summarize(verdicts, 1).good) == (1, 0)


@pytest.mark.long
@pytest.mark.parametrize("game_id", ["pizzichino", "spizzichino"])
def test_advised_moves_are_legal(game_id: str) -> None:
    checked = 0
    for seed in range(3):
        record = simulate(game_id, {}, ["random"] * 2, f"x{seed}")
        for verdict in analyse_deal(record, 1):
            game = load(record, 1, verdict.move_index)
            assert verdict.better in game.legal_moves(verdict.seat)
            checked += 1
    assert checked > 20


@pytest.mark.parametrize(
    ("declare", "hand"),
    [
        ("acquired", "2D AD"),
        long("acquired", ""),
        long("none", "2D AD"),
        long("dealt", "2D AD"),
        long("acquired", "3C 3B"),
    ],
)
def test_card_is_judged_when_a_pick_was_possible(declare: str, hand: str) -> None:
    table = last_packet_card_table(declare, hand)
    move_index = len(table.moves)
    play_cards(table, "7B")
    play_out(table)
    verdicts = [verdict for verdict in analyse_deal(table.record(), 1) if verdict.move_index == move_index]
    assert [verdict.move for verdict in verdicts] == ["play 7B"]


@pytest.mark.parametrize(("declare", "lost"), [("none", 1.0), ("acquired", 0.0)])
def test_verdict_is_inexact_while_a_packet_can_score(declare: str, lost: float) -> None:
    """The 4 covers the ace of a napoletana. Playing the 4 costs a point in tricks; the napoletana scores three."""
    packets = [
        "3D 2D RS CD 3C", "2S 6D 7C FB CC", "5D 3B 2C FD RD", "5C 5B 7D 4B AD",
        "6C 3S AB CB 7S", "4S 7B 6B 6S 4C", "5S RB FS 4D FC", "RC 2B AS AC CS",
    ]  # fmt: skip
    table = packets_table("pizzichino", packets, {"declare": declare})
    play_cards(table, "2S 5S 5D 7S 6D RB 3B CB FB AB 4S RS 3C RC 5C 6C FS 5B 2B CC AS 7D AC 7C 3S 2C CS FD 4D RD CD FC")
    play_cards(table, "4B")
    move_index = len(table.moves) - 1
    play_out(table)
    verdict, answer = (
        found for found in analyse_deal(table.record(), 1) if found.move_index in (move_index, move_index + 1)
    )
    assert (verdict.move, verdict.lost, verdict.exact) == ("play 4B", lost, declare == "none")
    # Now the ace lies open, and the other seat plays.
    assert (answer.seat, answer.exact) == (0, declare == "none")


@pytest.mark.long
def test_strong_player_loses_less_than_random() -> None:
    record = simulate("metamazzo", {}, ["strong", "random"], "5")
    verdicts = [verdict for deal in (1, 2) for verdict in analyse_deal(record, deal)]
    strong, random = summarize(verdicts, 0), summarize(verdicts, 1)
    assert strong.good / strong.decisions > random.good / random.decisions
    assert strong.lost_exactly + strong.lost_by_judgement < random.lost_exactly + random.lost_by_judgement


def test_summary_lists_the_costliest_moves_first() -> None:
    verdicts = [
        Verdict(1, move_index, move_index % 2, "play 4D", "play 3D", float(move_index % 5), exact=move_index % 3 == 0)
        for move_index in range(20)
    ]
    summary = summarize(verdicts, 0, limit=2)
    assert [verdict.lost for verdict in summary.costliest] == [4.0, 4.0]
    assert summary.decisions == 10
    assert summary.good == 2
    assert summary.accuracy == 20
    assert summary.lost_exactly + summary.lost_by_judgement == sum(
        verdict.lost for verdict in verdicts if verdict.seat == 0
    )
    assert summarize([*verdicts, *verdicts], 0).decisions == 10, "several verdicts on a move must count as one decision"
    for seat in (0, 1):
        assert {verdict.seat for verdict in summarize(verdicts, seat, limit=20).costliest} == {seat}
    assert summarize([], 0).accuracy is None


def test_costliest_moves_are_ranked_by_total_loss() -> None:
    def verdict(deal: int, move_index: int, better: str, lost: float) -> Verdict:
        return Verdict(deal, move_index, 0, "play 4D", better, lost, exact=True)

    several = [
        verdict(1, 4, "play 3D", 0.5),
        verdict(1, 4, "declare four 3", 4.0),
        verdict(1, 4, "declare four 2", 4.0),
    ]
    single = [verdict(1, 0, "play 3D", 3.0), verdict(2, 4, "play 3D", 5.0), verdict(2, 0, "play 3D", 6.0)]
    summary = summarize([*single, *several, verdict(3, 0, "play 4D", 0.0)], 0, limit=3)
    assert [(costly.deal, costly.move_index, costly.lost) for costly in summary.costliest] == [
        (1, 4, 4.0), (1, 4, 4.0), (1, 4, 0.5), (2, 0, 6.0), (2, 4, 5.0),
    ]  # fmt: skip
    assert len(summarize(several, 0, limit=1).costliest) == 3


def test_unfinished_deal_can_be_analysed() -> None:
    game = Game("tressette", dealer=0)
    game.deal(Random(1).randbytes(32))
    for _ in range(30):
        if game.turn is not None:
            game.play(game.turn, next(move for move in game.legal_moves(game.turn) if move.startswith("play ")))
    game.play(0, "resign")
    assert analyse_deal(game.record(), 1)


@pytest.mark.parametrize(
    ("worth", "lost", "better"), [(40.0, 8.0, "bid 4"), (49.0, 0.0, "bid 3"), (60.0, 0.0, "bid 3")]
)
def test_bid_loss_is_against_the_best_bid(
    worth: float, lost: float, better: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StrongRobot, "judge_bids", lambda *_: {2: 1.0, 3: worth, 4: 52.0})
    table = spades_table("", "")
    play(table, "1: bid 4", "0: bid 3")
    verdict = analyse_deal(table.record(), 1)[1]
    assert (verdict.seat, verdict.move, verdict.exact) == (0, "bid 3", False)
    assert (verdict.lost, verdict.better) == (lost, better)


@pytest.mark.parametrize("bid", [9, 13])
def test_extreme_bids_are_judged(bid: int) -> None:
    table = spades_table("", "QS 4S 2S KH 8H 2H AD 7D 3D KC JC 5C 3C")
    play(table, f"1: bid {bid}", "0: bid 4", "1: resign")
    wild = analyse_deal(table.record(), 1)[0]
    assert (wild.seat, wild.move, wild.exact) == (1, f"bid {bid}", False)
    assert wild.better in {"bid 2", "bid 3", "bid 4"}
    assert wild.lost > 10 * bid
