"""From one layout of the store to the next. Each step may be cut short and begin again: done twice is done once."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from bot.store import keys
from bot.store.first_release import convert_table_lists, name_rules
from bot.store.indexing import index_people

Migration = Callable[[Any], Awaitable[None]]
"""Given the store's client, changes what one layout has into what the next one has."""

GAMES_AT_ONCE = 1000


async def count_games(client: Any) -> None:
    """Finished games get their numbers from a counter; those that share a number, for one was removed, get new ones."""
    last: tuple[bytes, float] = (b"", 0)
    begin, doubles = 0, []
    while found := await client.zrange(keys.GAMES_ORDER, begin, begin + GAMES_AT_ONCE - 1, withscores=True):
        doubles += [game for (_, before), (game, number) in pairwise([last, *found]) if number == before]
        begin, last = begin + len(found), found[-1]
    given = max(int(last[1]), int(await client.get(keys.GAMES_COUNTER) or 0))
    if given:
        await client.set(keys.GAMES_COUNTER, given)
    for game in doubles:
        await client.zadd(keys.GAMES_ORDER, {game: await client.incr(keys.GAMES_COUNTER)})


LEAST_TIME = 30.0
"""Seconds that every clock has left after the step from Unix seconds to playing time."""


async def start_playing_time(client: Any) -> None:
    """Clocks rang at a Unix second of the workers; they go on from there by playing time (`bot.store.attendance`).

    How long the bot was down is not known, but at least since the first clock rang unheard: all get so much back.
    """
    rings = []
    for shard in range(keys.SHARDS):
        rings += [score for _, score in await client.zrange(keys.timers(shard), 0, 0, withscores=True)]
    played = min([time.time(), *(score - LEAST_TIME for score in rings)])
    for shard in range(keys.SHARDS):
        await client.hsetnx(keys.attended(shard), "played", f"{played:.6f}")


STEPS_TO_2: Sequence[Migration] = (count_games, start_playing_time, name_rules, convert_table_lists, index_people)
"""What layout 2 changed, in any order."""


async def migrate_to_2(client: Any) -> None:
    """From layout 1, that of the first release."""
    for step in STEPS_TO_2:
        await step(client)


MIGRATIONS: Mapping[int, Migration] = {1: migrate_to_2}
"""By the number of a layout: what makes the next one of it."""
