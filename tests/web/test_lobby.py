"""The open tables on the first page, and players who come and go."""

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground, cut_pack
from tests.web.test_accessibility import check_accessibility
from tests.web.test_table_page import open_page, take_screenshot

pytestmark = [*ONE_BROWSER, pytest.mark.long]


async def open_to_friends(browser: Browser, url: str, name: str = "Anna") -> Page:
    page = await open_page(browser, url)
    await page.fill("[name=name]", name)
    await page.check("[name=game][value=testa]")
    await page.get_by_role("button", name="Play with a friend").click()
    await page.wait_for_selector(".link")
    return page


COUNT_CHANGES = """element => new MutationObserver(() => { element.dataset.changes = "some"; })
  .observe(element, { characterData: true, childList: true, subtree: true })"""


async def play_first_card(site: OpenPlayground, code: str) -> None:
    """Play the first legal card of the player to move."""
    table = await site.worker.room.table(code)
    assert table.game
    assert table.game.turn is not None
    chair = table.chairs[table.game.turn]
    assert chair
    card = next(move for move in table.game.legal_moves(table.game.turn) if move.startswith("play "))
    await site.worker.room.make_move(code, chair.person, table.version, card, "first")


async def test_visitor_sits_down_at_an_open_table_and_sees_who_leaves(
    playground: OpenPlayground, browser: Browser
) -> None:
    anna = await open_to_friends(browser, playground.url)
    bruno = await open_page(browser, playground.url)
    await expect(anna.get_by_label("Anyone may sit down")).not_to_be_checked()
    await anna.get_by_label("Anyone may sit down").check()
    await take_screenshot(anna, "anyone")
    row = bruno.locator("#lobby li")
    await expect(row).to_contain_text("Anna", timeout=15_000)
    await expect(row).to_contain_text("to 11 · 1 seat free")
    await check_accessibility(bruno)
    await take_screenshot(bruno, "open tables")
    await row.get_by_role("link").click()
    await expect(bruno.get_by_role("link", name="Rules")).to_be_visible()
    await bruno.get_by_role("button", name="Sit down").click()
    await bruno.wait_for_selector(".cut")
    await cut_pack(playground.worker, bruno.url.rpartition("/")[2])
    await bruno.wait_for_selector(".fan")
    mark = bruno.locator(".away-mark")
    await expect(mark).to_have_count(0)
    address = anna.url
    await anna.goto("about:blank")
    await expect(mark).to_have_text("away", timeout=15_000)
    announcement = bruno.locator("#absences")
    await expect(announcement).to_have_text("\u2068Anna\u2069 is away.")
    # Later states do not announce the absence again.
    await announcement.evaluate(COUNT_CHANGES)
    await play_first_card(playground, bruno.url.rpartition("/")[2])
    await expect(bruno.locator(".lying")).to_have_count(1)
    assert await announcement.get_attribute("data-changes") is None
    await check_accessibility(bruno)
    await take_screenshot(bruno, "away")
    await anna.goto(address)
    await expect(mark).to_have_count(0, timeout=15_000)
    await expect(announcement).to_have_text("\u2068Anna\u2069 is back.")


async def test_recent_opponent_is_challenged_and_accepts(playground: OpenPlayground, browser: Browser) -> None:
    anna, bruno = await open_to_friends(browser, playground.url), await open_page(browser, playground.url)
    await bruno.goto(anna.url)
    await bruno.fill("[name=name]", "Bruno")
    await bruno.get_by_role("button", name="Sit down").click()
    await bruno.wait_for_selector(".cut")
    code, worker = anna.url.rpartition("/")[2], playground.worker
    await cut_pack(worker, code)
    await worker.room.resign_for(code, 0, "resign")
    await worker.wait_until_idle()
    for page in (anna, bruno):
        await page.goto(playground.url)
    row = anna.locator("#lobby li", has_text="Bruno")
    await expect(row).to_contain_text("here now", timeout=15_000)
    await check_accessibility(anna)
    await take_screenshot(anna, "opponents")
    await row.get_by_role("button", name="Challenge").click()
    await anna.wait_for_url("**/t/*")
    waiting_challenges = bruno.locator("#challenged li")
    await expect(waiting_challenges).to_contain_text("Anna", timeout=15_000)
    await check_accessibility(bruno)
    await take_screenshot(bruno, "challenged")
    await waiting_challenges.get_by_role("button", name="No, thanks").click()
    await expect(anna.locator("#table")).to_contain_text("declined")
    await anna.goto(playground.url)
    await row.get_by_role("button", name="Challenge").click()
    await expect(anna.locator("main")).to_contain_text("give them a few hours")
    await anna.goto(playground.url)
    await bruno.locator("#lobby li", has_text="Anna").get_by_role("button", name="Challenge").click(timeout=15_000)
    await bruno.wait_for_url("**/t/*")
    await anna.locator("#challenged").get_by_role("button", name="Sit down").click(timeout=15_000)
    await expect(anna.locator(".cut")).to_be_visible()
    assert bruno.url == anna.url
    await anna.goto(playground.url)
    await row.get_by_role("button", name="Block").click(timeout=15_000)
    await anna.wait_for_url("**/blocks")
    await check_accessibility(anna)
    await take_screenshot(anna, "blocks")
    await anna.get_by_role("button", name="Unblock").click()
    await expect(anna.locator("main")).to_contain_text("Nobody yet")


async def test_friends_say_phrases_at_a_table(playground: OpenPlayground, browser: Browser) -> None:
    anna, bruno = await open_to_friends(browser, playground.url), await open_page(browser, playground.url)
    await bruno.goto(anna.url)
    await bruno.get_by_role("button", name="Sit down").click()
    await bruno.wait_for_selector(".cut")
    await cut_pack(playground.worker, anna.url.rpartition("/")[2])
    await bruno.wait_for_selector(".fan")
    await anna.get_by_role("button", name="💬 Say").click()
    await expect(anna.get_by_role("button", name="Well played!")).to_be_visible()
    await take_screenshot(anna, "say")
    await anna.get_by_role("button", name="😂").click()
    await expect(bruno.locator(".bubble")).to_have_text("😂")
    await take_screenshot(bruno, "said")
    await expect(bruno.locator(".bubble")).to_have_count(0)
