"""Pages of one browser: a table's page shows no cards once the browser belongs to another reader."""

import pytest
from playwright.async_api import Browser, expect

from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.test_sessions import ANNA, Chat, link_address
from tests.web.test_table_page import start_game, wait_for_turn

pytestmark = [*ONE_BROWSER, pytest.mark.long]


async def test_guests_page_closes_when_another_person_signs_in(playground: OpenPlayground, browser: Browser) -> None:
    guest = await start_game(browser, playground, "metamazzo")
    await wait_for_turn(guest)
    chat = Chat(playground, ANNA)
    code = await chat.practice()
    other = await guest.context.new_page()
    await other.goto(link_address(await chat.press(f"1t{code}:browser")))
    await other.locator("#enter button").click()
    await wait_for_turn(other)
    await expect(guest.locator(".waiting [role=alert]")).to_contain_text("no longer play in this browser")
    await expect(guest.locator(".fan")).to_have_count(0)
    await expect(other.locator(".fan .tap")).to_have_count(10)


async def test_guests_page_closes_when_the_guest_is_gone(playground: OpenPlayground, browser: Browser) -> None:
    guest = await start_game(browser, playground, "metamazzo")
    await wait_for_turn(guest)
    other = await guest.context.new_page()
    await other.goto(playground.url)
    # The guest still reads both pages.
    await expect(guest.locator(".fan .tap")).to_have_count(10)
    await guest.context.clear_cookies()
    await other.goto(playground.url)
    await expect(guest.locator(".waiting [role=alert]")).to_contain_text("no longer at this table")
    await expect(guest.locator(".fan")).to_have_count(0)
