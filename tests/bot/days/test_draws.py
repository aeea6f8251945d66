"""Daily draws are permanent, even if later releases would draw otherwise."""

import asyncio
from collections.abc import Mapping
from datetime import date, timedelta

from bot.days.draws import Choose, DailyDraws
from bot.store import Store

DAY = date(2026, 11, 26)


def choose_always(one: str) -> Choose:
    return lambda _drawn: one


async def test_a_draw_is_permanent(store: Store) -> None:
    drawn = DailyDraws(store.client, "drawn")
    assert await drawn.get(DAY) is None
    assert await drawn.draw(DAY, choose_always("testa")) == "testa"
    assert await drawn.draw(DAY, choose_always("spades")) == "testa"
    assert await drawn.get(DAY) == "testa"


async def test_first_of_two_simultaneous_draws_counts(store: Store) -> None:
    drawn = DailyDraws(store.client, "drawn")
    both = await asyncio.gather(drawn.draw(DAY, choose_always("testa")), drawn.draw(DAY, choose_always("spades")))
    assert both[0] == both[1] == await drawn.get(DAY)


async def test_draws_see_the_other_days(store: Store) -> None:
    drawn, known = DailyDraws(store.client, "drawn"), []

    def note(others: Mapping[date, str]) -> str:
        known.append(dict(others))
        return "spades"

    await drawn.draw(DAY, choose_always("testa"))
    await drawn.draw(DAY + timedelta(days=1), note)
    assert known == [{DAY: "testa"}]
