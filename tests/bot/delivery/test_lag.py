"""The lag is the age of the oldest change that is not shown yet. It grows at stuck tables, not at busy ones."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot.delivery import lag as lag_module
from bot.delivery.lag import Lag
from bot.delivery.surface_names import Board, Hand
from bot.delivery.surface_panels import Drawer
from bot.panel import Panel, Span
from bot.platform import SentMessage
from bot.rate_limiter import RateLimit
from bot.store import Store
from tests.bot.fake_platform import GROUP, FakePlatform, code_of, open_worker, seat_players

HAND, BOARD = Hand(0), Board(1, 0)


class Clock:
    time = 1000.0

    def now(self) -> float:
        return self.time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(lag_module, "now", clock.now)
    monkeypatch.setattr("bot.delivery.delivery.now", clock.now)
    return clock


def run_check(lag: Lag, *names: Hand | Board) -> None:
    lag.begin_check()
    for name in names:
        lag.mark_behind(name)
    lag.end_check()


def test_change_waits_until_all_surfaces_show_it(clock: Clock) -> None:
    lag = Lag()
    assert lag.oldest is None
    lag.record_touch()
    clock.time += 1
    assert lag.oldest == 1000
    run_check(lag, HAND, BOARD)
    for name in (HAND, BOARD):
        lag.mark_decided(name)
    lag.mark_shown(HAND)
    assert lag.oldest == 1000
    lag.mark_shown(BOARD)
    assert lag.oldest is None


def test_panel_chosen_before_a_change_leaves_it_unshown(clock: Clock) -> None:
    lag = Lag()
    lag.record_touch()
    run_check(lag, HAND)
    lag.mark_decided(HAND)
    clock.time = 1005
    lag.record_touch()
    run_check(lag, HAND)
    clock.time = 1009
    lag.mark_shown(HAND)
    assert lag.oldest == 1005
    lag.mark_decided(HAND)
    lag.mark_shown(HAND)
    assert lag.oldest is None


def test_failed_steps_and_checks_leave_the_change_unshown(clock: Clock) -> None:
    lag = Lag()
    lag.record_touch()
    lag.begin_check()
    clock.time += 1
    lag.record_touch()
    run_check(lag, HAND)
    lag.mark_decided(HAND)
    lag.mark_decided(HAND)
    assert lag.oldest == 1000
    lag.mark_at_rest(HAND)
    assert lag.oldest is None


async def test_busy_table_that_shows_everything_has_no_lag(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each edit takes a second, and the table changes during it, so the table is never idle."""
    fake, lags, finished = FakePlatform(), list[float](), asyncio.Event()
    edit, draw_cached = fake.edit, Drawer._draw_cached

    async def draw_differently(self: Drawer, *args: Any, **options: Any) -> Panel | None:
        panel = await draw_cached(self, *args, **options)
        return panel and replace(panel, text=(*panel.text, Span(f" {len(lags)}")))

    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        code = await code_of(worker, anna)

        async def edit_slowly(place: str, sent: SentMessage, panel: Panel) -> SentMessage:
            clock.time += 1
            if len(lags) < 100:
                worker.delivery.touch(code)
                await asyncio.sleep(0)
                lags.append(worker.delivery.lag)
            else:
                finished.set()
            return await edit(place, sent, panel)

        monkeypatch.setattr(Drawer, "_draw_cached", draw_differently)
        monkeypatch.setattr(fake, "edit", edit_slowly)
        worker.delivery.touch(code)
        async with asyncio.timeout(60):
            await finished.wait()
        assert 0 < max(lags) < 20, "the lag must cover at most two rounds of edits"
        await worker.wait_until_idle()
        assert worker.delivery.lag == 0


async def test_lag_grows_while_one_message_is_stuck(store: Store, clock: Clock) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno = await seat_players(worker, fake, "metamazzo")
        await worker.wait_until_idle()
        assert worker.delivery.lag == 0

        # The board's next turn comes in an hour.
        fake.rate_limit_of[GROUP] = RateLimit(burst=1, interval=3600.0)
        assert worker.delivery._tools.limiter.take_turn(GROUP) == 0
        code, mover = await code_of(worker, anna), anna if anna.moves() else bruno
        before = fake.last(mover.private)
        await mover.press(mover.moves()[0][1].label, settle=False)
        for _ in range(3):
            async with asyncio.timeout(60):
                while fake.last(mover.private) == before or worker.delivery._tables[code].is_behind:
                    await asyncio.sleep(0.01)
            clock.time += 500
            worker.delivery.touch(code)
        assert worker.delivery.lag >= 1500
        del fake.rate_limit_of[GROUP]
        worker.delivery.resume_platform("paper")
        await worker.wait_until_idle()
        assert worker.delivery.lag == 0
