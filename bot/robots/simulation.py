"""Reproducible games between robots."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from engine import Game, Record, legal_moves_for_record
from engine.robots import act, make_robot


def simulate(
    game_id: str, rules: Mapping[str, object], players: Sequence[str], seed: str, *, legal: bool = False
) -> Record:
    """Play a game between the named robots, one for each seat. The same seed gives the same game.

    With ``legal``, each recorded move has the sorted list of the seat's legal moves.
    """
    random = Random(seed)
    game = Game(game_id, rules)
    robots = [make_robot(name, Random(f"{seed}/{seat}")) for seat, name in enumerate(players)]
    legal_by_deal: list[list[list[str]]] = []
    while not game.is_over:
        if game.needs_deal:
            game.deal(random.randbytes(32))
            legal_by_deal.append([])
        for seat in _possible_movers(game):
            legal_moves = legal_moves_for_record(game, seat) if legal else []
            move_count = len(game.moves)
            if act(game, seat, robots[seat]):
                # Moves of chance can follow automatically. They have no legal moves to list.
                legal_by_deal[-1] += [legal_moves] + [[]] * (len(game.moves) - move_count - 1)
                break
    record = game.record()
    if not legal:
        return record
    deals = []
    for deal, legal_lists in zip(record.deals, legal_by_deal, strict=True):
        moves = [(*move, legal_moves) for move, legal_moves in zip(deal.moves, legal_lists, strict=True)]
        deals.append(deal.model_copy(update={"moves": moves}))
    return record.model_copy(update={"deals": deals})


def _possible_movers(game: Game) -> Iterator[int]:
    """Yield the seats that can move out of turn, then the seat to move."""
    for seat in range(game.kind.seats):
        if seat != game.turn and legal_moves_for_record(game, seat):
            yield seat
    if game.turn is not None:
        yield game.turn
