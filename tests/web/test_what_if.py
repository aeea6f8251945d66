"""Other moves on the page of a finished game: trying cards, playing on against the robot, links, notes and spoilers."""

from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from bot.finished.game import FinishedGame
from engine import load
from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.test_replay import PHONE, add_game, open_page, prepare_analysis, wait_for_hash

pytestmark = [*ONE_BROWSER, pytest.mark.long]


async def open_near_the_end(
    site: OpenPlayground, browser: Browser, cards_left: int, *, line: str = "", **options: Any
) -> tuple[Page, FinishedGame, int]:
    """Open a game's first deal ``cards_left`` moves before its end. Return the page, the game and the number of past moves."""
    game = await add_game(site)
    place = len(game.record.deals[0].moves) - cards_left
    return await open_page(browser, f"{site.url}g/{game.id}#d1m{place}{line}", **options), game, place


async def test_each_card_has_the_solvers_verdict(playground: OpenPlayground, browser: Browser) -> None:
    page, game, place = await open_near_the_end(playground, browser, 12)
    await page.click("#try")
    position = load(game.record, 1, place)
    assert position.turn is not None
    legal = {move for move in position.legal_moves(position.turn) if move.startswith("play ")}
    await expect(page.locator(".choices button")).to_have_count(len(legal))
    assert {await button.get_attribute("data-move") for button in await page.locator(".choices button").all()} == legal
    await expect(page.locator(".choices .good")).not_to_have_count(0, timeout=60_000)


async def test_line_has_a_link_and_can_be_taken_back(playground: OpenPlayground, browser: Browser) -> None:
    page, _game, place = await open_near_the_end(playground, browser, 12)
    await page.click("#try")
    for count in (1, 2):
        await page.locator(".choices button").first.click()
        await expect(page.locator(".line li")).to_have_count(count)
    text = await page.locator(".line").inner_text()
    other = await open_page(browser, page.url)
    await expect(other.locator(".line li")).to_have_count(2)
    assert await other.locator(".line").inner_text() == text
    await page.get_by_role("button", name="Take back").click()
    await expect(page.locator(".line li")).to_have_count(1)
    await page.get_by_role("button", name="Back to the game").click()
    await wait_for_hash(page, f"#d1m{place}")
    await expect(page.locator("#play")).to_be_visible()


async def test_deal_is_played_on_against_the_robot(playground: OpenPlayground, browser: Browser) -> None:
    page, _game, _place = await open_near_the_end(playground, browser, 6)
    await page.click("#play-on")
    over = page.get_by_role("status").filter(has_text="The deal is over")
    while not await over.is_visible():
        choice = page.locator(".choices button").first
        await expect(choice.or_(over)).to_be_visible(timeout=60_000)
        if await choice.is_visible():
            moves = await page.locator(".line li").count()
            await choice.click()
            await expect(page.locator(".line li")).not_to_have_count(moves)
    await expect(page.locator(".line li")).to_have_count(6)


async def test_impossible_line_says_why(playground: OpenPlayground, browser: Browser) -> None:
    page, _game, _place = await open_near_the_end(playground, browser, 6, line="~play+9Z", errors=False)
    await expect(page.get_by_role("alert")).to_contain_text("not possible")


async def test_notes_and_kept_lines_survive_a_reload(playground: OpenPlayground, browser: Browser) -> None:
    page, _game, _place = await open_near_the_end(playground, browser, 6)
    await page.get_by_label("Your note").fill("Too early for the ace!")
    await page.click("#try")
    await page.locator(".choices button").first.click()
    await page.get_by_role("button", name="Save this line").click()
    await expect(page.get_by_role("button", name="✓ Saved")).to_be_disabled()
    await page.get_by_role("button", name="Back to the game").click()
    await page.reload()
    await expect(page.locator(".moves .note")).to_have_text("✎ Too early for the ace!")
    await page.locator(".notes a").click()
    await expect(page.locator(".line li")).to_have_count(1)
    await page.get_by_role("button", name="Remove").click()
    await expect(page.locator(".notes a")).to_have_count(0)


async def test_spoiler_free_replay_hides_what_follows(playground: OpenPlayground, browser: Browser) -> None:
    page, game, place = await open_near_the_end(playground, browser, 6)
    await expect(page.locator(".moves li")).to_have_count(place + 7)
    await page.click("#spoilers")
    await expect(page.locator(".moves li")).to_have_count(place + 1)
    await expect(page.locator(".analysis, .result")).to_have_count(0)
    await page.reload()
    await expect(page.locator(".moves li")).to_have_count(place + 1)
    points = await page.locator(".graph .side0").get_attribute("points")
    assert points is not None
    assert len(points.split()) == place + 1
    assert game.record.deals[0].moves[place][1] not in await page.locator(".moves").inner_text()


async def test_arrow_leads_to_the_better_card(playground: OpenPlayground, browser: Browser) -> None:
    game = await add_game(playground)
    prepare_analysis(playground, game)
    moves = [move for _, move, *_ in game.record.deals[0].moves]
    # The prepared verdicts say that the three of coins was better at some moves.
    better = moves.index("play 3D")
    place = next(
        (index for index, move in enumerate(moves[:better]) if index % 9 == 4 and move.startswith("play ")), None
    )
    page = await open_page(browser, f"{playground.url}g/{game.id}#d1m{(place or 0) + 1}", **PHONE)
    await page.click("#analyse")
    await expect(page.locator(".analysis .players")).to_be_visible(timeout=30_000)
    same_seat = place is not None and game.record.deals[0].moves[place][0] == game.record.deals[0].moves[better][0]
    await expect(page.locator(".better line")).to_have_count(int(same_seat))
