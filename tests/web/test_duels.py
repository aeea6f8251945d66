"""Duels on the pages: opened, accepted by its address, compared and played again."""

import re

import aiohttp
import pytest
from playwright.async_api import Browser, Page, expect

from adapters.web.limits import CODES
from bot.features.duels.duel import DEALS
from bot.features.duels.feature import DuelsFeature
from bot.platform import Person
from tests.bot.features.daily.conftest import simple_robots
from tests.bot.features.daily.test_days import choose_move
from tests.open_playground import OpenPlayground
from tests.web.test_accessibility import check_accessibility
from tests.web.test_table_page import open_page, take_screenshot
from tests.web.test_tables import open_browser

__all__ = ["simple_robots"]


async def play_deal(playground: OpenPlayground, page: Page, seed: int) -> None:
    """Play the deal of the table that a page shows. The moves bypass the page, which is faster."""
    code = page.url.rpartition("/")[2]
    worker = playground.worker
    while True:
        await worker.alarms.wait_until_idle()
        table = await worker.room.load_recent(code)
        if table.phase != "playing":
            break
        assert table.game
        if table.game.turn == 0:
            move, chair = choose_move(table.game, seed), table.chairs[0]
            assert chair
            await worker.room.make_move(code, chair.person, table.version, move, f"m{table.version}")
    await worker.wait_until_idle()


@pytest.mark.long
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.xdist_group("browser")
@pytest.mark.flaky(reruns=1, only_rerun=["TargetClosedError"])
async def test_duel_is_accepted_by_its_address_and_compared(playground: OpenPlayground, browser: Browser) -> None:
    anna = await open_page(browser, playground.url)
    await anna.get_by_role("link", name="Duel: five deals").click()
    await check_accessibility(anna)
    await take_screenshot(anna, "duels")
    await anna.get_by_label("Game").select_option("testa")
    await anna.get_by_label("Your name").fill("Anna")
    await anna.get_by_role("button", name="New duel").click()
    address = await anna.locator(".address").inner_text()
    await check_accessibility(anna)
    await take_screenshot(anna, "duel-open")

    bruno = await open_page(browser, address)
    await expect(bruno.locator(".state")).to_contain_text(re.compile("Anna.* challenges anyone"))
    await take_screenshot(bruno, "duel-invited")
    await bruno.get_by_label("Your name").fill("Bruno")
    await bruno.get_by_role("button", name="Accept and play").click()
    await bruno.wait_for_url("**/t/*")
    await play_deal(playground, bruno, 1)
    await expect(bruno.locator(".card-text")).to_contain_text("Duel · Testa a Testa")
    await take_screenshot(bruno, "duel-deal-over")
    await bruno.get_by_role("link", name="Duel").click()
    await expect(bruno.locator(".deals")).to_have_count(0)
    for page in (anna, bruno):
        for number in range(2 if page is bruno else 1, DEALS + 1):
            await page.goto(address)
            await page.get_by_role("button", name=f"Play deal {number}").click()
            await page.wait_for_url("**/t/*")
            await play_deal(playground, page, number + (page is anna))
    await playground.worker.feature(DuelsFeature).duels.close_due()
    await anna.goto(address)
    await expect(anna.locator(".deals tbody tr")).to_have_count(DEALS)
    await expect(anna.locator(".state")).to_contain_text("duel")
    await expect(anna.get_by_role("link", name="Replay")).to_have_count(2 * DEALS)
    await check_accessibility(anna)
    await take_screenshot(anna, "duel-over")
    assert await anna.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await anna.get_by_role("button", name="Rematch").click()
    await expect(anna.locator(".state")).to_contain_text(re.compile("Anna.* challenges .*Bruno"))
    await bruno.goto(address)
    await bruno.get_by_role("button", name="Rematch").click()
    await expect(bruno.locator(".state")).to_contain_text(re.compile("Bruno.* 0 of 5"))
    await bruno.goto(f"{playground.url}duel")
    await expect(bruno.locator(".tables li")).to_have_count(2)


async def test_unknown_duel_has_no_page(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    async with session.get(f"{site.url}duel/ZZZZZZ", headers={"Accept-Language": "en"}) as answer:
        assert answer.status == 404
        assert "There’s no duel with this code" in await answer.text()


async def test_stranger_reads_a_challenge_and_its_rules(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    duels = site.worker.feature(DuelsFeature).duels
    duel = await duels.open(Person("web:anna", "Anna"), "testa", "u1")
    async with session.get(f"{site.url}duel/{duel.code.lower()}", headers={"Accept-Language": "en"}) as answer:
        page = await answer.text()
    assert "Accept and play" in page
    assert 'href="/rules/testa"' in page
    assert "web:anna" not in page


async def test_guests_code_limit_counts_every_post_to_a_duel(site: OpenPlayground) -> None:
    site.site.limits._on = True
    async with open_browser(site) as anna:
        await anna.play()
        for number in range(22, 22 + CODES.burst):
            assert (await anna.post(f"/duel/QQQQ{number}")).status == 404
        assert (await anna.post("/duel/QQQQ99")).status == 429


async def test_challenger_withdraws_on_the_page(site: OpenPlayground) -> None:
    async with open_browser(site) as anna:
        answer = await anna.post("/duel", game="testa", key="0123456789abcdef", name="Anna")
        address = answer.headers["Location"].partition("to=")[2]
        assert "Withdraw" in (await anna.get(address))[1]
        answer = await anna.post(address, decline="1")
        assert answer.status == 303
        assert "Challenge withdrawn" in (await anna.get(address))[1]
