"""Who leaves games that I found for them, and how long they wait before they may look again.

Leaving is: resigning before the first deal is over, losing by time, or not answering whether one is ready. It costs
nothing the first time, more each time within a day, and is forgotten a day later. What may be our own outage's doing
counts for nobody.
"""

from typing import Any

from bot.delivery.message_state import decode_state
from bot.delivery.names import encode_name
from bot.delivery.surfaces import card_at
from bot.pseudonyms import is_pseudonym
from bot.store import Store, keys
from bot.store.entries import Move, decode
from bot.store.log import unstamped
from bot.tables.table import Table

FORGOTTEN_AFTER = 86400
"""Seconds after which it does not count any more that somebody left."""

PENALTIES = (0, 120, 600, 1800, 7200)
"""Seconds that somebody waits from the last time they left, by how often that was; the last for more often, too."""


class Leavers:
    """Those who left of late, in one store."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def add(self, person: str, cause: str, now: float) -> None:
        """Somebody left at ``now``, Unix seconds; once for each cause."""
        async with self._client.pipeline(transaction=False) as pipe:
            pipe.zadd(keys.left(person), {cause: now}, nx=True)
            pipe.zremrangebyscore(keys.left(person), "-inf", now - FORGOTTEN_AFTER)
            pipe.expire(keys.left(person), FORGOTTEN_AFTER)
            await pipe.execute()

    async def times(self, person: str, now: float) -> list[float]:
        """When somebody left of late, the first time first."""
        found = await self._client.zrange(
            keys.left(person), now - FORGOTTEN_AFTER, "+inf", byscore=True, withscores=True
        )
        return [at for _cause, at in found]

    async def penalty(self, person: str, now: float) -> float:
        """How many seconds somebody has to wait before they may look again."""
        times = await self.times(person, now)
        if not times:
            return 0.0
        return max(0.0, times[-1] + PENALTIES[min(len(times), len(PENALTIES)) - 1] - now)


def find_leavers(table: Table) -> list[str]:
    """Who left a game of strangers that is over: who resigned it before its first deal was over, or lost by time."""
    game = table.game
    if game is None or not table.are_strangers:
        return []
    seats: list[int] = []
    if game.ending == "resign" and game.deal_number == 1:
        moves = [entry for entry in map(_decode_entry, table.log.entries) if isinstance(entry, Move)]
        seats = [move.seat for move in moves if move.move == "resign"]
    elif table.timed_out is not None:
        # Not their partner, who loses as well.
        seats = [table.timed_out]
    found = [table.chairs[seat] for seat in seats]
    return [chair.person for chair in found if chair and not chair.is_robot and not is_pseudonym(chair.person)]


async def find_no_shows(store: Store, table: Table) -> list[str]:
    """Of those who were asked whether they are ready, who let the time pass, though the question reached them."""
    if table.closed != "expired":
        return []
    shown, seated = await store.shown(table.code), {chair.person for chair in table.chairs if chair}
    found = []
    for host, one in enumerate(table.matched):
        state = shown.get(encode_name(card_at(table, host)))
        if one.person not in seated and state and decode_state(state).message and not is_pseudonym(one.person):
            found.append(one.person)
    return found


def _decode_entry(stored: bytes) -> object:
    return decode(unstamped(stored).decode())
