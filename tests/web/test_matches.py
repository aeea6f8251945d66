"""The page of a match of two groups."""

import aiohttp
import pytest
from playwright.async_api import Browser, expect

from bot.features.duels.duel import DEALS, SIDES
from bot.features.duels.feature import DuelsFeature
from bot.features.duels.matches.match import Match
from bot.platform import Person
from tests.bot.features.duels.matches.playing import store_results
from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.test_accessibility import check_accessibility
from tests.web.test_table_page import open_page, take_screenshot

GROUPS = {"playground:bar": ("Anna", "Bruno"), "playground:circolo": ("Carla", "Dino")}


async def begin_match(open_playground: OpenPlayground) -> Match:
    """Let two groups play a match. One pair has played all deals, of the other pair only one player has."""
    worker, matches = open_playground.worker, open_playground.worker.feature(DuelsFeature).matches
    code = ""
    for place, names in GROUPS.items():
        await worker.people.update_chat(place, name=place.partition(":")[2].title())
        people = [Person(f"playground:{name.lower()}", name) for name in names]
        for person in people:
            await worker.people.meet(person)
        if code:
            await matches.accept(code, place, people[0])
        else:
            code = (await matches.open(place, people[0], "testa", "u1")).code
        for person in people:
            await matches.enter(code, place, person)
    match = await matches.begin(code, "playground:anna")
    first, second = await matches.duels_of(match)
    for side in SIDES:
        await store_results(worker, first, side, 3 - 4 * side)
    await store_results(worker, second, 0, 2)
    return match


async def test_page_compares_deals_and_hides_those_of_one_player(
    site: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    match = await begin_match(site)
    async with session.get(f"{site.url}match/{match.code.lower()}", headers={"Accept-Language": "en"}) as answer:
        assert answer.status == 200
        text = await answer.text()
    assert '<meta property="og:title" content="🏟️ Match · Testa a Testa">' in text
    assert text.count('<table class="deals">') == 1
    assert text.count('<th scope="row">') == DEALS
    assert text.count(">Replay</a>") == 2 * DEALS
    assert "+2" not in text
    assert "played 5 and 0 of 5" in text


async def test_unknown_match_has_no_page(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    async with session.get(f"{site.url}match/ZZZZZZ", headers={"Accept-Language": "en"}) as answer:
        assert answer.status == 404
        assert "There’s no match with this code" in await answer.text()


@pytest.mark.long
class TestBrowser:
    pytestmark = ONE_BROWSER

    @pytest.mark.parametrize("width", [360, 1440])
    async def test_page_fits_a_phone_and_is_accessible(
        self, playground: OpenPlayground, browser: Browser, width: int
    ) -> None:
        match = await begin_match(playground)
        page = await open_page(browser, f"{playground.url}match/{match.code}", viewport={"width": width, "height": 640})
        await expect(page.locator(".deals tbody tr")).to_have_count(DEALS)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await check_accessibility(page)
        await take_screenshot(page, f"match-{width}")
