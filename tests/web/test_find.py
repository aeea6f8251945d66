"""Strangers find each other on the pages."""

import pytest
from playwright.async_api import Browser, Page, expect

from bot.features.find.feature import FindFeature
from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.test_accessibility import check_accessibility
from tests.web.test_table_page import open_page, take_screenshot

pytestmark = [*ONE_BROWSER, pytest.mark.long]


async def begin_search(site: OpenPlayground, browser: Browser) -> Page:
    page = await open_page(browser, site.url)
    await page.get_by_role("button", name="Find someone").click()
    await page.wait_for_url("**/find")
    return page


async def test_two_visitors_meet_at_a_table(playground: OpenPlayground, browser: Browser) -> None:
    first = await begin_search(playground, browser)
    await expect(first.locator("#search")).to_contain_text("Looking for")
    await expect(first.locator("#looking")).to_have_text("1 looking now")
    await check_accessibility(first)
    await take_screenshot(first, "find")
    other = await open_page(browser, playground.url)
    await expect(other.get_by_role("button", name="Find someone")).to_contain_text("1 looking now")
    await other.get_by_role("button", name="Find someone").click()
    for page in (first, other):
        await page.wait_for_url("**/t/*", timeout=60_000)
        await expect(page.locator(".felt")).to_be_visible(timeout=60_000)
    assert first.url == other.url


async def test_search_is_stopped(playground: OpenPlayground, browser: Browser) -> None:
    page = await begin_search(playground, browser)
    await page.get_by_role("button", name="Stop").click()
    await page.wait_for_url(playground.url)
    assert await playground.worker.feature(FindFeature).site.count() == 0
    await page.goto(f"{playground.url}find")
    await page.wait_for_url(playground.url)


async def test_robot_is_played_while_searching(playground: OpenPlayground, browser: Browser) -> None:
    page = await begin_search(playground, browser)
    async with page.context.expect_page() as opened:
        await page.get_by_role("button", name="Play a robot meanwhile").click()
    await expect((await opened.value).locator(".felt")).to_be_visible(timeout=60_000)
    await expect(page.locator("#search")).to_contain_text("Looking for")
