"""Accessibility of every page, checked with axe-core, the checker that browsers' own tools use."""

from contextlib import suppress
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Error, Page, expect

from engine import GAMES
from tests.browser import ONE_BROWSER
from tests.long import mostly_long
from tests.open_playground import OpenPlayground
from tests.web.page_addresses import PAGES
from tests.web.test_api import open_table
from tests.web.test_table_page import DESKTOP, PHONE, TO_PRESS, open_page, press
from tests.web.test_watch import play_card

pytestmark = [*ONE_BROWSER, pytest.mark.long]

LOOKS: dict[str, Any] = {"light": PHONE, "dark": DESKTOP}


async def check_accessibility(page: Page) -> None:
    results = await Axe().run(page)
    assert not results.violations_count, results.generate_report()


async def resign(page: Page) -> None:
    """Resign in the open menu. If a moving card or a new deal closes the question, try again."""
    confirm = page.get_by_role("button", name="Yes, I resign")
    for _ in range(5):
        await page.get_by_role("button", name="Resign").first.click()
        with suppress(Error):
            await confirm.click(timeout=3000)
            return
        await page.locator(".opens-menu").click()
    raise AssertionError("the question about resigning closed five times")


@pytest.mark.parametrize("theme", LOOKS)
async def test_pages_are_accessible_and_fit(playground: OpenPlayground, browser: Browser, theme: str) -> None:
    page = await open_page(browser, playground.url, **LOOKS[theme], color_scheme=theme)
    for path in (*PAGES, "rules/tressette"):
        await page.goto(playground.url + path)
        await check_accessibility(page)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    await page.goto(playground.url)
    await page.fill("[name=name]", "Anna")
    await page.get_by_role("button", name="Play with a friend").click()
    link = await page.locator(".link input").input_value()
    await check_accessibility(page)
    for path in ("", "settings"):  # now with a table and a name
        await page.goto(playground.url + path)
        await check_accessibility(page)
    friend = await open_page(browser, link, **LOOKS[theme], color_scheme=theme)
    await check_accessibility(friend)
    await friend.get_by_role("button", name="Sit down").click()
    await page.goto(link)
    for waiting in (friend, page):
        await expect(waiting.locator(".cut")).to_be_visible()
        await check_accessibility(waiting)


@pytest.mark.parametrize("theme", LOOKS)
async def test_watched_table_is_accessible(playground: OpenPlayground, browser: Browser, theme: str) -> None:
    code, watch_id = await open_table(playground)
    card = await play_card(playground, code, "m1")
    page = await open_page(browser, f"{playground.url}t/{watch_id}", **LOOKS[theme], color_scheme=theme)
    await expect(page.locator(f"[data-lying='{card}']")).to_be_visible()
    await check_accessibility(page)


@pytest.mark.parametrize("theme", mostly_long(LOOKS, "light"))
@pytest.mark.parametrize("game", mostly_long(GAMES, "spizzichino"))
async def test_table_is_accessible_from_first_card_to_replay(
    playground: OpenPlayground, browser: Browser, game: str, theme: str
) -> None:
    page = await open_page(browser, playground.url, **LOOKS[theme], color_scheme=theme, reduced_motion="reduce")
    await page.check(f"[name=game][value={game}]")
    await page.select_option("[name=robot]", "easy")
    await page.get_by_role("button", name="Play now").click()
    await page.wait_for_selector(".felt")
    for step in range(60):
        await expect(page.locator(f"{TO_PRESS}, .card-text").first).to_be_visible()
        if await page.locator(".card-text").count():
            break
        if step % 6 == 0 or await page.locator(".tally").count():
            await check_accessibility(page)
        if await page.locator(".tally").count():
            break
        before = await page.locator("#table").inner_html()
        with suppress(Error):
            # A robot can end the game in the meantime.
            await press(page, page.locator(TO_PRESS).last, timeout=3000)
            # Some presses change nothing visible.
            changed = "old => document.getElementById('table').innerHTML !== old"
            await page.wait_for_function(changed, arg=before, timeout=3000)
    if not await page.locator(".card-text").count():
        if await page.locator(".tally").count():
            await page.keyboard.press("Enter")
        await page.locator(".opens-menu").click()
        await check_accessibility(page)
        await resign(page)
    await expect(page.locator(".card-text")).to_be_visible()
    await check_accessibility(page)
    await page.get_by_role("link", name="Replay").click()
    await page.wait_for_url("**/g/**")
    await page.wait_for_selector(".position")
    await check_accessibility(page)
