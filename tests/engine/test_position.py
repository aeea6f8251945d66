"""The light positions for searches play the same tricks as the engine."""

from random import Random

import pytest

from engine import GAMES, Game
from engine.cards import cards
from engine.packets import PacketsDeal
from engine.position import SearchPosition, pick_move, search_position
from engine.spades import SpadesDeal
from tests.engine.tables import play_random_step


def dealt_game(game: str, seed: int) -> Game:
    table = Game(game, dealer=0)
    random = Random(f"{game} {seed}")
    table.deal(random.randbytes(32))
    while table.current and table.current.phase != "play":
        play_random_step(table, random)
    return table


@pytest.mark.parametrize("game", GAMES)
def test_positions_agree_with_the_engine(game: str) -> None:
    for seed in range(30):
        random = Random(seed)
        table = dealt_game(game, seed)
        deal = table.current
        assert deal
        start = random.randrange(12)
        position = search_position(deal)
        moves = 0
        while table.turn is not None:
            if moves == start:
                position = search_position(deal)
            numbers = {}
            for move in table.legal_moves(table.turn):
                word, *arguments = move.split(" ")
                if word == "play" and len(arguments) == 1:
                    numbers[move] = deal.PACK.index[arguments[0]]
                elif word == "pick":
                    assert isinstance(deal, PacketsDeal)
                    numbers[move] = pick_move(deal.packets[int(arguments[0])][0])
            if moves >= start:
                assert position.turn == table.turn
                legal = {*cards(position.legal_cards()), *map(pick_move, cards(position.legal_picks()))}
                assert legal == {*numbers.values()}
            move = random.choice([*numbers])
            table.play(table.turn, move)
            if moves >= start:
                position.make_move(numbers[move])
            moves += 1
        assert position.cards_left == 0
        assert position.taken == (deal.tricks if isinstance(deal, SpadesDeal) else deal.taken)


def play_randomly(position: SearchPosition, random: Random) -> tuple[int, ...]:
    """Play random cards to the end and return the result."""
    while position.cards_left:
        position.play(random.choice([*cards(position.legal_cards())]))
    return tuple(position.taken)


@pytest.mark.parametrize("game", GAMES)
def test_playing_a_copy_leaves_the_position_unchanged(game: str) -> None:
    random = Random(game)
    table = dealt_game(game, 0)
    assert table.current
    total = 13 if game == "spades" else 35
    for _ in range(8):
        position = search_position(table.current)
        before = [position.hands.copy(), position.taken.copy(), position.cards_left, position.turn]
        results = {play_randomly(position.copy(), random) for _ in range(50)}
        assert all(sum(result) == total for result in results)
        assert len(results) > 1
        assert [position.hands, position.taken, position.cards_left, position.turn] == before
        table.play(table.turn or 0, next(m for m in table.legal_moves(table.turn or 0) if m.startswith("play ")))


def test_deal_not_in_play_has_no_position() -> None:
    table = Game("pizzichino", dealer=0)
    table.deal(bytes(32))
    assert table.current
    with pytest.raises(ValueError, match="phase is take"):
        search_position(table.current)
