"""The worlds that a robot considers possible, and their weights."""

from random import Random

import pytest

from engine import GAMES, Game
from engine.cards import ITALIAN
from engine.declarations import combinations_in
from engine.position import search_position
from engine.robots.deductions import weigh_worlds, worlds_of
from engine.search import playing
from engine.search.compiled import Ints
from engine.search.playing import new_board
from engine.search.worlds import draw_world
from engine.spades import NOT_SPADES, SpadesDeal
from engine.stock import StockDeal
from engine.tressette import TressetteDeal
from tests.engine.tables import (
    game_in_play,
    last_packet_card_table,
    legal_declarations,
    packets_table,
    play,
    play_cards,
    spades_table,
    stock_table,
)


@pytest.mark.parametrize("game_id", GAMES)
def test_every_world_fits_the_known_cards(game_id: str) -> None:
    for seed in range(6):
        random = Random(f"{game_id} {seed}")
        game = game_in_play(game_id, random, random.randrange(6, 41))
        seat = game.turn
        assert seat is not None
        assert game.current
        view, history = game.view(seat), game.history(seat)
        worlds, board = worlds_of(view, history, pool=20), new_board(seed + 1)
        pool = weigh_worlds(worlds, view, history, board)
        for drawn_worlds in (worlds._replace(weights=worlds.weights[:0]), pool):
            for _ in range(10):
                assert draw_world(drawn_worlds, board)
                hands = [int(hand) for hand in board.hands[: game.kind.seats]]
                assert hands[seat] == game.current.cards[seat] or game_id in ("pizzichino", "spizzichino")
                for other, hand in enumerate(hands):
                    known = int(worlds.known_cards[other])
                    assert hand & known == known
                    if not len(worlds.packets):
                        assert not hand & ~known & ~int(worlds.allowed[other])
                        assert hand.bit_count() == game.current.cards[other].bit_count()
                assert sum(hand.bit_count() for hand in hands) == union_of(hands).bit_count()


def union_of(hands: list[int]) -> int:
    union = 0
    for hand in hands:
        union |= hand
    return union


@pytest.mark.parametrize("game_id", GAMES)
def test_start_state_matches_the_deal(game_id: str) -> None:
    for seed in range(20):
        random = Random(f"{game_id} {seed}")
        game = game_in_play(game_id, random, random.randrange(2, 41))
        deal, seat = game.current, game.turn
        assert deal
        assert seat is not None
        start = worlds_of(game.view(seat), game.history(seat)).start
        position = search_position(deal)
        stated = {
            playing.SEATS: deal.seats,
            playing.TURN: seat,
            playing.TRICK: deal.tricks_done,
            playing.TRICK_SIZE: len(deal.trick),
            playing.CARDS_LEFT: position.cards_left,
            playing.ALLOWED_CARDS: position.allowed_cards,
            playing.TAKEN: position.taken[0],
            playing.TAKEN + 1: position.taken[1],
            playing.POT: position.pot,
        }
        if deal.trick:
            stated |= {playing.BEST_CARD: position.best_card, playing.WINNER: position.winner}
        if isinstance(deal, StockDeal):
            stated[playing.STOCK] = len(deal.stock) - deal.drawn_count
        if isinstance(deal, SpadesDeal):
            stated |= {playing.SPADES: 1, playing.BROKEN: deal.broken}
            stated |= {playing.BIDS + side: deal.bids[side] or 0 for side in (0, 1)}
            stated |= {playing.BLIND + side: deal.blind[side] for side in (0, 1)}
        if isinstance(deal, TressetteDeal):
            stated[playing.REUSE] = deal.reuse
            if not deal.reuse:
                stated |= {playing.SCORED + other: deal.scored[other] for other in range(deal.seats)}
        assert {index: start[index] for index in stated} == stated


@pytest.mark.parametrize("game_id", GAMES)
def test_need_is_the_number_of_a_seats_hidden_cards(game_id: str) -> None:
    for seed in range(20):
        random = Random(f"{game_id} {seed}")
        game = game_in_play(game_id, random, random.randrange(2, 41))
        deal, seat = game.current, game.turn
        assert deal
        assert seat is not None
        worlds = worlds_of(game.view(seat), game.history(seat))
        assert worlds.need[seat] == 0
        for other, held in enumerate(deal.cards):
            known_cards = int(worlds.known_cards[other])
            assert known_cards & held == known_cards
            if other != seat:
                assert (held & ~known_cards).bit_count() == worlds.need[other]


def test_cards_below_packet_tops_are_unknown() -> None:
    tops = {3: "7D", 4: "4S", 7: "5S", 8: "6S"}
    game = packets_table("pizzichino", [tops.get(number, "") for number in range(1, 9)])
    four_below = [(1, "7D", 4), (1, "4S", 4), (0, "5S", 4), (0, "6S", 4)]
    assert known_packets(game) == four_below
    play_cards(game, "7D")
    assert known_packets(game)[1:] == four_below[1:]
    assert known_packets(game)[0][2] == 3


def known_packets(game: Game) -> list[tuple[int, str, int]]:
    """Return the packets known to the seat to move: owner, top card and number of cards below."""
    assert game.turn is not None
    flat = [int(number) for number in worlds_of(game.view(game.turn), game.history(game.turn)).packets]
    return [(flat[start], ITALIAN.codes[flat[start + 1]], flat[start + 2]) for start in range(0, len(flat), 3)]


def test_player_not_following_is_void_in_the_suit() -> None:
    random = Random(3)
    for _ in range(20):
        game = game_in_play("tressette", random, random.randrange(8, 30))
        seat = game.turn
        assert seat is not None
        assert game.current
        # These random players announce false volos.
        worlds = worlds_of(game.view(seat), game.history(seat), believing=False)
        for other in range(4):
            assert not game.current.cards[other] & ~int(worlds.allowed[other]) & ~int(worlds.known_cards[other])


@pytest.mark.parametrize("game_id", ["metamazzo", "tressette", "spades"])
def test_only_void_suits_are_excluded(game_id: str) -> None:
    """Suits that were followed or never led stay possible."""
    voids = 0
    for seed in range(12):
        game = game_in_play(game_id, Random(f"void {game_id} {seed}"), 16)
        assert game.turn is not None
        seats, pack = game.kind.seats, game.kind.pack
        void = [0] * seats
        plays = [(by, pack.index[move.split(" ")[1]]) for by, move in game.moves if move.startswith("play ")]
        for start in range(0, len(plays), seats):
            led_suit = pack.suit_of[plays[start][1]]
            for by, card in plays[start : start + seats]:
                if by is not None and pack.suit_of[card] != led_suit:
                    void[by] |= led_suit
        allowed = worlds_of(game.view(game.turn), game.history(game.turn), believing=False).allowed
        for seat in range(seats):
            assert not int(allowed[seat]) & void[seat]
            if game_id == "metamazzo" and not any("three" in move for _, move in game.moves):
                assert int(allowed[seat]) & ITALIAN.full == ITALIAN.full & ~void[seat]
        voids += sum(map(bool, void))
    assert voids > 4


def test_nil_is_a_bid_of_no_tricks() -> None:
    table = spades_table("", "")
    play(table, "1: bid 0", "0: bid 5")
    start = worlds_of(table.view(1), table.history(1)).start
    assert [int(start[playing.BIDS + side]) for side in (0, 1)] == [5, 0]
    assert [int(start[playing.BLIND + side]) for side in (0, 1)] == [0, 0]


def test_leader_of_unbroken_spades_holds_only_spades() -> None:
    table = spades_table("KH", "AH AS KS QS JS TS 9S 8S 7S 6S 5S 4S 3S")
    play(table, "1: bid 4", "0: bid 4")
    play_cards(table, "AH KH AS")
    assert not int(worlds_of(table.view(0), table.history(0)).allowed[1]) & NOT_SPADES


def test_false_volo_is_believed_until_disproved() -> None:
    game = game_in_play("tressette", Random(2))
    seat = game.turn
    assert seat is not None
    game.play(seat, f"{game.legal_moves(seat)[0]} volo")
    other = game.turn
    assert other is not None
    view, history = game.view(other), game.history(other)
    believing, doubting = (int(worlds_of(view, history, believing=flag).allowed[seat]) for flag in (True, False))
    assert believing != doubting
    assert int(worlds_of(view, history).allowed[seat]) == believing
    assert doubting & believing == believing


def test_player_declaring_three_lacks_the_fourth() -> None:
    random, possible_count = Random(1), 0
    while possible_count < 5:
        game = game_in_play("tressette", random, 36)
        for seat in range(4):
            declare = [move for move in game.legal_moves(seat) if move.startswith("declare three")]
            if not declare or game.turn is None:
                continue
            before = worlds_of(game.view(game.turn), game.history(game.turn), believing=False)
            game.play(seat, declare[0])
            missing_card = ITALIAN.mask([declare[0].split(" ")[2] + declare[0].split(" ")[4]])
            after = worlds_of(game.view(game.turn), game.history(game.turn), believing=False)
            assert not int(after.allowed[seat]) & missing_card
            possible_count += int(before.allowed[seat]) & missing_card != 0


@pytest.mark.parametrize(("game_id", "extra_thirds"), [("metamazzo", 12), ("testa", 0)])
def test_fourth_card_counts_only_with_reuse(game_id: str, extra_thirds: int) -> None:
    table = (
        stock_table(game_id, "AD AC AB 4D", "3D")
        if extra_thirds == 0
        else stock_table(game_id, "AD AC 4D", "3D", "7S AB")
    )
    if extra_thirds:
        play_cards(table, "4D 3D")
    table.play(1, f"declare {legal_declarations(table, 1)[0]}")
    worlds = worlds_of(table.view(1), table.history(1))
    board = new_board(1)._replace(state=worlds.start)
    board.hands[1] = ITALIAN.mask(["AD", "AC", "AB", "AS"])
    playing.declare(board, 1, ITALIAN.mask(["AS"]))
    assert worlds.start[playing.DECLARED + 1] == extra_thirds


@pytest.mark.parametrize("game_id", ["tressette", "tavolo"])
def test_undeclared_combinations_are_doubted(game_id: str) -> None:
    """The random players here declare if they can, so silence means that they cannot."""
    random, possible, believed = Random(4), 0, 0.0
    for seed in range(12):
        game = game_in_play(game_id, random)
        while game.current and game.current.tricks_done < 4:
            assert game.turn is not None
            declarations = [
                (seat, move) for seat in range(4) for move in game.legal_moves(seat) if move.startswith("declare")
            ]
            plays = [move for move in game.legal_moves(game.turn) if move.startswith("play ")]
            game.play(*(declarations[0] if declarations else (game.turn, random.choice(plays))))
        assert game.turn is not None
        view, history = game.view(game.turn), game.history(game.turn)
        worlds = weigh_worlds(worlds_of(view, history, pool=300), view, history, new_board(seed + 1))
        assert view.deal
        played_codes: list[list[str]] = [[], [], [], []]
        for by, move in history:
            if by is not None and move.startswith("play "):
                played_codes[by].append(move.split(" ")[1])
        declared = [int(worlds.start[playing.SCORED + seat]) for seat in range(4)]
        for world, weight in enumerate(weight_shares(worlds.weights)):
            silent = False
            for seat in range(4):
                dealt = int(worlds.pool[world * 4 + seat]) | ITALIAN.mask(played_codes[seat])
                going = ITALIAN.mask(played_codes[seat])
                silent = silent or (
                    seat != game.turn
                    and any(
                        not combination.kind & declared[seat] and (combination.cards & going or game_id == "tressette")
                        for combination in combinations_in(dealt)
                    )
                )
            possible += silent
            believed += silent * weight
    assert possible > 12 * 300 * 0.1
    assert believed < 12 * 0.05


@pytest.mark.parametrize(("game_id", "cards_left"), [("metamazzo", 30), ("pizzichino", 30), ("metamazzo", 18)])
def test_worlds_are_not_weighed_if_hands_change_or_are_known(game_id: str, cards_left: int) -> None:
    game = game_in_play(game_id, Random(8), cards_left)
    assert game.turn is not None
    view, history = game.view(game.turn), game.history(game.turn)
    worlds = weigh_worlds(worlds_of(view, history, pool=50), view, history, new_board(1))
    assert len(worlds.pool) == len(worlds.weights) == 0


def test_poorly_fitting_worlds_are_still_distinguished(monkeypatch: pytest.MonkeyPatch) -> None:
    """Moves of random players look unlikely with any cards."""
    monkeypatch.setattr("engine.robots.deductions.DOUBT", 0.001)
    monkeypatch.setattr("engine.robots.deductions.MILDNESS", 10.0)
    game = game_in_play("tressette", Random(6), 12)
    assert game.turn is not None
    view, history = game.view(game.turn), game.history(game.turn)
    worlds = weigh_worlds(worlds_of(view, history, pool=500, believing=False), view, history, new_board(1))
    shares = weight_shares(worlds.weights)
    assert max(shares) > 20 / 500
    assert min(shares) < 0.01 / 500


def weight_shares(weights: Ints) -> list[float]:
    """Return each world's share, from cumulative weights."""
    sums = [int(weight) for weight in weights]
    return [(after - before) / sums[-1] for before, after in zip([0, *sums], sums, strict=False)]


def test_honour_that_covers_nothing_is_not_a_pick() -> None:
    for hand, declares in (("2D AD", True), ("", False)):
        table = last_packet_card_table("acquired", hand)
        worlds, board = worlds_of(table.view(1), table.history(1)), new_board(1)
        assert draw_world(worlds, board)
        assert not playing.legal_moves(board) & ~playing.CARDS
        # The card is picked up at once, which can complete the napoletana.
        assert board.state[playing.DECLARED + 1] == 9 * declares
