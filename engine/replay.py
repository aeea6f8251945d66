"""Replay records, and verify them."""

from collections.abc import Iterable, Iterator

from .errors import ClaimNeedsLead, EngineError, FaultyRecord, GameIsOver, quote
from .game import ENDING_MOVES, EXTERNAL_ENDINGS, Game
from .options import CLAIMS_NEED_A_LEAD, RELEASE
from .records import DealRecord, Record
from .shuffle import Cut, commitment, shuffle_pack


def load(record: Record, deal: int | None = None, moves: int | None = None) -> Game:
    """Return the game after ``moves`` moves of a deal; by default at the end of the record.

    Deals count from 1; 0 is before the first. Only that deal is replayed and checked; `verify` checks the whole record.
    Raises FaultyRecord for an illegal move or a missing deal.
    """
    number = len(record.deals) if deal is None else deal
    if not 0 <= number <= len(record.deals):
        raise FaultyRecord(f"there is no deal {number}; the record has {len(record.deals)}")
    game = Game.resume(record, number)
    if number:
        for _ in _steps(game, record.deals[number - 1], number, moves):
            pass
    if deal is None and moves is None and record.ending in EXTERNAL_ENDINGS:
        _stop_game(game, record)
    return game


def replay(record: Record, deal: int) -> Iterator[Game]:
    """Yield the game after a deal is laid out and after each of its moves. Each time it is the same object."""
    game = Game.resume(record, deal)
    yield game
    for _ in _steps(game, record.deals[deal - 1], deal):
        yield game


def continue_record(record: Record, deal: int, place: int, moves: Iterable[str]) -> Iterator[Game]:
    """Yield the game after the first ``place`` moves of a deal, and after each of ``moves``, made by the seat to move.

    Each time it is the same object. An illegal move raises FaultyRecord in the record, and IllegalMove in ``moves``.
    """
    game = load(record, deal, place)
    yield game
    for move in moves:
        if game.turn is None or move in ENDING_MOVES:
            raise GameIsOver()
        game.play(game.turn, move)
        yield game


def verify(record: Record) -> str:
    """Check a whole record. FaultyRecord names the deal and the move of the first fault.

    Each deal's dealer, commitment, pack, moves, lists of legal moves and scores are checked, then the ending and the
    winner. Return a note if only an earlier release of the rules allowed the last move, otherwise an empty string.
    """
    game = Game(record.game, record.rules, record.seats, record.deals[0].dealer if record.deals else None)
    for number, deal in enumerate(record.deals, 1):
        if not game.needs_deal:
            raise FaultyRecord("the game was over before this deal", number)
        game.lay_out(deal.pack, *_check_proof(game, deal, number))
        for _ in _steps(game, deal, number, check_legal=True):
            pass
        if number < len(record.deals) and not game.needs_deal and not game.is_over:
            raise FaultyRecord("the deal is not played to its end, but another follows", number)
        counted_deal = game.record().deals[-1]
        for name, right_value in {**counted_deal.entries(), "totals": counted_deal.totals}.items():
            recorded = getattr(deal, name)
            if recorded != right_value:
                raise FaultyRecord(f"{name} are recorded as {list(recorded)}, but are {list(right_value)}", number)
    _check_ending(game, record)
    if game.release == RELEASE:
        return ""
    location = f"deal {len(record.deals)}, move {len(record.deals[-1].moves)}"
    rule = f"the rules allowed this only before release {CLAIMS_NEED_A_LEAD}"
    return f"{location}: claimed in a tie-break deal without a lead; {rule}"


def _steps(
    game: Game, deal: DealRecord, number: int, end: int | None = None, *, check_legal: bool = False
) -> Iterator[None]:
    for move_index, (seat, move, *legal) in enumerate(deal.moves[:end]):
        try:
            if check_legal and legal:
                _check_legal(game, seat, legal[0])
            _play(game, move_index, seat, move)
        except FaultyRecord as error:
            raise FaultyRecord(error.problem, number, move_index + 1) from None
        except EngineError as error:
            raise FaultyRecord(f"{quote(move)}: {error}", number, move_index + 1) from None
        yield


def _play(game: Game, move_index: int, seat: int | None, move: str) -> None:
    """Make a recorded move. A record does not name its release of the rules, but a claim can show it."""
    if seat is None and move_index < len(game.moves):  # the game makes this move of chance automatically
        chance_move = game.moves[move_index][1]
        if chance_move != move:
            raise FaultyRecord(f"{quote(move)}: according to the deal's secret, chance {chance_move}")
        return
    try:
        game.play(seat, move)
    except ClaimNeedsLead:
        game.release = CLAIMS_NEED_A_LEAD - 1
        game.play(seat, move)


def legal_moves_for_record(game: Game, seat: int | None) -> list[str]:
    """Return the legal moves as a record lists them: sorted, without claims and resignations; empty for chance."""
    return [] if seat is None else sorted(move for move in game.legal_moves(seat) if move not in ENDING_MOVES)


def _check_legal(game: Game, seat: int | None, recorded: list[str]) -> None:
    legal = legal_moves_for_record(game, seat)
    for move in recorded:
        if move not in legal:
            raise FaultyRecord(f"{quote(move)} is listed as legal, but is not")
    for move in legal:
        if move not in recorded:
            raise FaultyRecord(f"{move} is legal, but is not listed")
    if recorded != legal:
        raise FaultyRecord("the list of legal moves is not sorted")


def _check_proof(game: Game, deal: DealRecord, number: int) -> tuple[bytes, Cut | None]:
    """Check dealer, secret, cut and pack, and return the secret and the cut."""
    if deal.dealer != game.next_dealer:
        raise FaultyRecord(f"seat {deal.dealer} deals, but it was seat {game.next_dealer}'s turn", number)
    if deal.proof is None:
        raise FaultyRecord("there is no proof: nobody can know how this pack was shuffled", number)
    secret, cut = bytes.fromhex(deal.proof.secret), deal.proof.made_cut
    if commitment(secret) != deal.proof.commitment:
        raise FaultyRecord("the commitment does not match the secret", number)
    if cut and cut.seat & 1 == deal.dealer & 1:
        raise FaultyRecord(f"seat {cut.seat} cut, and seat {deal.dealer} deals: only an opponent can cut", number)
    if shuffle_pack(game.kind.pack, secret, cut) != tuple(deal.pack):
        sources = "the secret and the cut" if cut else "the secret"
        raise FaultyRecord(f"the pack does not follow from {sources}", number)
    return secret, cut


def _check_ending(game: Game, record: Record) -> None:
    if record.ending in EXTERNAL_ENDINGS:
        _stop_game(game, record)
    if record.ending != game.ending:
        raise FaultyRecord(f"the ending is recorded as {record.ending}, but was {game.ending}")
    winner = None if game.winner is None else list(game.winner)
    if record.winner != winner:
        raise FaultyRecord(f"the winner is recorded as {record.winner}, but was {winner}")


def _stop_game(game: Game, record: Record) -> None:
    if game.is_over:
        raise FaultyRecord(f"the ending is recorded as {record.ending}, but was {game.ending}")
    winner = record.winner[0] & 1 if record.winner and record.ending == "timeout" else None
    try:
        game.stop(record.ending or "cancelled", winner)
    except EngineError:
        raise FaultyRecord(f"a {record.ending} cannot have winner {record.winner}") from None
