"""A table as screen readers hear it: all elements are found by role and name alone."""

import re

import pytest
from playwright.async_api import Browser, Page, expect

from bot.texts import texts
from bot.words.spoken import spoken_names
from bot.words.wording import Wording
from tests.browser import ONE_BROWSER
from tests.long import mostly_long
from tests.open_playground import OpenPlayground
from tests.web.test_table_page import PHONE, open_page

pytestmark = [*ONE_BROWSER, pytest.mark.long]

SUIT_SIGNS = re.compile("[🪙🏆⚔🪵♦♥♠♣]")


# Bubbles are hidden from screen readers, which hear their words from the table's status.
NAMELESS = """faces => faces.filter((face) => !face.alt && !face.closest('[aria-label], .bubbles'))
  .map((face) => face.dataset.face)"""


async def check_names(page: Page) -> None:
    """Check that all open cards have names, and that no name contains a suit sign."""
    tree = await page.get_by_role("main").aria_snapshot()
    assert not SUIT_SIGNS.search(tree), tree
    assert not await page.locator("main img.face:not([data-face='back'])").evaluate_all(NAMELESS)


@pytest.mark.parametrize("language", mostly_long(["en", "it"], "en"))
async def test_deal_can_be_played_by_names_alone(playground: OpenPlayground, browser: Browser, language: str) -> None:
    _ = texts(language).gettext
    names = {*spoken_names(Wording(language, (), "italian")).values()}
    page = await open_page(browser, playground.url, **PHONE, locale=language)
    await page.get_by_role("radio", name=re.compile("^Metà Mazzo")).check()
    await page.get_by_role("button", name=_("Play now")).click()
    hand, trick = page.get_by_role("group", name=_("Your hand")), page.get_by_role("group", name=_("On the table"))
    go_on = page.get_by_role("button", name=_("Go on"))
    # This line is gone as soon as a card moves.
    turn = page.get_by_role("main").get_by_text(_("Your turn."), exact=True).filter(visible=True)
    playable = hand.get_by_role("button", disabled=False)
    played_cards = list[str]()
    while True:
        await expect(turn.or_(go_on).first).to_be_visible()
        if await go_on.count():
            break
        if len(played_cards) == 1:
            await page.get_by_text(_("previous trick"), exact=True).click()
        await check_names(page)
        name = await playable.first.get_attribute("aria-label")
        assert name in names
        await hand.get_by_role("button", name=name, exact=True).press("Enter")
        played_cards.append(name)
        await expect(trick.get_by_role("img", name=name, exact=True).or_(go_on)).to_be_visible()
        await expect(hand.get_by_role("button", name=name, exact=True)).to_have_count(0)
    assert len({*played_cards}) == len(played_cards) == 20
