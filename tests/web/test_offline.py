"""The site without a network: kept pages open, and moves are sent later, each once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.test_table_page import wait_for_turn

pytestmark = [*ONE_BROWSER, pytest.mark.long]

IS_READY = """async () => {
  const table = await (await caches.open("pages")).match(location.pathname, { ignoreVary: true });
  return Boolean(table && navigator.serviceWorker.controller);
}"""
PRESSES = """() => new Promise((resolve) => {
  const opening = indexedDB.open("buongioco", 1);
  opening.onsuccess = () => {
    const request = opening.result.transaction("presses").objectStore("presses").getAll();
    request.onsuccess = () => { opening.result.close(); resolve(request.result); };
  };
})"""


@asynccontextmanager
async def no_network(context: BrowserContext, playground: OpenPlayground) -> AsyncIterator[None]:
    """Cut the browser off from the bot. Open WebSockets break too, as without a network."""
    await context.set_offline(True)
    await playground.stop()
    try:
        yield
    finally:
        await playground.start()
        await context.set_offline(False)


async def wait_until(page: Page, condition: str) -> None:
    """Wait until an async function of the page returns true. Playwright's own wait takes no async functions."""
    while not await page.evaluate(condition):
        await asyncio.sleep(0.1)


async def sit_at_table(browser: Browser, playground: OpenPlayground) -> Page:
    """Open a table with a robot on a phone, and wait for the player's turn and the service worker."""
    page = await (await browser.new_context(viewport={"width": 390, "height": 844})).new_page()
    await page.goto(playground.url)
    await page.locator("#play .main").click()
    await wait_for_turn(page)
    await wait_until(page, IS_READY)
    return page


async def moves_of_player(playground: OpenPlayground, code: str) -> list[str]:
    """Return the moves of the table's first seat in the current deal."""
    table = await playground.worker.room.table(code)
    assert table.game
    return [move for seat, move, *_ in table.game.record(live=True).deals[-1].moves if seat == 0]


async def play_offline(page: Page) -> str:
    """Play a card without a network and return its code."""
    card = page.locator(".fan .tap.playable").first
    name = await card.get_attribute("data-card")
    assert name
    await card.click()
    await expect(page.locator(f"[data-lying='{name}']")).to_be_visible()
    await expect(page.get_by_role("alert").first).to_contain_text("your moves are kept")
    await wait_until(page, f"async () => (await ({PRESSES})()).length === 1")
    return name


async def wait_for_moves(playground: OpenPlayground, code: str, count: int) -> list[str]:
    while len(moves := await moves_of_player(playground, code)) < count:
        await asyncio.sleep(0.05)
    return moves


async def test_pages_open_without_a_network(playground: OpenPlayground, browser: Browser) -> None:
    page = await sit_at_table(browser, playground)
    code = page.url.rpartition("/")[2]
    await page.goto(f"{playground.url}puzzle")
    puzzle = await page.locator("[name=id]").input_value()
    await page.goto(f"{playground.url}safety")
    async with no_network(page.context, playground):
        for path in ("rules", "rules/tressette", "how-to-play"):
            await page.goto(playground.url + path)
            await expect(page.locator("h1")).to_be_visible()
            assert await page.locator("h1").inner_text() != "No network", path
        await page.goto(f"{playground.url}puzzle")
        assert await page.locator("[name=id]").input_value() == puzzle
        await expect(page.locator(".fan .tap svg use").first).to_be_attached()
        await page.goto(f"{playground.url}leaderboard")
        await expect(page.locator("h1")).to_have_text("No network")
        await expect(page.get_by_role("link", name="Puzzle 1")).to_have_attribute("href", f"/puzzle?id={puzzle}")
        await page.locator(".tables a").click()
        await page.wait_for_url(f"**/t/{code}")
        await expect(page.locator(".fan .tap.playable").first).to_be_visible()


async def test_move_made_offline_is_sent_once_by_the_worker(playground: OpenPlayground, browser: Browser) -> None:
    page = await sit_at_table(browser, playground)
    code = page.url.rpartition("/")[2]
    async with no_network(page.context, playground):
        await page.reload()
        name = await play_offline(page)
        # The page is gone before the network is back.
        await page.goto(f"{playground.url}rules")
    await page.goto(f"{playground.url}leaderboard")
    assert (await wait_for_moves(playground, code, 1))[0] == f"play {name}"
    await wait_until(page, f"async () => (await ({PRESSES})()).length === 0")
    # Nothing is left to send.
    await page.goto(f"{playground.url}t/{code}")
    await wait_for_turn(page)
    assert await moves_of_player(playground, code) == [f"play {name}"]


async def test_move_sent_by_page_and_worker_counts_once(playground: OpenPlayground, browser: Browser) -> None:
    page = await sit_at_table(browser, playground)
    code = page.url.rpartition("/")[2]
    async with no_network(page.context, playground):
        await page.reload()
        name = await play_offline(page)
        [press] = await page.evaluate(PRESSES)
        # The kept page of the table sends the press when it is back, and so does the worker at this navigation.
        other = await page.context.new_page()
    await other.goto(f"{playground.url}t/{code}")
    await asyncio.gather(wait_for_turn(page), wait_for_turn(other))
    assert await moves_of_player(playground, code) == [f"play {name}"]
    # A crash before the press was dropped sends it again, under its name.
    await page.evaluate(
        """(press) => new Promise((resolve) => {
          const opening = indexedDB.open("buongioco", 1);
          opening.onsuccess = () => {
            const request = opening.result.transaction("presses", "readwrite").objectStore("presses").put(press);
            request.onsuccess = () => { opening.result.close(); resolve(); };
          };
        })""",
        press,
    )
    await other.goto(f"{playground.url}rules")
    await wait_until(other, f"async () => (await ({PRESSES})()).length === 0")
    assert await moves_of_player(playground, code) == [f"play {name}"]


async def test_signing_out_forgets_what_is_kept(playground: OpenPlayground, browser: Browser) -> None:
    page = await sit_at_table(browser, playground)
    await page.evaluate(
        """() => {
          const form = document.createElement("form");
          Object.assign(form, { method: "post", action: "/out" });
          document.body.append(form);
          form.submit();
        }"""
    )
    await page.wait_for_url(playground.url)
    await wait_until(
        page,
        """async () => {
          const pages = await (await caches.open("pages")).keys();
          return !pages.some(({ url }) => new URL(url).pathname.startsWith("/t/"));
        }""",
    )


async def test_badge_counts_the_tables_that_wait_for_the_player(playground: OpenPlayground, browser: Browser) -> None:
    context = await browser.new_context(viewport={"width": 390, "height": 844})
    await context.add_init_script(
        """
        const note = (count) => { localStorage.badge = count; return Promise.resolve(); };
        Object.assign(Navigator.prototype, { setAppBadge: note, clearAppBadge: () => note(0) });
        """
    )
    page = await context.new_page()
    for count in (1, 2):
        await page.goto(playground.url)
        await page.locator("#play .main").click()
        await wait_for_turn(page)
        await wait_until(page, f"async () => localStorage.badge === '{count}'")
    # The first page shows what the bot knows, even if this browser knows less.
    await page.evaluate("localStorage.badge = 'unknown'")
    await page.goto(playground.url)
    await wait_until(page, "async () => localStorage.badge === '2'")
    # A table that is over waits for nobody.
    code = await page.locator(".tables code").first.inner_text()
    await playground.worker.room.resign_for(code, 0, "resign")
    await page.goto(playground.url)
    await wait_until(page, "async () => localStorage.badge === '1'")
