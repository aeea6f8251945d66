"""Downtime is no playing time, and nobody's clock but the store's playing time counts."""

import pytest

from bot.house import House
from bot.settings import Settings
from bot.store import EmbeddedStore, Store, keys, opened
from bot.tables.table import TIME_TO_ACCEPT
from tests.bot.hours import ring, step_clock
from tests.bot.paper import Paper, Player, open_house

HOUR = 3600.0
LONGEST_GAP = 5.0
"""What of a gap may count as playing time, playing_time.lua."""


async def left(store: Store) -> dict[str, float]:
    """Every clock that runs, and how long until it rings."""
    return await store.attendance.due(range(keys.SHARDS), 10 * TIME_TO_ACCEPT)


async def challenges(house: House, paper: Paper, count: int) -> None:
    for number in range(count):
        player = Player(house, paper, f"P{number}", number)
        await player.say("/challenge testa", place=f"paper:{1000 + number}")


async def live_phases(store: Store) -> list[str]:
    house = House(store, Settings(_env_file=None))
    return sorted([(await house.room.table(code)).phase for code in await left(store)])


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_an_hour_down_expires_no_challenge(embedded: EmbeddedStore, end: str) -> None:
    paper = Paper()
    async with opened(embedded.url) as store:
        async with open_house(store, paper) as house:
            await challenges(house, paper, 60)
            await ring(house, TIME_TO_ACCEPT - HOUR / 2)
            before = await left(store)
            if end == "kill":
                # What a killed worker leaves: nothing given back.
                house.shards.mine.clear()
        assert len(before) == 60
        await step_clock(store, HOUR)
        async with open_house(store, paper) as house:
            await ring(house, 0)
            after = await left(store)
            assert set(after) == set(before)
            assert all(before[code] - after[code] <= LONGEST_GAP + 1 for code in before)
            assert await live_phases(store) == ["open"] * 60
            await ring(house, HOUR)
            assert await left(store) == {}
            assert "Nobody came within 24 hours" in paper.last("paper:1000").plain
