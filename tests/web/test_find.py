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


async def test_search_continues_at_a_table_with_a_robot(playground: OpenPlayground, browser: Browser) -> None:
    first = await begin_search(playground, browser)
    await first.get_by_role("button", name="Play a robot meanwhile").click()
    await first.wait_for_url("**/t/*")
    meanwhile = first.url
    await expect(first.locator(".felt")).to_be_visible(timeout=60_000)
    other = await begin_search(playground, browser)
    await other.wait_for_url("**/t/*", timeout=60_000)
    await first.wait_for_url(other.url, timeout=60_000)
    assert first.url != meanwhile
    await expect(first.locator(".felt")).to_be_visible(timeout=60_000)
    # The search has ended, so the page of the next table does not wait for a match.
    assert await first.evaluate("sessionStorage.getItem('searching')") == "no"


async def test_failed_request_to_sit_down_is_repeated(playground: OpenPlayground, browser: Browser) -> None:
    first = await begin_search(playground, browser)
    await first.evaluate("""() => {
        const send = fetch;
        window.fetch = (path, options) => {
            if (options?.method !== "POST") return send(path, options);
            sessionStorage.tries = Number(sessionStorage.tries || 0) + 1;
            return sessionStorage.tries === "1" ? Promise.reject(new TypeError()) : send(path, options);
        };
    }""")
    other = await begin_search(playground, browser)
    for page in (first, other):
        await page.wait_for_url("**/t/*", timeout=60_000)
    assert await first.evaluate("sessionStorage.tries") == "2"
