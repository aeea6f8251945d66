"""Searches try optional moves: picking up an honour, and declaring a three that can become a four."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Game
from engine.cards import ITALIAN, cards, mask_of
from engine.declarations import COMBINATIONS, HONOURS
from engine.packets import PacketsDeal
from engine.position import PacketsPosition, search_position
from engine.robots import Budget, MediumRobot
from engine.robots.analysis import analyse_deal
from engine.robots.deductions import worlds_of
from engine.robots.hints import find_hint, find_reason
from engine.robots.strong import StrongRobot, move_text
from engine.search import playing, tree
from engine.search.compiled import int_array, zeros
from engine.search.playing import new_board
from engine.search.solver import Solver
from engine.search.worlds import Worlds
from tests.engine.tables import last_packet_card_table, packets_table, play, play_cards
from tests.engine.test_search import fill_board

PACKET_GAMES = [("pizzichino", {}), ("pizzichino", {"declare": "none"}), ("spizzichino", {})]


def random_ending(game_id: str, rules: dict[str, object], random: Random, cards_left: int) -> Game:
    """Return a deal with at most ``cards_left`` cards, many on packets because honours are seldom picked up."""
    while True:
        game = Game(game_id, rules, dealer=random.randrange(2))
        game.deal(random.randbytes(32))
        while game.turn is not None:
            deal = game.current
            assert isinstance(deal, PacketsDeal)
            if deal.phase == "play" and search_position(deal).cards_left <= cards_left:
                return game
            moves = [move for move in game.legal_moves(game.turn) if not move.startswith(("resign", "declare"))]
            plain = [move for move in moves if not move.startswith("pick")]
            in_hand = deal.PLAY_TEXTS.list_texts(deal.hand(game.turn))
            from_hand = [move for move in plain if move in in_hand]
            if random.random() < 0.05:
                plain = moves
            elif random.random() < 0.9:
                plain = from_hand or plain
            game.play(game.turn, random.choice(plain))


def thirds_by_brute_force(game: Game, known_values: dict[object, int]) -> int:
    """Return seat 0's best result in thirds, from all legal moves of the engine."""
    deal = game.current
    assert isinstance(deal, PacketsDeal)
    if game.turn is None:
        return deal.taken[0]
    position = (*deal.cards, *deal.tops, *deal.packets, *deal.trick, *deal.taken, game.turn)
    if position not in known_values:
        results = []
        for move in trick_moves(game):
            after = game.copy()
            after.play(game.turn, move)
            results.append(thirds_by_brute_force(after, known_values))
        known_values[position] = max(results) if game.turn == 0 else min(results)
    return known_values[position]


def trick_moves(game: Game) -> list[str]:
    """Return the legal moves that affect later tricks."""
    assert game.turn is not None
    return [move for move in game.legal_moves(game.turn) if move.startswith(("play ", "pick "))]


def values_by_brute_force(game: Game) -> dict[str, int]:
    values = {}
    for move in trick_moves(game):
        after = game.copy()
        after.play(game.turn or 0, move)
        values[move] = thirds_by_brute_force(after, {})
    return values


def solve(game: Game) -> dict[str, int]:
    assert game.current
    values = Solver().solve(search_position(game.current))
    assert values is not None
    view = game.view(game.turn)
    return {move_text(view, number): value for number, value in values.items()}


@pytest.mark.parametrize(("game_id", "rules"), PACKET_GAMES)
@given(seed=st.integers(0, 2**32))
def test_solver_agrees_with_the_engine(game_id: str, rules: dict[str, object], seed: int) -> None:
    random = Random(seed)
    game = random_ending(game_id, rules, random, random.randrange(2, 11))
    assert solve(game) == values_by_brute_force(game)


def test_solver_agrees_where_a_pick_costs() -> None:
    table = ace_below_table()
    assert solve(table) == values_by_brute_force(table)
    play(table, "1: play 3B", "0: pick 2")
    values = solve(table)
    assert values == values_by_brute_force(table)
    assert values["pick 2"] < values["play 2S"] == values["play 3D"]


@given(seed=st.integers(0, 2**32))
def test_pick_alone_never_gains(seed: int) -> None:
    """So the search picks up a card only to play the card below it."""
    values = solve(random_ending("pizzichino", {}, Random(seed), 14))
    for better in (max, min):
        plays = [value for move, value in values.items() if move.startswith("play")]
        assert better(values.values()) in (better(plays), *[v for m, v in values.items() if m.startswith("pick")])


@given(seed=st.integers(0, 2**32))
def test_solver_memory_is_correct_with_packets(seed: int) -> None:
    random, kept_solver = Random(seed), Solver()
    for _ in range(4):
        position = search_position(random_ending("pizzichino", {}, random, 14).current)  # type: ignore[arg-type]
        assert kept_solver.solve(position) == Solver().solve(position)


# A deal where picking up an honour costs an ace.

PACKETS = [
    "CC FD RC FC 7D", "5B RB 2S 3D AB", "7C 6D 7B 3B 3C", "5S 4C AC 6C 2B",
    "4S 3S 6S CS 6B", "2D RS 5C 4D CD", "CB 2C FB FS 5D", "4B AS 7S AD RD",
]  # fmt: skip
ACE = """1: take 1 3 7 8, 1: hold 7 8, 0: hold 4 5, 2C, 0: pick 6, 4C 7C AC 3S 7S 4S AS CC 6C 4B 2B CS FS RS 5D 5S 6D 6S
 7B 2D, 1: pick 3, 1: pick 3, FD 5C RC AD 4D FC 5B RD CD 3C 6B 7D RB"""


def ace_below_table() -> Game:
    """Return a table with five cards left. Seat 1 leads FB or 3B; seat 0 has only 2S 3D AB on one packet."""
    table = packets_table("spizzichino", PACKETS, are_chosen=False)
    for part in ACE.replace("\n", "").split(", "):
        if ": " in part:
            play(table, part)
        else:
            play_cards(table, part)
    return table


def test_card_cost_allows_for_optional_picks() -> None:
    table = ace_below_table()
    index = len(table.moves)
    for move in ("play FB", "pick 2", "pick 2", "play AB", "play 2S", "play CB", "play 3D", "play 3B"):
        assert table.turn is not None
        table.play(table.turn, move)
    verdict = next(
        verdict_of_move for verdict_of_move in analyse_deal(table.record(), 1) if verdict_of_move.move_index == index
    )
    assert (verdict.move, verdict.better, verdict.lost, verdict.exact) == ("play FB", "play 3B", 1.0, True)


def test_costly_pick_has_a_verdict() -> None:
    table = ace_below_table()
    play(table, "1: play 3B")
    index = len(table.moves)
    play(table, "0: pick 2", "0: pick 2", "0: play AB")
    table.play(1, "resign")
    verdicts = [verdict for verdict in analyse_deal(table.record(), 1) if verdict.move_index >= index]
    assert [(verdict.move, verdict.better.split(" ")[0], verdict.exact) for verdict in verdicts][1] == (
        "pick 2",
        "play",
        True,
    )
    assert verdicts[1].lost == 3.0


@pytest.mark.parametrize("picked", [0, 1])
def test_hints_avoid_costly_picks(picked: int) -> None:
    table = ace_below_table()
    play(table, "1: play 3B", *["0: pick 2"] * picked)
    values = values_by_brute_force(table)
    for seed in range(4):
        hint = find_hint(table.view(0), table.history(0), Random(seed), Budget())
        assert hint
        assert values[hint.move] == max(values.values())


def test_single_card_is_not_the_only_move_if_a_pick_is_legal() -> None:
    table = ace_below_table()
    play(table, "1: play 3B")
    assert find_reason(table.view(0), table.history(0), "play 2S") != "only"


def test_medium_robot_keeps_a_forced_card_covered() -> None:
    table = ace_below_table()
    play(table, "1: play 3B")
    assert MediumRobot(Random(1)).choose(table.view(0), table.history(0)) == "play 2S"
    # The robot picks up if the card below follows suit anyway, or if the pick completes a combination.
    table = packets_table("pizzichino", ["4D", "", "", "", "5D", "", "3C"])
    play_cards(table, "4D")
    assert MediumRobot(Random(1)).choose(table.view(0), table.history(0)) == "pick 7"
    table = last_packet_card_table("acquired")
    assert MediumRobot(Random(1)).choose(table.view(1), table.history(1)) == "pick 3"


# Declaring


@pytest.mark.parametrize("reuse", [False, True])
@pytest.mark.parametrize("level", ["medium", "strong"])
def test_robots_wait_for_a_fourth_on_a_packet(level: str, reuse: bool) -> None:
    """A rank scores once, so declaring the three would lose the four; with reuse both score."""
    table, three = packets_table("pizzichino", ["3D 3C", "3S", "3B"], {"reuse": reuse}), "declare three 3 missing B"
    robot = MediumRobot(Random(1)) if level == "medium" else StrongRobot(Random(1), Budget(share=0.3))
    move = robot.choose(table.view(1), table.history(1))
    assert (move == three) is reuse
    if level == "medium" and not reuse:
        assert move == "pick 3"


@pytest.mark.parametrize("reuse", [False, True])
@given(seed=st.integers(0, 2**32))
def test_searches_offer_the_legal_choices(reuse: bool, seed: int) -> None:
    """The choices are picks that uncover a card and, without reuse, threes.

    Moves that are never worse are made at once, in the search and in the game.
    """
    random = Random(seed)
    game = Game("pizzichino", {"reuse": reuse}, dealer=0)
    game.deal(random.randbytes(32))
    while game.current and (game.current.phase != "play" or game.current.tricks_done < 1):
        assert game.turn is not None
        declare_and_pick(game, all_threes=True)
        game.play(game.turn, random.choice([m for m in game.legal_moves(game.turn) if m != "resign"]))
    declare_and_pick(game)
    assert isinstance(game.current, PacketsDeal)
    board, start = fill_board(game), game.current.declared.copy()
    # The opponent picks up its last packet cards at its turn, which can complete a combination.
    position = search_position(game.current)
    assert isinstance(position, PacketsPosition)
    for packet in position.packets[1 - position.turn]:
        if len(packet) == 1 and packet[0] in cards(HONOURS):
            playing.declare(board, 1 - position.turn, 1 << packet[0])
    while game.turn is not None:
        view = game.view(game.turn)
        moves = {move_text(view, number): number for number in cards(int(playing.legal_moves(board)))}
        legal = {m for m in game.legal_moves(game.turn) if m != "resign"}
        assert {*moves} == {m for m in legal if not m.startswith("pick") or covers_a_card(game, m)}
        move = random.choice([*moves])
        playing.make_move(board, moves[move])
        game.play(game.turn, move)
        declare_and_pick(game)
    declared = [int(board.state[playing.DECLARED + side]) for side in (0, 1)]
    assert declared == [3 * (now - then) for now, then in zip(game.current.declared, start, strict=True)]


def covers_a_card(game: Game, pick: str) -> bool:
    assert isinstance(game.current, PacketsDeal)
    return len(game.current.packets[int(pick[5:])]) > 1


def declare_and_pick(game: Game, *, all_threes: bool = False) -> None:
    """Declare combinations that cannot score more later, and pick up last packet cards."""
    while game.turn is not None and game.current and game.current.phase == "play":
        moves = game.legal_moves(game.turn)
        can_wait = not all_threes and not game.rules.model_dump()["reuse"]
        at_once = [m for m in moves if m in COMBINATIONS and not (can_wait and m.startswith("declare three"))]
        at_once += [m for m in moves if m.startswith("pick") and not covers_a_card(game, m)]
        if not at_once:
            return
        game.play(game.turn, at_once[0])


@pytest.mark.parametrize(("fourth", "declares"), [("3B", False), ("4C", True)])
def test_search_keeps_a_three_back_for_a_sure_fourth(fourth: str, declares: bool) -> None:
    """Seat 0 holds three threes. The only unseen card lies below a four: the fourth three, or another card."""
    start = zeros(playing.SIZE)
    start[playing.SEATS], start[playing.CARDS_LEFT], start[playing.PACKETS] = 2, 10, 1
    start[playing.WINDOW] = playing.AS_THEY_COME
    start[playing.PENDING] = 1
    own_hand, other_hand = (ITALIAN.mask(codes.split()) for codes in ("3D 3C 3S 4D", "5S 6S 7S 5D 6D"))
    unseen, packet = int_array([ITALIAN.index[fourth]]), int_array([0, ITALIAN.index["4D"], 1])
    no_seats, nothing = zeros(4), zeros(0)
    worlds = Worlds(start, int_array([own_hand, other_hand, 0, 0]), no_seats, int_array([mask_of(range(40))] * 4), unseen, packet, nothing,
                    nothing)  # fmt: skip
    means, board = {}, new_board(5)
    for first in (tree.CARDS_ONLY, playing.FIRST_THREE):
        grown = zeros(3000 * tree.FIELDS)
        tree.search(
            grown, 1, zeros(tree.LONGEST_PATH), worlds, board, 2000, 16.0, 100, tree.LONGEST_PATH, False, first
        )  # fmt: skip
        means[first] = float(grown[tree.SUM]) / float(grown[tree.VISITS])
    assert (means[playing.FIRST_THREE] > means[tree.CARDS_ONLY]) is declares


def test_search_knows_a_three_can_be_kept_back() -> None:
    table = packets_table("pizzichino", ["3D 3C", "3S 4C", "5D 3B"])
    assert "declare three 3 missing B" in table.legal_moves(1)
    start = worlds_of(table.view(1), table.history(1)).start
    assert start[playing.PENDING + 1] == COMBINATIONS["declare three 3 missing B"].kind
    judged = StrongRobot(Random(1), Budget(share=0.2)).judge_moves(table.view(1), table.history(1))
    assert playing.FIRST_THREE in judged
