"""Puzzles on the pages: solved by a tap, explained, and the same as in chats."""

import json

import pytest
from playwright.async_api import Browser, expect

from bot.features.puzzles.collection import all_puzzles
from bot.features.puzzles.puzzle_ratings import PuzzleStanding
from engine import GAMES
from tests.browser import ONE_BROWSER
from tests.long import mostly_long
from tests.open_playground import OpenPlayground
from tests.web.test_accessibility import LOOKS, check_accessibility
from tests.web.test_table_page import DESKTOP, PHONE, open_page, take_screenshot
from tests.web.test_tables import open_browser

pytestmark = [*ONE_BROWSER, pytest.mark.long]


@pytest.mark.parametrize("screen", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("game", mostly_long(GAMES, "tressette"))
async def test_tapped_card_is_explained(
    playground: OpenPlayground, browser: Browser, game: str, screen: dict[str, object]
) -> None:
    puzzle = next(puzzle for puzzle in all_puzzles().values() if puzzle.game == game and puzzle.trick)
    page = await open_page(browser, f"{playground.url}puzzle?id={puzzle.id}", **screen)
    await expect(page.locator(".fan .tap:enabled")).to_have_count(len(puzzle.lines))
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await expect(page.locator(".ask")).to_be_in_viewport(ratio=1)
    for card in await page.locator(".fan .tap").all():
        await expect(card).to_be_in_viewport(ratio=0.4)
    await check_accessibility(page)
    await take_screenshot(page, f"puzzle-{game}-{'phone' if screen is PHONE else 'desktop'}")
    await page.locator(f".fan .tap[value='{puzzle.pack.codes[puzzle.best]}']").click()
    await expect(page.get_by_text("✅ Right")).to_have_count(1)
    await expect(page.locator(".line")).to_contain_text("✅ Right")
    await expect(page.locator(".line")).to_be_in_viewport()
    await expect(page.locator(".fan .best")).to_have_attribute("value", puzzle.pack.codes[puzzle.best])
    await expect(page.locator(".figures tr.best")).to_contain_text("best, your card")
    await expect(page.locator(".figures tr")).to_have_count(len(puzzle.lines))
    await expect(page.get_by_text("Right answers")).to_have_count(0)
    await expect(page.locator(".fan .tap:enabled")).to_have_count(0)
    await check_accessibility(page)
    await take_screenshot(page, f"puzzle-{game}-solved-{'phone' if screen is PHONE else 'desktop'}")
    await page.get_by_role("link", name="Next puzzle").click()
    await expect(page.locator(".ask")).to_contain_text("Which card earns most")
    assert puzzle.id != await page.locator("[name=id]").input_value()


async def test_puzzle_opens_from_the_first_page_in_dark_mode(playground: OpenPlayground, browser: Browser) -> None:
    page = await open_page(browser, playground.url, **LOOKS["dark"], color_scheme="dark")
    await page.get_by_role("link", name="Puzzle").click()
    await expect(page.locator(".ask")).to_contain_text("Which card earns most")
    await check_accessibility(page)
    await page.locator(".fan .tap:enabled").last.focus()
    await page.keyboard.press("Enter")
    await page.get_by_text("💡 Best play").click()
    await expect(page.locator("details .words")).to_contain_text("Best play from here")
    await check_accessibility(page)


async def test_nonsense_is_refused_and_stores_no_person(playground: OpenPlayground, browser: Browser) -> None:
    puzzle = next(iter(all_puzzles().values()))
    unplayable = next(code for code in puzzle.pack.codes if puzzle.line(puzzle.pack.index[code]) is None)
    async with open_browser(playground) as anna:
        for fields in ({}, {"id": puzzle.id}, {"id": puzzle.id, "card": unplayable}, {"id": "x", "card": "3D"}):
            assert (await anna.post("/puzzle", None, **fields)).status == 403
        assert (await anna.get("/puzzle?id=nothing"))[0] == 404
        assert not await playground.worker.store.client.hgetall("{puzzles}:people")
        assert not await playground.worker.store.client.hgetall("web:people")
        assert "find the best card" in (await anna.get("/"))[1]
        best = puzzle.pack.codes[puzzle.best]
        assert (await anna.post("/puzzle", id=puzzle.id, card=best)).status == 303
        assert len(await playground.worker.store.client.hgetall("{puzzles}:people")) == 1
        assert "✅" in (await anna.get(f"/puzzle?id={puzzle.id}"))[1]
        [standing] = await playground.worker.store.client.hvals("{puzzles}:people")
        home = (await anna.get("/"))[1]
        assert f"Puzzle <small>rating {PuzzleStanding(**json.loads(standing)).rating}</small>" in home
        # A second answer changes nothing.
        other_card = puzzle.pack.codes[puzzle.lines[-1].cards[0]]
        assert (await anna.post("/puzzle", id=puzzle.id, card=other_card)).status == 303
        assert "✅" in (await anna.get(f"/puzzle?id={puzzle.id}"))[1]
