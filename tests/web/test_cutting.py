"""Cutting the pack on pages: the seal is shown first, the cut is the browser's own, and the replay checks it."""

import json
import os
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, WebSocket, expect

import engine
from engine.shuffle import commitment
from tests import open_playground
from tests.browser import ONE_BROWSER, fail_on_page_errors
from tests.open_playground import OpenPlayground

pytestmark = ONE_BROWSER

SCREENS = {
    "phone": {"width": 390, "height": 844},
    "small": {"width": 360, "height": 640},
    "sideways": {"width": 640, "height": 360},
    "desktop": {"width": 1440, "height": 900},
}
SHOTS = os.environ.get("BUONGIOCO_SHOTS")


async def open_page(
    browser: Browser, url: str, screen: str = "phone", language: str = "en-GB"
) -> tuple[Page, list[str]]:
    """Open a page. Return it and what its WebSocket receives."""
    page = await (await browser.new_context(locale=language, viewport=SCREENS[screen])).new_page()  # type: ignore[arg-type]
    fail_on_page_errors(page)
    received: list[str] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda text: received.append(str(text)))

    page.on("websocket", listen)
    await page.goto(url)
    return page, received


async def seat_two(
    browser: Browser, site: OpenPlayground, screen: str = "phone"
) -> tuple[list[Page], list[list[str]], str]:
    """Seat Anna and Bruno at a table of the web. Return their pages, what these receive, and the table's code."""
    anna, received = await open_page(browser, site.url, screen)
    await anna.check("[name=game][value=testa]")
    await anna.get_by_role("button", name="Play with a friend").click()
    link = await anna.locator(".link input").input_value()
    bruno, received_by_bruno = await open_page(browser, link, screen, "it-IT")
    await bruno.get_by_role("button", name="Siediti").click()
    for page in (anna, bruno):
        await page.wait_for_selector(".cut")
    return [anna, bruno], [received, received_by_bruno], link.rpartition("/")[2]


async def cut_pack(*pages: Page) -> Page:
    """Cut the pack on the page of the player who can, and return that page."""
    for page in pages:
        await page.wait_for_selector(".cut")
    [cutter] = [page for page in pages if await page.locator(".cut button").count()]
    await cutter.locator(".cut button").click()
    return cutter


@pytest.mark.long
@pytest.mark.parametrize("screen", ["phone", "small", "sideways", "desktop"])
async def test_player_sees_the_seal_and_cuts(playground: OpenPlayground, browser: Browser, screen: str) -> None:
    pages, received, code = await seat_two(browser, playground, screen)
    sealed = (await playground.worker.room.table(code)).sealed
    for number, page in enumerate(pages):
        await expect(page.locator(".cut code")).to_have_text(commitment(sealed))
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if SHOTS:
            await page.screenshot(path=str(Path(SHOTS) / f"cut-{screen}-{number}.png"))
    assert sealed.hex() not in "".join(map("".join, received))
    cutter = await cut_pack(*pages)
    for page in pages:
        await page.wait_for_selector(".fan")
    table = await playground.worker.room.table(code)
    assert table.game
    assert sealed.hex() not in "".join(map("".join, received))
    proof = json.loads(table.game.record().to_json())["deals"][0]["proof"]
    [[seal, cut]] = json.loads(await cutter.evaluate("localStorage.getItem('cuts')"))
    assert (proof["commitment"], proof["cut"]) == (seal, cut)
    # A byte for the position of the tap, and 16 random bytes. The click was in the middle.
    assert len(cut) == 34
    assert 120 <= int(cut[:2], 16) <= 136
    for page in pages:
        await expect(page.locator(".hint")).to_have_count(1)
        if SHOTS:
            await page.screenshot(path=str(Path(SHOTS) / f"cut-{screen}-dealt-{pages.index(page)}.png"))


@pytest.mark.long
async def test_pack_is_cut_with_the_keyboard(playground: OpenPlayground, browser: Browser) -> None:
    pages, _received, code = await seat_two(browser, playground)
    [cutter] = [page for page in pages if await page.locator(".cut button").count()]
    pack = cutter.locator(".cut button")
    await expect(pack).to_be_focused()
    await expect(pack).to_have_accessible_name(re.compile("Cut the pack|Taglia il mazzo"))
    for _ in range(5):
        await cutter.keyboard.press("ArrowLeft")
    await expect(cutter.locator(".cut output")).to_have_text(re.compile("15 .*25 "))
    await cutter.keyboard.press("Enter")
    for page in pages:
        await page.wait_for_selector(".fan")
    assert await place_of_cut(playground, code) == round(255 * 15 / 40)


async def place_of_cut(site: OpenPlayground, code: str) -> int:
    """Return the first byte of the cut: its place in the pack, from 0 to 255."""
    table = await site.worker.room.table(code)
    assert table.game
    return int(json.loads(table.game.record().to_json())["deals"][0]["proof"]["cut"][:2], 16)


@pytest.mark.long
async def test_pack_is_cut_by_sliding_a_finger(playground: OpenPlayground, browser: Browser) -> None:
    pages, _received, code = await seat_two(browser, playground)
    [cutter] = [page for page in pages if await page.locator(".cut button").count()]
    box = await cutter.locator(".cut button").bounding_box()
    assert box
    for event, part in (("pointermove", 0.5), ("pointermove", 0.8), ("pointerup", 0.8)):
        position = {"clientX": box["x"] + part * box["width"], "clientY": box["y"] + box["height"] / 2}
        await cutter.dispatch_event(".cut button", event, {"pointerType": "touch", **position})
    for page in pages:
        await page.wait_for_selector(".fan")
    assert await place_of_cut(playground, code) == round(255 * 0.8)


@pytest.mark.long
async def test_player_stands_up_before_the_cut(playground: OpenPlayground, browser: Browser) -> None:
    (anna, bruno), _received, code = await seat_two(browser, playground)
    await bruno.locator(".opens-menu").click()
    await bruno.locator(".menu").get_by_role("button", name="Mi alzo").click()
    await expect(anna.locator(".link input")).to_be_visible()
    table = await playground.worker.room.table(code)
    assert (table.phase, table.awaits_cut, table.chairs[1]) == ("open", False, None)


@pytest.mark.long
async def test_player_resigns_while_the_next_pack_waits(playground: OpenPlayground, browser: Browser) -> None:
    pages, _received, code = await seat_two(browser, playground)
    room = playground.worker.room
    await open_playground.cut_pack(playground.worker, code)
    while not (table := await room.table(code)).awaits_cut:
        assert table.game
        turn = table.game.turn
        assert turn is not None
        chair = table.chairs[turn]
        assert chair
        move = engine.legal_moves_for_record(table.game, turn)[0]
        await room.make_move(code, chair.person, table.version, move, f"move {table.version}")
    anna = pages[0]
    await expect(anna.locator(".cut")).to_be_visible()
    await anna.locator(".opens-menu").click()
    await anna.locator(".menu .danger").click()
    await expect(anna.locator(".cut .line")).to_contain_text("Do you really want to resign?")
    await anna.get_by_role("button", name="Yes, I resign").last.click()
    await expect(anna.locator(".card-text")).to_be_visible()
    table = await room.load_recent(code)
    assert table.game
    assert table.game.ending == "resign"


@pytest.mark.long
async def test_replay_compares_the_cut_with_the_browsers_own(playground: OpenPlayground, browser: Browser) -> None:
    pages, _received, code = await seat_two(browser, playground)
    cutter = await cut_pack(*pages)
    await cutter.wait_for_selector(".fan")
    await playground.worker.room.resign_for(code, 0, "resign")
    await cutter.get_by_role("link", name=re.compile("^(Replay|Rivedi)$")).click()
    await cutter.click("#check")
    await expect(cutter.locator("#verdict.fair")).to_be_visible()
    own_cut = cutter.locator(".shuffle li").nth(1)
    assert await own_cut.text_content() in (
        "✓ The cut is the one that this browser made.",
        "✓ Il taglio è quello fatto da questo browser.",
    )
    # A cut that differs from the browser's own is a fault.
    await cutter.evaluate("localStorage.setItem('cuts', localStorage.getItem('cuts').replace(/..\"\\]\\]$/, 'zz\"]]'))")
    await cutter.click("#check")
    await expect(cutter.locator("#verdict.unfair")).to_be_visible()


@pytest.mark.long
async def test_pack_that_nobody_cuts_is_dealt(playground: OpenPlayground, browser: Browser) -> None:
    pages, _received, code = await seat_two(browser, playground)
    await expect(pages[0].locator(".cut .clock")).to_contain_text("0:1")
    for page in pages:
        await page.wait_for_selector(".fan", timeout=40_000)
    assert (await playground.worker.room.table(code)).is_uncut
    await expect(pages[0].locator(".hint")).to_have_text("Nobody cut the pack.")
    await expect(pages[1].locator(".hint")).to_have_text("Nessuno ha tagliato il mazzo.")


@pytest.mark.long
async def test_watcher_sees_who_can_cut(playground: OpenPlayground, browser: Browser) -> None:
    _pages, _received, code = await seat_two(browser, playground)
    watch_id = await playground.worker.watching.watch_id(await playground.worker.room.table(code))
    page, _ = await open_page(browser, f"{playground.url}t/{watch_id}")
    await expect(page.locator(".says")).to_contain_text("can cut the pack: 20 seconds.")
    await open_playground.cut_pack(playground.worker, code)
    await expect(page.locator(".says")).to_contain_text("’s turn.")
