"""Repeated kills of the bot and its store lose no acknowledged move and repeat none."""

import os
from pathlib import Path

import pytest

from tests.discord.kills import on_discord
from tests.kills import daily
from tests.kills.harness import Harness, on_playground
from tests.kills.pages import Page
from tests.kills.tournaments import TournamentHarness
from tests.kills.tournaments import on_playground as on_tournament_playground
from tests.telegram.kills import on_telegram
from tests.telegram.kills_on_a_cluster import ClusterHarness, on_a_cluster

pytestmark = pytest.mark.long

KILLS = int(os.environ.get("BUONGIOCO_KILLS", "60"))
"""Number of kills in all. `python -m tests.kills --kills 10000` runs overnight."""


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [0, 1])
async def test_no_move_is_lost_on_the_playground(tmp_path: Path, seed: int) -> None:
    async with on_playground(tmp_path) as page:
        await run_harness(page, seed, -(-KILLS // 2), least=5)


@pytest.mark.timeout(1800)
async def test_no_move_is_lost_on_telegram(tmp_path: Path) -> None:
    async with on_telegram(tmp_path) as page:
        await run_harness(page, 7, -(-KILLS // 4), least=3)


@pytest.mark.timeout(1800)
async def test_no_move_is_lost_on_discord(tmp_path: Path) -> None:
    async with on_discord(tmp_path) as page:
        await run_harness(page, 5, -(-KILLS // 6), least=3)


@pytest.mark.timeout(1800)
async def test_no_move_is_lost_on_a_cluster(tmp_path: Path) -> None:
    kills = max(3, KILLS // 20)
    async with on_a_cluster(tmp_path) as page:
        await run_harness(page, 1, kills, least=3, kind=ClusterHarness)


@pytest.mark.timeout(1800)
async def test_no_move_is_lost_in_tournaments(tmp_path: Path) -> None:
    async with on_tournament_playground(tmp_path) as page:
        harness = TournamentHarness(page, 3)
        await harness.run(max(4, KILLS // 10))
        assert harness.finished, "no tournament ended"


@pytest.mark.timeout(1800)
async def test_no_move_is_lost_in_the_deal_of_the_day(tmp_path: Path) -> None:
    async with daily.on_playground(tmp_path) as page:
        harness = await run_harness(page, 3, max(4, KILLS // 10), least=20, kind=daily.DayHarness)
    assert isinstance(harness, daily.DayHarness)
    assert harness.played, "nobody finished the deal of the day"


async def run_harness(page: Page, seed: int, kills: int, *, least: int, kind: type[Harness] = Harness) -> Harness:
    harness = kind(page, seed, least)
    await harness.run(kills)
    assert harness.kills.total() == kills
    assert len(harness.players.acknowledged) >= least * kills, f"fewer than {least} presses per kill were acknowledged"
    return harness
