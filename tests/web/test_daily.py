"""The deal of the day on the pages: it is played once and stays secret until the day is over."""

import re
from contextlib import suppress
from datetime import date, timedelta

import pytest
from playwright.async_api import Browser, Error, expect

from bot.features.daily.days import Days
from bot.features.daily.feature import DailyFeature
from bot.features.daily.game_of_day import unstored_game
from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.test_accessibility import check_accessibility
from tests.web.test_table_page import open_page, take_screenshot, wait_for_turn

pytestmark = [*ONE_BROWSER, pytest.mark.long]

TODAY = next(day for day in (date(2026, 11, 24) + timedelta(days=n) for n in range(7)) if unstored_game(day) == "testa")


async def test_daily_deal_is_played_once_and_reviewed_the_next_day(
    playground: OpenPlayground, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Days, "today", lambda _days: TODAY)
    page = await open_page(browser, playground.url)
    await page.get_by_role("link", name="Deal of the day").click()
    await expect(page.locator("div.day")).to_contain_text("Everyone gets the same cards")
    await expect(page.get_by_role("link", name="Learn Tressette")).to_have_attribute("href", "/learn/tressette")
    await check_accessibility(page)
    await take_screenshot(page, "daily")
    await page.get_by_role("button", name="Play").click()
    await page.wait_for_selector(".felt")
    table = page.url
    await wait_for_turn(page)
    assert await page.locator("[data-payload*=':hint ']").count() == 0
    # Opening it again leads to the same table.
    await page.goto(f"{playground.url}daily")
    await page.get_by_role("button", name="Play").click()
    await page.wait_for_url(table)
    # Only the page's own state is reliable: a table is removed soon after its game ends.
    while not await page.locator(".card-text").count():
        # After the last card it is no player's turn.
        await expect(page.locator(".line.mine, .card-text").first).to_be_visible()
        before = await page.locator("#table").inner_html()
        # The deal can end, and its result arrive, between two checks.
        with suppress(Error):
            await page.locator(".fan .tap.playable").first.click(timeout=3000)
            await page.wait_for_function(
                "old => document.getElementById('table').innerHTML !== old && document.querySelector('.line.mine')",
                arg=before,
                timeout=10_000,
            )
    await expect(page.locator(".card-text")).to_contain_text(re.compile("You (win|lose) the deal|The deal is a draw"))
    await expect(page.get_by_role("link", name="Replay")).to_have_count(0)
    await take_screenshot(page, "daily-over")
    await playground.worker.feature(DailyFeature).days.wait_for_par()
    await page.get_by_role("link", name="Today’s results").click()
    await expect(page.locator("div.day")).to_contain_text("1 day in a row")
    await expect(page.get_by_role("button", name="Play")).to_have_count(0)
    await expect(page.get_by_role("button", name="Share")).to_have_attribute(
        "data-text", re.compile("^Buongioco .*🟩", re.S)
    )
    await check_accessibility(page)
    await take_screenshot(page, "daily-results")
    await page.goto(playground.url)
    await expect(page.get_by_role("link", name="Deal of the day")).to_contain_text(
        "Testa a Testa · ✓ played · 🔥 1 day"
    )
    await page.get_by_role("link", name="Deal of the day").click()

    monkeypatch.setattr(Days, "today", lambda _days: TODAY + timedelta(days=1))
    await playground.worker.feature(DailyFeature).days.close_past()
    await page.get_by_role("link", name="Yesterday").click()
    await expect(page.locator("div.day")).to_contain_text("Secret:")
    await check_accessibility(page)
    await take_screenshot(page, "daily-yesterday")
    await expect(page.locator(".lines tbody tr")).to_have_count(1)
    await expect(page.locator(".lines td")).to_have_count(20)
    await expect(page.locator(".said")).to_contain_text("The best play of the day.")
    # The table scrolls inside the page; the page does not scroll.
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    cell = page.locator(".lines td a").nth(7)
    card = (await cell.inner_text()).strip()
    await cell.click()
    await page.wait_for_selector(".position")
    assert page.url.partition("#")[2].startswith("d1m")
    # The replay shows the move that was pressed.
    await expect(page.locator("[aria-current]").first).to_contain_text(card)


async def test_stranger_reads_an_explanation_of_the_daily_deal(playground: OpenPlayground, browser: Browser) -> None:
    page = await open_page(browser, f"{playground.url}daily?yesterday")
    await expect(page.locator("div.day")).to_have_text(re.compile(r"^[^ ]+ · \w"))
    await expect(page.get_by_text("Deal of the day")).to_have_count(0)
    await expect(page.locator(".lines")).to_have_count(0)
    await page.get_by_role("link", name="Today").click()
    await expect(page.get_by_text("Deal of the day")).to_have_count(1)
    await expect(page.get_by_role("button", name="Play")).to_be_visible()
    await expect(page.locator(".day code")).to_be_hidden()
    await page.locator(".day summary").click()
    await expect(page.locator(".day code")).to_have_text(re.compile("^[0-9a-f]{64}$"))
