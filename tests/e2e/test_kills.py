"""No acknowledged move is lost or repeated when the bot and its store are killed again and again."""

import asyncio
import os
import time
from pathlib import Path
from random import Random
from typing import TypeVar

import aiohttp
import pytest

from tests.discord.kills import on_discord
from tests.kills import daily, duels, matches
from tests.kills.bot_process import Bot
from tests.kills.harness import Harness, on_playground
from tests.kills.pages import Page
from tests.kills.tournaments import TournamentHarness
from tests.kills.tournaments import on_playground as on_tournament_playground
from tests.telegram.kills import on_telegram
from tests.telegram.kills_on_a_cluster import ClusterHarness, on_a_cluster

pytestmark = pytest.mark.long

H = TypeVar("H", bound=Harness)

KILLS = int(os.environ.get("BUONGIOCO_KILLS", "60"))
"""Number of kills on the playground.

Other tests make fewer kills. `python -m tests.kills --kills 10000` runs overnight.
"""


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [0, 1])
async def test_no_move_is_lost_on_the_playground(tmp_path: Path, seed: int) -> None:
    async with on_playground(tmp_path) as page:
        await run_harness(Harness, page, seed, -(-KILLS // 2), min_presses=5)


@pytest.mark.timeout(1800)
async def test_no_move_is_lost_on_telegram(tmp_path: Path) -> None:
    async with on_telegram(tmp_path) as page:
        await run_harness(Harness, page, 7, -(-KILLS // 4), min_presses=3)


@pytest.mark.timeout(1800)
async def test_no_move_is_lost_with_widgets(tmp_path: Path) -> None:
    async with on_telegram(tmp_path, widgets=True) as page:
        await run_harness(Harness, page, 11, -(-KILLS // 8), min_presses=3)


@pytest.mark.timeout(1800)
async def test_no_move_is_lost_on_discord(tmp_path: Path) -> None:
    async with on_discord(tmp_path) as page:
        await run_harness(Harness, page, 5, -(-KILLS // 6), min_presses=3)


@pytest.mark.timeout(1800)
async def test_no_move_is_lost_on_a_cluster(tmp_path: Path) -> None:
    kills = max(3, KILLS // 20)
    async with on_a_cluster(tmp_path) as page:
        await run_harness(ClusterHarness, page, 1, kills, min_presses=3)


@pytest.mark.timeout(1800)
async def test_no_move_is_lost_in_tournaments(tmp_path: Path) -> None:
    async with on_tournament_playground(tmp_path) as page:
        harness = TournamentHarness(page, 3)
        await harness.run(max(4, KILLS // 10))
        assert harness.tournaments_over, "no tournament ended"


@pytest.mark.timeout(1800)
async def test_no_move_is_lost_in_the_deal_of_the_day(tmp_path: Path) -> None:
    async with daily.on_playground(tmp_path) as page:
        # A deal of Spades takes a person some 30 presses.
        harness = await run_harness(daily.DayHarness, page, 3, max(4, KILLS // 10), min_presses=60)
    assert harness.day_results, "nobody finished the deal of the day"


@pytest.mark.timeout(1800)
async def test_no_deal_of_a_duel_is_lost_or_counted_twice(tmp_path: Path) -> None:
    async with duels.on_playground(tmp_path) as page:
        harness = await run_harness(duels.DuelHarness, page, 1, max(4, KILLS // 10), min_presses=20)
    assert harness.duels_over, "no duel ended"


@pytest.mark.timeout(1800)
async def test_no_duel_of_a_match_is_lost_or_played_twice(tmp_path: Path) -> None:
    async with matches.on_playground(tmp_path) as page:
        harness = await run_harness(matches.MatchHarness, page, 1, max(4, KILLS // 10), min_presses=20)
    assert harness.matches_over, "no match ended"


@pytest.mark.timeout(600)
async def test_game_against_a_robot_continues_after_kills(tmp_path: Path) -> None:
    """In a first game hands show hints. After each start of the bot, new robot processes must compute them."""
    bot = Bot(tmp_path)
    page, random = Page(bot), Random(3)
    async with aiohttp.ClientSession() as session:
        try:
            for number in range(max(4, KILLS // 10)):
                await bot.start()
                await page.connect(session)
                listening = asyncio.create_task(page.listen())
                anna = page.people[0]["id"]
                if number == 0:
                    await page.ask(do="say", **{"as": anna}, chat=f"@{anna}", text="/start")
                    for payload in ("1pchallenge robot", "1pchallenge robot metamazzo"):
                        await press_button(page, anna, payload)
                await play_turns(page, anna, random, turns=2)
                if random.random() < 0.5:
                    bot.kill_store()
                await bot.kill()
                await listening
        finally:
            await bot.kill()
            bot.kill_store()


async def run_harness(kind: type[H], page: Page, seed: int, kills: int, *, min_presses: int) -> H:
    harness = kind(page, seed, min_presses)
    await harness.run(kills)
    assert harness.kills.total() == kills
    assert len(harness.players.acknowledged) >= min_presses * kills, (
        f"fewer than {min_presses} presses per kill were acknowledged"
    )
    return harness


async def press_button(page: Page, person: str, payload: str) -> None:
    """Wait for a button with this payload, and press the last one."""
    while True:
        for message in reversed(page.chat(f"@{person}").values()):
            if any(button.get("payload") == payload for row in message.get("rows", ()) for button in row):
                await page.ask(do="press", **{"as": person}, chat=f"@{person}", message=message["id"], payload=payload)
                return
        await asyncio.sleep(0.05)


async def play_turns(page: Page, person: str, random: Random, *, turns: int) -> None:
    """Make random moves. Raise AssertionError if the person waits a minute for a turn."""
    deadline = time.monotonic() + 60
    while turns:
        moves = [button for button in page.buttons(person) if button[1].startswith("1m") and "resign" not in button[1]]
        if moves:
            message, payload = random.choice(moves)
            answer = await page.ask(do="press", **{"as": person}, chat=f"@{person}", message=message, payload=payload)
            turns -= answer == "done"
            deadline = time.monotonic() + 60
        assert time.monotonic() < deadline, f"no turn in 60 s; {page.chat(f'@{person}')}\n{page.bot.log_tail()}"
        await asyncio.sleep(0.05)
