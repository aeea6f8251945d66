"""A bot that is killed again and again, and its store: nothing acknowledged is lost, nothing is made twice."""

import os
from pathlib import Path

import pytest

from tests.bot.kills import Village, harness, on_playground
from tests.discord.kills import on_discord
from tests.long import long
from tests.telegram.kills import on_telegram
from tests.telegram.kills_on_a_cluster import Town, on_a_cluster

KILLS = int(os.environ.get("BUONGIOCO_KILLS", "60"))
"""How many in all; `python -m tests.bot.kills --kills 10000` is for a night."""


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("kills", "seed"), [(4, 2), long(-(-KILLS // 2), 0), long(-(-KILLS // 2), 1)])
async def test_killed_at_random(tmp_path: Path, kills: int, seed: int) -> None:
    async with on_playground(tmp_path) as page:
        check(await harness(kills, seed, page, least=5), kills, least=5)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [2, long(-(-KILLS // 4))])
async def test_killed_at_random_on_telegram(tmp_path: Path, kills: int) -> None:
    async with on_telegram(tmp_path) as page:
        check(await harness(kills, 7, page, least=3), kills, least=3)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [2, long(-(-KILLS // 6))])
async def test_killed_at_random_on_discord(tmp_path: Path, kills: int) -> None:
    async with on_discord(tmp_path) as page:
        check(await harness(kills, 5, page, least=3), kills, least=3)


@pytest.mark.long
@pytest.mark.timeout(1800)
async def test_workers_and_primaries_killed_at_random(tmp_path: Path) -> None:
    kills = max(3, KILLS // 20)
    async with on_a_cluster(tmp_path) as page:
        check(await harness(kills, 1, page, least=3, kind=Town), kills, least=3)


def check(village: Village, kills: int, least: int) -> None:
    assert village.kills.total() == kills
    assert len(village.pressed.keys() & village.page.done) >= least * kills, "hardly anything was played"
