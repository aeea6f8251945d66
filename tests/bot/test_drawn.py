"""What was drawn for a day stays, whatever later releases would draw."""

import asyncio
from collections.abc import Mapping
from datetime import date, timedelta

from bot.daily_draws import Choose, DailyDraws
from bot.store import Store

DAY = date(2026, 11, 26)


def always(one: str) -> Choose:
    return lambda _drawn: one


async def test_what_was_drawn_stays(store: Store) -> None:
    drawn = DailyDraws(store.client, "drawn")
    assert await drawn.get(DAY) is None
    assert await drawn.draw(DAY, always("testa")) == "testa"
    assert await drawn.draw(DAY, always("spades")) == "testa"
    assert await drawn.get(DAY) == "testa"


async def test_the_first_of_two_draws_counts(store: Store) -> None:
    drawn = DailyDraws(store.client, "drawn")
    both = await asyncio.gather(drawn.draw(DAY, always("testa")), drawn.draw(DAY, always("spades")))
    assert both[0] == both[1] == await drawn.get(DAY)


async def test_a_draw_knows_the_other_days(store: Store) -> None:
    drawn, known = DailyDraws(store.client, "drawn"), []

    def note(others: Mapping[date, str]) -> str:
        known.append(dict(others))
        return "spades"

    await drawn.draw(DAY, always("testa"))
    await drawn.draw(DAY + timedelta(days=1), note)
    assert known == [{DAY: "testa"}]
