"""Migrations between layouts. Each step can be interrupted and repeated."""

import time
from collections.abc import Awaitable, Callable, Mapping
from itertools import pairwise
from typing import Any

from bot.store import keys
from bot.store.first_release import convert_table_lists, index_people, name_rules

Migration = Callable[[Any], Awaitable[None]]  # changes one layout into the next, given the store's client

GAMES_AT_ONCE = 1000


async def count_games(client: Any) -> None:
    """Number finished games by a counter. If games share a number, all but the first get a new one."""
    last: tuple[bytes, float] = (b"", 0)
    start, duplicates = 0, []
    while games := await client.zrange(keys.GAMES_ORDER, start, start + GAMES_AT_ONCE - 1, withscores=True):
        duplicates += [
            game for (_, earlier_number), (game, number) in pairwise([last, *games]) if number == earlier_number
        ]
        start, last = start + len(games), games[-1]
    last_number = max(int(last[1]), int(await client.get(keys.GAMES_COUNTER) or 0))
    if last_number:
        await client.set(keys.GAMES_COUNTER, last_number)
    for game in duplicates:
        await client.zadd(keys.GAMES_ORDER, {game: await client.incr(keys.GAMES_COUNTER)})


MIN_CLOCK_SECONDS = 30.0  # the least time that a clock has left after the change to playing time


async def start_playing_time(client: Any) -> None:
    """Change clocks from Unix seconds of the workers to playing time (`bot.store.leases`).

    The length of the downtime is unknown, but it is at least the time since the first clock rang. All clocks get that
    time back.
    """
    rings = []
    for shard in range(keys.SHARDS):
        rings += [score for _, score in await client.zrange(keys.timers(shard), 0, 0, withscores=True)]
    playing_time = min([time.time(), *(score - MIN_CLOCK_SECONDS for score in rings)])
    for shard in range(keys.SHARDS):
        await client.hsetnx(keys.attended(shard), "played", f"{playing_time:.6f}")


async def migrate_to_2(client: Any) -> None:
    """Migrate from layout 1, which the first release used. The order of the steps does not matter."""
    for step in (count_games, start_playing_time, name_rules, convert_table_lists, index_people):
        await step(client)


MIGRATIONS: Mapping[int, Migration] = {1: migrate_to_2}  # the migration from each layout to the next
