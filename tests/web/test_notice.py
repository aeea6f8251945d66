"""The host's announcement on open pages."""

import pytest
from playwright.async_api import Browser, expect

from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.test_browser import open_page

pytestmark = [*ONE_BROWSER, pytest.mark.long]

TEXT = "Riavvio alle 22:00, le partite <b>restano</b>."


async def test_open_page_shows_and_hides_the_announcement_live(playground: OpenPlayground, browser: Browser) -> None:
    levers = playground.worker.store.levers
    page = await (await browser.new_context(viewport={"width": 360, "height": 640})).new_page()
    await page.clock.install()
    await page.goto(playground.url)
    notice = page.locator("#notice")
    await expect(notice).to_be_hidden()
    await levers.announce(TEXT, "root")
    await levers.refresh()
    await page.clock.run_for(15_000)
    await expect(notice).to_be_visible()
    await expect(notice).to_contain_text(TEXT)
    await notice.get_by_role("button", name="Close").click()
    await expect(notice).to_be_hidden()
    # The notice stays closed in this tab until the next announcement.
    await page.reload()
    await expect(notice).to_be_hidden()
    await levers.announce("Something else", "root")
    await levers.refresh()
    await page.clock.run_for(15_000)
    await expect(notice).to_have_text("Something else✕")
    await levers.end_announcement("root")
    await levers.refresh()
    await page.clock.run_for(15_000)
    await expect(notice).to_be_hidden()


@pytest.mark.parametrize("size", [(360, 640), (844, 390)])
async def test_notice_hides_no_card_of_the_table(
    playground: OpenPlayground, browser: Browser, size: tuple[int, int]
) -> None:
    levers = playground.worker.store.levers
    await levers.announce("Restart at 22:00: your games stay.", "root")
    await levers.refresh()
    page = await open_page(browser, playground.url)
    await page.set_viewport_size({"width": size[0], "height": size[1]})
    await page.locator("#play .main").click()
    await page.wait_for_selector(".fan .tap")
    notice, fan = page.locator("#notice"), page.locator(".fan")
    above, below = await notice.bounding_box(), await fan.bounding_box()
    assert above
    assert below
    assert above["y"] + above["height"] < below["y"]
    assert above["x"] >= 0
    assert above["x"] + above["width"] <= size[0]
