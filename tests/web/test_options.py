"""The reader's options in the menu of a table."""

import json

import pytest
from playwright.async_api import Browser, WebSocket, expect

from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.test_table_page import start_game, take_screenshot, wait_for_turn

pytestmark = [*ONE_BROWSER, pytest.mark.long]


async def test_pace_of_robots_is_sent_and_remembered(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    paces = list[str]()

    def listen(socket: WebSocket) -> None:
        socket.on("framesent", lambda text: paces.extend(filter(None, [json.loads(text).get("pace")])))

    page.on("websocket", listen)
    await page.reload()
    await wait_for_turn(page)
    await page.locator(".opens-menu").click()
    pace = page.get_by_role("combobox", name="Robots play")
    await expect(pace).to_have_value("normal")
    await pace.select_option("fast")
    await take_screenshot(page, "options")
    await page.reload()
    await page.locator(".opens-menu").click()
    await expect(pace).to_have_value("fast")
    assert paces == ["normal", "fast", "fast"]
