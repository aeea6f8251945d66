"""From a record back to the game: to any point, step by step, and with everything checked."""

from collections.abc import Iterator

from engine.errors import ClaimNeedsLead, EngineError, FaultyRecord, shown
from engine.game import ENDING_MOVES, ENDINGS_FROM_OUTSIDE, Game
from engine.records import DealRecord, Record
from engine.rules import CLAIMS_NEED_A_LEAD, RELEASE
from engine.shuffle import commitment, shuffled


def load(record: Record, deal: int | None = None, moves: int | None = None) -> Game:
    """The game at a point of its record: after so many moves of a deal; by default where the record ends.

    Deals count from 1; 0 is before the first. Only that deal is replayed: earlier ones are believed, as in a
    record of one's own; `verify` believes nothing. FaultyRecord names a move that cannot be.
    """
    number = len(record.deals) if deal is None else deal
    if not 0 <= number <= len(record.deals):
        raise FaultyRecord(f"there is no deal {number}; the record has {len(record.deals)}")
    game = Game.resume(record, number)
    if number:
        for _ in _steps(game, record.deals[number - 1], number, moves):
            pass
    if deal is None and moves is None and record.ending in ENDINGS_FROM_OUTSIDE:
        _stop(game, record)
    return game


def replay(record: Record, deal: int) -> Iterator[Game]:
    """A game as it stands with a deal laid out and then after each of its moves: the same object, played on."""
    game = Game.resume(record, deal)
    yield game
    for _ in _steps(game, record.deals[deal - 1], deal):
        yield game


def verify(record: Record) -> str:
    """Raise FaultyRecord, naming deal and move, unless the record is a true game from first to last.

    Return a note if only an earlier release of the rules allowed its last move, otherwise an empty string.

    Every deal must follow from its secret and every commitment too; every move must be legal, and where the record
    lists the legal moves the list must be right; scores, dealers, ending and winner must be right.
    """
    game = Game(record.game, record.rules, record.seats, record.deals[0].dealer if record.deals else None)
    for number, deal in enumerate(record.deals, 1):
        if not game.needs_deal:
            raise FaultyRecord("the game was over before it", number)
        game.lay_out(deal.pack, _checked_secret(game, deal, number))
        for _ in _steps(game, deal, number, check_legal=True):
            pass
        if number < len(record.deals) and not game.needs_deal and not game.over:
            raise FaultyRecord("the deal is not played to its end, and another follows", number)
        _check_counted(game, deal, number)
    _check_ending(game, record)
    return "" if game.release == RELEASE else _note(record)


def _note(record: Record) -> str:
    """Tell where a record has a claim that only the first release of the rules allowed."""
    where = f"deal {len(record.deals)}, move {len(record.deals[-1].moves)}"
    return (
        f"{where}: claimed in a tie-break deal without a lead; "
        f"the rules allowed this before release {CLAIMS_NEED_A_LEAD} and do not now"
    )


def _steps(
    game: Game, deal: DealRecord, number: int, until: int | None = None, *, check_legal: bool = False
) -> Iterator[None]:
    for place, (seat, move, *legal) in enumerate(deal.moves[:until]):
        try:
            if check_legal and legal:
                _check_legal(game, seat, legal[0])
            if seat is None and place < len(game.moves):
                _check_chance(game.moves[place][1], move)
            else:
                _play(game, seat, move)
        except FaultyRecord as error:
            raise FaultyRecord(error.problem, number, place + 1) from None
        except EngineError as error:
            raise FaultyRecord(f"{shown(move)}: {error}", number, place + 1) from None
        yield


def _play(game: Game, seat: int | None, move: str) -> None:
    """Make a recorded move. A record does not name its release of the rules, so a claim that only an earlier one
    allowed makes it a game of that release.
    """
    try:
        game.play(seat, move)
    except ClaimNeedsLead:
        game.release = CLAIMS_NEED_A_LEAD - 1
        game.play(seat, move)


def legal_for_record(game: Game, seat: int | None) -> list[str]:
    """The legal moves as a record lists them: sorted, without claims and resignations; none for chance."""
    return [] if seat is None else sorted(move for move in game.legal_moves(seat) if move not in ENDING_MOVES)


def _check_legal(game: Game, seat: int | None, recorded: list[str]) -> None:
    counted = legal_for_record(game, seat)
    for move in recorded:
        if move not in counted:
            raise FaultyRecord(f"{shown(move)} is listed as legal and is not")
    for move in counted:
        if move not in recorded:
            raise FaultyRecord(f"{move} is legal and is not listed")
    if recorded != counted:
        raise FaultyRecord("the list of legal moves is not sorted")


def _check_chance(owed: str, recorded: str) -> None:
    if owed != recorded:
        raise FaultyRecord(f"{shown(recorded)}: by the deal's secret chance {owed}")


def _checked_secret(game: Game, deal: DealRecord, number: int) -> bytes:
    if deal.dealer != game.next_dealer:
        raise FaultyRecord(f"seat {deal.dealer} deals, and it was seat {game.next_dealer}'s turn to", number)
    if deal.proof is None:
        raise FaultyRecord("there is no proof: nobody can know how this pack was shuffled", number)
    secret = bytes.fromhex(deal.proof.secret)
    if commitment(secret) != deal.proof.commitment:
        raise FaultyRecord("the commitment is not the secret's", number)
    if shuffled(game.kind.pack, secret) != tuple(deal.pack):
        raise FaultyRecord("the pack does not follow from the secret", number)
    return secret


def _check_counted(game: Game, deal: DealRecord, number: int) -> None:
    counted = game.record().deals[-1]
    for name, right in {**counted.entries(), "totals": counted.totals}.items():
        recorded = getattr(deal, name)
        if recorded != right:
            raise FaultyRecord(f"{name} are recorded as {list(recorded)} and come to {list(right)}", number)


def _check_ending(game: Game, record: Record) -> None:
    if record.ending in ENDINGS_FROM_OUTSIDE:
        _stop(game, record)
    if record.ending != game.ending:
        raise FaultyRecord(f"the ending is recorded as {record.ending} and was {game.ending}")
    right = None if game.winner is None else list(game.winner)
    if record.winner != right:
        raise FaultyRecord(f"the winner is recorded as {record.winner} and was {right}")


def _stop(game: Game, record: Record) -> None:
    if game.over:
        raise FaultyRecord(f"the ending is recorded as {record.ending} and was {game.ending}")
    winner = record.winner[0] & 1 if record.winner and record.ending == "timeout" else None
    try:
        game.stop(record.ending or "cancelled", winner)
    except EngineError:
        raise FaultyRecord(f"a {record.ending} cannot have winner {record.winner}") from None
