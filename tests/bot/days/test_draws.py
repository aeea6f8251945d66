"""Daily draws are permanent, even if later releases draw differently."""

import asyncio
from collections.abc import Mapping
from datetime import date, timedelta

from bot.days.draws import Choose, DailyDraws
from bot.store import Store

DAY = date(2026, 11, 26)


def choose_always(game: str) -> Choose:
    return lambda _earlier_draws: game


async def test_draw_is_permanent(store: Store) -> None:
    draws = DailyDraws(store.client, "drawn")
    assert await draws.get(DAY) is None
    assert await draws.draw(DAY, choose_always("testa")) == "testa"
    assert await draws.draw(DAY, choose_always("spades")) == "testa"
    assert await draws.get(DAY) == "testa"


async def test_first_of_two_simultaneous_draws_counts(store: Store) -> None:
    draws = DailyDraws(store.client, "drawn")
    results = await asyncio.gather(draws.draw(DAY, choose_always("testa")), draws.draw(DAY, choose_always("spades")))
    assert results[0] == results[1] == await draws.get(DAY)


async def test_draw_can_depend_on_draws_of_other_days(store: Store) -> None:
    draws, other_days = DailyDraws(store.client, "drawn"), []

    def record_and_choose(other_draws: Mapping[date, str]) -> str:
        other_days.append(dict(other_draws))
        return "spades"

    await draws.draw(DAY, choose_always("testa"))
    await draws.draw(DAY + timedelta(days=1), record_and_choose)
    assert other_days == [{DAY: "testa"}]
