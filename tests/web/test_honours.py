"""An honour on a packet on a table's page: it can be played or picked up."""

import pytest
from playwright.async_api import Browser, expect

from tests.browser import ONE_BROWSER, wait_until_still
from tests.open_playground import OpenPlayground
from tests.web.test_early_card import HeldTurn, hold_turn
from tests.web.test_table_page import take_screenshot

pytestmark = [*ONE_BROWSER, pytest.mark.long]

HONOUR = {
    "code": "AD",
    "name": "ace of coins",
    "light": "playable",
    "press": "play-it",
    "size": 3,
    "label": "4",
    "role": "play",
    "rank": 7,
    "pick": "pick-it",
}


async def show_honour(browser: Browser, playground: OpenPlayground, light: str = "playable") -> HeldTurn:
    turn = await hold_turn(browser, playground)
    turn.show(
        packets=[HONOUR | {"light": light}, HONOUR | {"code": "5C", "label": "6", "pick": "", "light": "dim"}], extra=[]
    )
    await expect(turn.page.get_by_role("group", name="Your packets")).to_be_visible()
    await wait_until_still(turn.page)
    return turn


@pytest.mark.parametrize(("label", "press"), [("Play", "play-it"), ("Pick up", "pick-it")])
async def test_tap_on_an_honour_asks_what_to_do(
    playground: OpenPlayground, browser: Browser, label: str, press: str
) -> None:
    turn = await show_honour(browser, playground)
    page = turn.page
    card = page.get_by_role("button", name="packet 4, ace of coins, 3 cards")
    uses = page.get_by_role("group", name="ace of coins")
    await card.press("Enter")
    await expect(card).to_have_attribute("aria-expanded", "true")
    await expect(uses.get_by_role("button")).to_have_text(["Play", "Pick up"])
    await expect(uses.get_by_role("button", name="Play")).to_be_focused()
    await take_screenshot(page, "honour")
    await page.keyboard.press("Escape")
    await expect(uses).to_have_count(0)
    await expect(card).to_be_focused()
    await card.click()
    assert turn.presses == []
    await uses.get_by_role("button", name=label).click()
    await expect(uses).to_have_count(0)
    await expect(page.get_by_role("alert").filter(visible=True)).to_be_visible()
    assert turn.presses == [press]


async def test_honour_that_cannot_be_played_can_be_picked_up(playground: OpenPlayground, browser: Browser) -> None:
    turn = await show_honour(browser, playground, light="dim")
    await turn.page.locator("[data-pick]").click(force=True)
    await expect(turn.page.get_by_role("group", name="ace of coins").get_by_role("button")).to_have_text(["Pick up"])


@pytest.mark.parametrize(("distance", "press"), [(-150, "play-it"), (150, "pick-it")], ids=["up", "down"])
async def test_honour_is_dragged_up_to_play_and_down_to_take(
    playground: OpenPlayground, browser: Browser, distance: int, press: str
) -> None:
    turn = await show_honour(browser, playground)
    page = turn.page
    box = await page.locator("[data-pick]").bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + 15
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x, y + distance, steps=5)
    await page.mouse.up()
    await expect(page.get_by_role("alert").filter(visible=True)).to_be_visible()
    assert turn.presses == [press]
