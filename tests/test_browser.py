"""The Chromium shared by all tests of pages."""

from itertools import count

import pytest
from playwright.async_api import Browser

from tests.browser import ONE_BROWSER

pytestmark = [*ONE_BROWSER, pytest.mark.long]

attempts = count(1)


@pytest.mark.filterwarnings("ignore:Chromium has died")
async def test_crashed_test_restarts_with_a_new_chromium(browser: Browser) -> None:
    attempt, page = next(attempts), await browser.new_page()
    if attempt == 1:
        await (await browser.new_browser_cdp_session()).send("Browser.crash")
    await page.goto("about:blank")
    assert attempt == 2
