"""People who leave games with strangers, and their penalty before a new search.

Leaving means resigning before the first deal is over, losing on time, or ignoring a ready check. The first time in a
day is free, and each further time costs a longer wait. Leaving that an outage of the bot could have caused does not
count.
"""

from typing import Any

from bot.delivery.message_state import decode_state
from bot.delivery.surface_names import encode_name
from bot.delivery.surfaces import card_at
from bot.features.find import keys
from bot.identity.pseudonyms import is_pseudonym
from bot.store import Store
from bot.store.entries import Move, decode
from bot.store.log import strip_stamp
from bot.tables.table import Table

ENTRY_SECONDS = 86400  # lifetime of an entry
PENALTY_SECONDS = (0, 120, 600, 1800, 7200)  # waits after the first, second, … time


class Leavers:
    def __init__(self, client: Any) -> None:
        self._client = client

    async def add(self, person: str, cause: str, now: float) -> None:
        """Record that a person left at ``now``, in Unix seconds. Each cause counts once."""
        async with self._client.pipeline(transaction=False) as pipe:
            pipe.zadd(keys.left_games(person), {cause: now}, nx=True)
            pipe.zremrangebyscore(keys.left_games(person), "-inf", now - ENTRY_SECONDS)
            pipe.expire(keys.left_games(person), ENTRY_SECONDS)
            await pipe.execute()

    async def times(self, person: str, now: float) -> list[float]:
        """Return when a person left, oldest first, in Unix seconds."""
        leavings = await self._client.zrange(
            keys.left_games(person), now - ENTRY_SECONDS, "+inf", byscore=True, withscores=True
        )
        return [left_at for _cause, left_at in leavings]

    async def penalty(self, person: str, now: float) -> float:
        times = await self.times(person, now)
        if not times:
            return 0.0
        return max(0.0, times[-1] + PENALTY_SECONDS[min(len(times), len(PENALTY_SECONDS)) - 1] - now)


def find_leavers(table: Table) -> list[str]:
    """Return the people who left a finished game of strangers by resigning in its first deal or losing on time."""
    game = table.game
    if game is None or not (table.matched and table.are_strangers):
        return []
    seats: list[int] = []
    if game.ending == "resign" and game.deal_number == 1:
        entries = (decode(strip_stamp(raw_entry).decode()) for raw_entry in table.log.entries)
        seats = [entry.seat for entry in entries if isinstance(entry, Move) and entry.move == "resign"]
    elif table.timed_out is not None:
        # The partner loses too, but did not leave.
        seats = [table.timed_out]
    chairs = [table.chairs[seat] for seat in seats]
    return [chair.person for chair in chairs if chair and not chair.is_robot and not is_pseudonym(chair.person)]


async def find_no_shows(store: Store, table: Table) -> list[str]:
    """Return the people who got the question of an expired ready check and did not answer."""
    if table.closed != "expired":
        return []
    states, seated_people = await store.load_shown(table.code), {chair.person for chair in table.chairs if chair}
    no_shows = []
    for host, chair in enumerate(table.matched):
        state = states.get(encode_name(card_at(table, host)))
        has_question = state is not None and decode_state(state).message
        if has_question and chair.person not in seated_people and not is_pseudonym(chair.person):
            no_shows.append(chair.person)
    return no_shows
