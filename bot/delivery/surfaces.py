"""The surfaces that a table needs, and their places."""

from collections.abc import Iterator
from functools import lru_cache
from zlib import crc32

from bot.delivery.surface_names import Board, ChallengeCard, Hand, OnlyMessage, Result, SurfaceName
from bot.platform import is_inline, is_private, private_place
from bot.tables.snapshot import CUT_SHORT
from bot.tables.table import Table


def required_surfaces(table: Table) -> Iterator[SurfaceName]:
    """Yield a table's surfaces, most urgent first: the hand to move, other hands, boards."""
    if table.game is None:
        rulers = {table.ruler_of(asking_seat) for asking_seat in table.asking}
        yield from map(Hand, sorted(ruler for ruler in rulers if ruler is not None))
        yield from map(Hand, _seats_without_card(table))
        yield from (card_at(table, host) for host in range(len(table.hosts)))
        return
    turn = table.game.turn
    seats = sorted(range(len(table.chairs)), key=lambda seat: seat != turn)
    yield from (Hand(seat) for seat in seats if (chair := table.chairs[seat]) and not chair.is_robot)
    for host in range(len(table.hosts)):
        if table.had_challenge:
            yield card_at(table, host)
        if is_inline(table.hosts[host]):
            continue
        # In a private chat the hand shows the deals' scores. A duplicate deal has no board, because it would reveal
        # the deal to others.
        deals = 0 if is_private(table.hosts[host]) or table.is_duplicate else table.game.deal_number
        boards = [Board(deal, host) for deal in range(1, deals + 1)]
        yield from boards
        if table.phase == "over" and not (boards and isinstance(content_of(table, boards[-1]), Result)):
            yield Result(host)


def _seats_without_card(table: Table) -> Iterator[int]:
    """Yield the seats that need a hand while the first pack waits for a cut, because they see no challenge card.

    Their players joined a challenge that only other people's private chats show.
    """
    if not table.awaits_cut or not all(map(is_private, table.hosts)):
        return
    for seat, chair in enumerate(table.chairs):
        if chair and not chair.is_robot and private_place(chair.person) not in table.hosts:
            yield seat


def card_at(table: Table, host: int) -> ChallengeCard | OnlyMessage:
    return OnlyMessage(host) if is_inline(table.hosts[host]) else ChallengeCard(host)


def board_at(table: Table, host: int) -> SurfaceName:
    """Return the surface that shows the table's present state in a chat."""
    if table.game is None or is_inline(table.hosts[host]):
        return card_at(table, host)
    return Board(table.game.deal_number, host)


def is_last_deal_unfinished(table: Table) -> bool:
    """Return whether the game ended during a deal: by resignation, on time, or because it was cancelled."""
    if table.game is None or table.phase != "over":
        return False
    deal = table.game.view(None).deal
    return deal is not None and deal.phase != "over" and table.game.ending in CUT_SHORT


def content_of(table: Table, name: SurfaceName) -> SurfaceName:
    """Return the surface whose content a surface shows, mostly itself.

    The board of an unfinished last deal shows the result. A chat's only message shows the newest surface.
    """
    if isinstance(name, Board) and table.game and name.deal == table.game.deal_number:
        return Result(name.host) if is_last_deal_unfinished(table) else name
    if not isinstance(name, OnlyMessage):
        return name
    if table.game is None:
        return ChallengeCard(name.host)
    return Result(name.host) if table.phase == "over" else Board(table.game.deal_number, name.host)


def is_player_hand(table: Table, name: SurfaceName) -> bool:
    return isinstance(name, Hand) and name.seat < len(table.chairs) and table.chairs[name.seat] is not None


def home_of(table: Table, name: SurfaceName) -> str:
    """Return a surface's place: the player's private chat for a hand, a host chat for a board.

    It is empty for the hand of a free or missing seat: another game can have fewer seats.
    """
    if isinstance(name, Hand):
        chair = table.chairs[name.seat] if name.seat < len(table.chairs) else None
        return private_place(chair.person) if chair else ""
    return table.hosts[name.host]


def is_final(table: Table, name: SurfaceName) -> bool:
    return table.phase in ("over", "closed") or not is_open(table, name)


def is_open(table: Table, name: SurfaceName) -> bool:
    """Return whether the surface's subject can still change: a hand, the current deal, an open challenge."""
    match name:
        case Hand():
            return True
        case Board(deal):
            return table.game is not None and deal == table.game.deal_number
        case ChallengeCard():
            return table.game is None and not table.closed
        case Result():
            return False
        case OnlyMessage():
            return table.is_unfinished


@lru_cache(maxsize=10_000)
def tag_of(place: str) -> str:
    """Return a short tag that distinguishes places."""
    return f"{crc32(place.encode()) & 0xFFFF:x}"
