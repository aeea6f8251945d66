"""The site without a network: kept pages open, and moves are sent later, each once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from adapters.web.assets import APPS
from bot.handlers import Dispatcher
from bot.platform import Reply
from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.test_sessions import ANNA, Chat, link_address
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

KEPT = """async () => {
  const opening = indexedDB.open("buongioco", 1);
  await new Promise((resolve) => { opening.onsuccess = resolve; });
  const getAll = (name) => new Promise((resolve) => {
    const request = opening.result.transaction(name).objectStore(name).getAll();
    request.onsuccess = () => resolve(request.result);
  });
  const [tables, presses] = [await getAll("tables"), await getAll("presses")];
  opening.result.close();
  const paths = (await (await caches.open("pages")).keys()).map(({ url }) => new URL(url).pathname);
  return { tables, presses, paths: paths.filter((path) => path.startsWith("/t/") || path === "/puzzle") };
}"""
KEEP_REFUSED = """([n, code]) => new Promise((resolve) => {
  const reader = document.documentElement.dataset.reader, press = `1m${code}:1:play 3D`;
  const opening = indexedDB.open("buongioco", 1);
  opening.onsuccess = () => {
    const store = opening.result.transaction("presses", "readwrite").objectStore("presses");
    store.put({ n, code, reader, press, at: 0, refused: true }).onsuccess = () => { opening.result.close(); resolve(); };
  };
})"""


async def sign_in_browser(page: Page, playground: OpenPlayground) -> None:
    """Sign Anna in from her chat, and open her table with a robot."""
    chat = Chat(playground, ANNA)
    code = await chat.practice()
    await page.goto(link_address(await chat.press(f"1t{code}:browser")))
    await page.locator("#enter button").click()
    await wait_for_turn(page)


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
    assets = playground.site.assets
    files = {assets.url(name) for name in assets.loaded_files if not name.startswith(APPS)}
    loaded = set[str]()
    page.on("request", lambda request: loaded.add(urlsplit(request.url).path))
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
        # If the network comes back at a click, the page lets the click lead on.
        await page.locator(".tables a").evaluate("(link) => { link.click(); dispatchEvent(new Event('online')); }")
        await page.wait_for_url(f"**/t/{code}")
        await expect(page.locator(".fan .tap.playable").first).to_be_visible()
    # The service worker keeps the files of these pages from the start.
    static = {path for path in loaded if path.startswith("/static/")}
    assert len(static) > 10
    assert static <= files


async def test_service_worker_sends_a_move_made_offline_once(playground: OpenPlayground, browser: Browser) -> None:
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


async def test_move_sent_by_page_and_service_worker_counts_once(playground: OpenPlayground, browser: Browser) -> None:
    page = await sit_at_table(browser, playground)
    code = page.url.rpartition("/")[2]
    async with no_network(page.context, playground):
        await page.reload()
        name = await play_offline(page)
        [press] = await page.evaluate(PRESSES)
        # The kept page of the table sends the press when it is online again, and the service worker at this navigation.
        other = await page.context.new_page()
    await other.goto(f"{playground.url}t/{code}")
    await asyncio.gather(wait_for_turn(page), wait_for_turn(other))
    assert await moves_of_player(playground, code) == [f"play {name}"]
    # If the browser crashed before it dropped the press, it sends the press again under the same name.
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
    page = await (await browser.new_context()).new_page()
    await sign_in_browser(page, playground)
    await wait_until(page, IS_READY)
    await page.evaluate(KEEP_REFUSED, ["signedin", page.url.rpartition("/")[2]])
    await wait_until(
        page, f"async () => {{ const kept = await ({KEPT})(); return kept.tables.length && kept.presses.length; }}"
    )
    await page.evaluate(
        """() => {
          const form = document.createElement("form");
          Object.assign(form, { method: "post", action: "/out" });
          document.body.append(form);
          form.submit();
        }"""
    )
    await page.wait_for_url(playground.url)
    assert await page.evaluate(KEPT) == {"tables": [], "presses": [], "paths": []}


async def test_next_person_sees_nothing_of_the_first(playground: OpenPlayground, browser: Browser) -> None:
    page = await sit_at_table(browser, playground)
    code = page.url.rpartition("/")[2]
    await page.evaluate(KEEP_REFUSED, ["guest", code])
    await sign_in_browser(page, playground)
    await wait_until(page, IS_READY)
    kept_addresses = await page.evaluate(KEPT)
    assert kept_addresses["presses"] == []
    assert code not in str(kept_addresses)
    async with no_network(page.context, playground):
        await page.goto(f"{playground.url}t/{code}")
        await expect(page.locator("h1")).to_have_text("No network")


async def test_lost_session_forgets_its_person(playground: OpenPlayground, browser: Browser) -> None:
    page = await (await browser.new_context()).new_page()
    await sign_in_browser(page, playground)
    await wait_until(page, IS_READY)
    await page.evaluate(KEEP_REFUSED, ["expired", page.url.rpartition("/")[2]])
    await page.context.clear_cookies()
    await page.goto(playground.url)
    assert await page.evaluate(KEPT) == {"tables": [], "presses": [], "paths": []}


async def test_only_moves_and_cuts_are_kept(playground: OpenPlayground, browser: Browser) -> None:
    page = await sit_at_table(browser, playground)
    await page.evaluate(
        """async ([script, presses]) => {
          const { keepOffline } = await import(script);
          let keeper;
          const connection = { keepWith: (given) => { keeper = given; } };
          const table = { latest: { current: null }, receiveTable() {}, sendPress() {} };
          await keepOffline("K7QF2M", document.documentElement.dataset.reader, connection, table);
          for (const [index, press] of presses.entries()) await keeper.keep(`press${index}`, { press });
        }""",
        [
            playground.site.assets.url("offline.js"),
            ["1mK7QF2M:3:play 3D", "1tK7QF2M:3:cut c0ffee", "1tK7QF2M:resign", "1tK7QF2M:3:sit", "1tK7QF2M:say 1"],
        ],
    )
    presses = [press["press"] for press in (await page.evaluate(KEPT))["presses"]]
    assert sorted(presses) == ["1mK7QF2M:3:play 3D", "1tK7QF2M:3:cut c0ffee"]


async def test_service_worker_keeps_a_move_while_the_bot_is_busy(
    playground: OpenPlayground, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await sit_at_table(browser, playground)
    code = page.url.rpartition("/")[2]
    busy = asyncio.Event()

    async def refuse(*_arguments: object) -> Reply:
        busy.set()
        return Reply(toast="Too fast", is_temporary=True)

    with monkeypatch.context() as patch:
        # The service worker sends the press as soon as it finds the network again.
        patch.setattr(Dispatcher, "handle_press", refuse)
        async with no_network(page.context, playground):
            await page.reload()
            name = await play_offline(page)
            await page.goto(f"{playground.url}rules")
        await page.goto(f"{playground.url}leaderboard")
        await busy.wait()
        await page.wait_for_timeout(500)  # the answer arrives
        [press] = (await page.evaluate(KEPT))["presses"]
    assert "refused" not in press
    await page.goto(f"{playground.url}rules")
    assert await wait_for_moves(playground, code, 1) == [f"play {name}"]


async def test_new_release_replaces_kept_pages_and_files(playground: OpenPlayground, browser: Browser) -> None:
    page = await sit_at_table(browser, playground)
    old, new = playground.site.assets.version, "0123456789abcdef"
    deck = "/cards/fedcba9876543210/italian-classic.svg"
    await page.evaluate("async (deck) => (await caches.open('files')).put(deck, new Response('old'))", deck)
    playground.site.assets.__dict__["version"] = new
    await page.evaluate("async () => { await (await navigator.serviceWorker.ready).update(); }")
    kept_text = "(await (await (await caches.open('pages')).match(location.pathname, { ignoreVary: true }))?.text())"
    await wait_until(page, f"async () => {kept_text}?.includes('/static/{new}/')")
    await wait_until(page, f"async () => !(await caches.match('{deck}'))")
    files = await page.evaluate("async () => (await (await caches.open('files')).keys()).map(({ url }) => url)")
    assert not [file for file in files if old in file]
    async with no_network(page.context, playground):
        await page.reload()
        await page.wait_for_function("() => document.querySelector('.fan .face')?.naturalWidth")


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
