"""A table's page in a real Chromium: from the first page to cards, by thumb and by keys."""

import json
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import dropwhile
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import AsyncMock

import pytest
from playwright.async_api import Browser, Locator, Page, Request, WebSocketRoute, expect

from bot.features.learn import first_games
from engine import GAMES
from tests.browser import ONE_BROWSER, fail_on_page_errors, wait_until_still
from tests.long import long
from tests.open_playground import OpenPlayground, cut_pack
from tests.web.table_states import route_states

pytestmark = ONE_BROWSER

PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True}
SIDEWAYS = {"viewport": {"width": 640, "height": 360}, "has_touch": True}
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
SHOTS = os.environ.get("BUONGIOCO_SHOTS")
TO_PRESS = ".tally button, .felt .tap[data-press]:not([data-press='']):not([aria-pressed]), .fan .tap.playable, #table > .buttons:not(.spare) button"
"""Selector of all that a player can press to go on. ``press`` also chooses what to do with an honour on a packet."""

HOLD_TRICK = """() => {
  window.usual = setTimeout; window.held = [];
  window.setTimeout = (then, ms) => ms === 1500 ? -window.held.push(then) : window.usual(then, ms);
}"""
"""JavaScript that keeps a finished trick on the table, so that a slow test still sees it."""

IS_CUT = "all => all.some((element) => element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight + 1)"

RELEASE_TRICK = "() => { window.setTimeout = window.usual; for (const then of window.held) then(); }"


async def open_page(browser: Browser, url: str, **options: object) -> Page:
    page = await (await browser.new_context(**({"locale": "en-GB"} | (options or PHONE)))).new_page()  # type: ignore[arg-type]
    fail_on_page_errors(page)
    await page.goto(url)
    return page


async def take_screenshot(page: Page, name: str) -> None:
    if SHOTS:
        await page.screenshot(path=str(Path(SHOTS) / f"{name}.png"))


async def start_game(browser: Browser, site: OpenPlayground, game: str, **options: object) -> Page:
    page = await open_page(browser, site.url, **options)
    await page.check(f"[name=game][value={game}]")
    await page.select_option("[name=robot]", "easy")
    await page.get_by_role("button", name="Play now").click()
    await page.wait_for_selector(".felt")
    return page


async def change_tables(page: Page, change: Callable[[dict[str, Any]], None]) -> None:
    """Apply ``change`` to every table that the bot sends to the page."""

    def change_message(text: str | bytes) -> str:
        message = json.loads(text)
        if "table" in message:
            change(message["table"])
        return json.dumps(message)

    def forward(socket: WebSocketRoute) -> None:
        socket.connect_to_server().on_message(lambda text: socket.send(change_message(text)))

    await route_states(page, forward)
    await page.reload()
    await page.wait_for_selector(".felt")


async def choose_large_cards(page: Page) -> None:
    """Choose large cards in the settings, and return to the page."""
    table = page.url
    await page.goto(f"{page.url.split('/t/')[0]}/settings")
    await page.select_option("[name=card_size]", "large")
    await page.get_by_role("button", name="Save").click()
    await page.goto(table)
    await page.wait_for_selector(".large .felt")


@asynccontextmanager
async def expect_change(page: Page, selector: str = "#table") -> AsyncIterator[None]:
    """Wait at the end until the content of the element has changed."""
    before = await page.locator(selector).inner_html()
    yield
    changed = "([selector, old]) => document.querySelector(selector).innerHTML !== old"
    await page.wait_for_function(changed, arg=[selector, before])


async def press(page: Page, button: Locator, **options: Any) -> None:
    """Press a button or card. If an honour can be played or picked up, choose the first way."""
    asks = await button.get_attribute("data-pick")
    await button.click(**options)
    if asks:
        await page.locator(".uses button").first.click(**options)


async def wait_for_turn(page: Page) -> None:
    await expect(page.locator(".line.mine")).to_be_visible()


async def test_first_card_takes_three_clicks_from_the_first_page(playground: OpenPlayground, browser: Browser) -> None:
    page = await open_page(browser, playground.url)
    # A taken trick stays visible for a moment. Here it stays for an hour, so that a slow test sees it.
    await page.add_init_script(
        "const usual = setTimeout; window.setTimeout = (then, ms) => usual(then, ms > 1000 ? 3_600_000 : ms);"
    )
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))  # noqa: PLW0108 - Playwright takes no builtin
    await page.get_by_role("button", name="Play now").click()
    await page.wait_for_selector(".fan .tap")
    # The page and all its files. Late files of the first page, the hint, which comes after the cards, and images that the
    # page itself makes do not count.
    loaded = dropwhile(lambda request: request.method != "GET" or not request.is_navigation_request(), requests)
    files = [request for request in loaded if not re.search("^blob:|/hint\\.|/lobby|/notice$", request.url)]
    await wait_for_turn(page)
    card = page.locator(".fan .tap.playable").first
    name = await card.get_attribute("data-card")
    await card.click()
    await expect(page.locator(f".fan [data-card='{name}']")).to_have_count(0)
    # The opponent's card is visible before the trick is removed.
    await expect(page.locator(".lying")).to_have_count(2)
    await expect(page.locator(f"[data-lying='{name}']")).to_be_visible()
    total = sum([(await request.sizes())["responseBodySize"] for request in files])
    # The first page has fetched the table's script and style in advance.
    assert len(files) <= 10
    assert 0 < total <= 75_000


@pytest.mark.long
@pytest.mark.parametrize("screen", [PHONE, SIDEWAYS, DESKTOP], ids=["phone", "sideways", "desktop"])
@pytest.mark.parametrize("deck", ["italian", "italian-easy"])
@pytest.mark.parametrize("size", ["normal", "large"])
@pytest.mark.parametrize("game", ["pizzichino", "spades", "tressette"])
async def test_controls_are_visible(
    playground: OpenPlayground, browser: Browser, game: str, size: str, deck: str, screen: dict[str, object]
) -> None:
    page = await start_game(browser, playground, game, **screen)
    if size == "large":
        await choose_large_cards(page)
    if deck == "italian-easy" and game != "spades":
        await change_tables(page, lambda table: table.update(deck=deck))
    for step in range(8):
        await wait_for_turn(page)
        first = page.locator(TO_PRESS).first
        await expect(first).to_be_in_viewport(ratio=0.9)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if not await page.locator("#table > .buttons:not(.spare)").count():
            # No scrolling is needed, except if there are more buttons than fit on a phone.
            over = await page.evaluate("document.documentElement.scrollHeight - innerHeight")
            assert over <= 0, f"the page is {over} px too high"
        await take_screenshot(page, f"{game}-{step}")
        async with expect_change(page):
            await press(page, first)


ARE_UNCOVERED = """([selector, at]) => [...document.querySelectorAll(selector)].every((element) => {
  const box = element.getBoundingClientRect();
  const points = at.map(([x, y]) => document.elementFromPoint(box.x + x * box.width, box.y + y * box.height));
  return points.every((found) => element.contains(found) || found.contains(element) && found.matches(".who, .tap"));
})"""
"""JavaScript: whether nothing covers these elements at these points, given as fractions of their width and height."""

FAIL_TWICE = """const { fetch } = window;
const answers = [Promise.reject(new TypeError("no network")), Promise.resolve(new Response("<h1>Sign in</h1>"))];
answers[0].catch(() => undefined);
window.fetch = (...request) => String(request[0]).startsWith("/cards/") && answers.length ? answers.shift() : fetch(...request);
"""
"""JavaScript: the first download of a deck fails, and the second answers with another page."""
ARE_DRAWN = "() => [...document.querySelectorAll('img.face')].every((face) => face.complete && face.naturalWidth)"
IS_EACH_AN_IMAGE = "faces => faces.length > 10 && faces.every((face) => face.localName === 'img')"

CUT_OFF_NAMES = """() => [...document.querySelectorAll(".who, .side b, .title")]
  .filter((element) => element.scrollWidth > element.clientWidth + 1
    || (element.scrollHeight > element.clientHeight + 1 && !element.querySelector("button")))
  .map((element) => element.textContent)"""
"""JavaScript: the names that are cut off. The area of a button in a title is higher than its line."""


@pytest.mark.long
@pytest.mark.parametrize("screen", [(360, 640), (390, 844), (844, 390), (768, 1024), (1440, 900)])
async def test_large_cards_are_larger_and_fit(
    playground: OpenPlayground, browser: Browser, screen: tuple[int, int]
) -> None:
    viewport = dict(zip(("width", "height"), screen, strict=True))
    page = await start_game(browser, playground, "metamazzo", viewport=viewport)
    await wait_for_turn(page)
    # A card's box also grows while the card turns, so it is not measured.
    width = "parseFloat(getComputedStyle(document.querySelector('.fan .face')).width)"
    normal = await page.evaluate(width)
    await choose_large_cards(page)
    await wait_for_turn(page)
    assert await page.evaluate(width) > 1.1 * normal
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    # Where cards overlap, the index of each stays visible.
    assert await page.evaluate(ARE_UNCOVERED, [".fan .face", [[0.1, 0.1]]])
    await take_screenshot(page, f"large-{screen[0]}")


@pytest.mark.long
@pytest.mark.parametrize("screen", [PHONE, long(SIDEWAYS), long(DESKTOP)], ids=["phone", "sideways", "desktop"])
async def test_four_played_cards_and_full_names_do_not_overlap(
    playground: OpenPlayground, browser: Browser, screen: dict[str, object]
) -> None:
    names = ("you", "🤖 Nonna Rosa", "🤖 Zio Beppe", "🤖 Maestro Elio")

    def change(table: dict[str, Any]) -> None:
        for seat in table["sitting"]:
            seat["name"] = names[seat["at"]]
        table["deck"] = "italian-easy"
        table["trick"] = [
            {"code": code, "by": names[seat], "at": seat, "said": "", "wins": seat == 1}
            for code, seat in (("6S", 1), ("AS", 2), ("6D", 3), ("5D", 0))
        ]

    page = await start_game(browser, playground, "tressette", **screen, reduced_motion="reduce")
    await change_tables(page, change)
    await expect(page.locator(".lying")).to_have_count(4)
    await take_screenshot(page, "four")
    assert await page.evaluate(CUT_OFF_NAMES) == []
    corners = [[0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.9]]
    assert await page.evaluate(ARE_UNCOVERED, [".lying .face", corners])
    assert await page.evaluate(ARE_UNCOVERED, [".other .who, .other .portrait", [[0.1, 0.5], [0.9, 0.5]]])
    # On an easy card the rank is at the top, and the suit sign reaches the lower edge.
    assert await page.evaluate(ARE_UNCOVERED, [".fan .face", [[0.4, 0.1], [0.4, 0.9]]])


@pytest.mark.long
async def test_large_text_does_not_widen_the_page(playground: OpenPlayground, browser: Browser) -> None:
    def change(table: dict[str, Any]) -> None:
        [_me, opponent] = table["sitting"]
        top = {"code": "3D", "name": "3", "light": "", "press": "", "size": 5, "label": ""}
        opponent.update(hidden=10, packets=[{**top, "label": str(number)} for number in range(1, 5)])

    page = await start_game(browser, playground, "pizzichino")
    await change_tables(page, change)
    await page.evaluate("document.documentElement.style.fontSize = '24px'")
    await take_screenshot(page, "large-letters")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for card in await page.locator(".backs .small").all():
        await expect(card).to_be_in_viewport(ratio=1)


@pytest.mark.long
async def test_illegal_card_says_why(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "testa")
    for _ in range(20):
        await wait_for_turn(page)
        if await page.locator(".fan .tap.dim").count():
            break
        async with expect_change(page, ".fan"):
            await page.locator(".fan .tap.playable").first.click()
        await wait_for_turn(page)
    await wait_until_still(page)
    await page.locator(".fan .tap.dim").first.click(force=True)
    await expect(page.get_by_role("alert")).to_contain_text("You must follow suit")


@pytest.mark.long
async def test_played_card_moves_at_once_and_returns_if_refused(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    await wait_for_turn(page)
    card = page.locator(".fan .tap.playable").first
    name = await card.get_attribute("data-card")
    # Offline the card still moves to the table, and the press is sent after the connection returns.
    await page.context.set_offline(True)
    await page.evaluate("() => undefined")
    await card.click()
    await expect(page.locator(f"[data-lying='{name}']")).to_be_visible()
    await expect(page.locator(f".fan [data-card='{name}']")).to_have_count(0)
    await page.context.set_offline(False)
    # A forged card is refused and returns to the hand.
    code = page.url.rpartition("/")[2]
    other_page = await start_game(browser, playground, "metamazzo")
    await wait_for_turn(other_page)
    assert code != other_page.url.rpartition("/")[2]
    payload = await other_page.locator(".fan .tap.playable").first.get_attribute("data-press")
    assert payload
    forged = await other_page.locator(".fan .tap.playable").first.get_attribute("data-card")
    await other_page.evaluate(
        """() => {
          const send = WebSocket.prototype.send;
          WebSocket.prototype.send = function (text) { send.call(this, text.replace(/:play .*"/, ':play ZZ"')); };
        }"""
    )
    await other_page.locator(".fan .tap.playable").first.click()
    await expect(other_page.locator(".toast")).not_to_be_empty()
    await expect(other_page.locator(f".fan [data-card='{forged}']")).to_have_count(1)


@pytest.mark.long
async def test_reloaded_page_shows_the_same_table(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    await wait_for_turn(page)
    # The order of attributes depends on what the page has shown before.
    hand = "[...document.querySelectorAll('.fan .tap')].map((card) => [card.dataset.card, card.dataset.press, card.className].join()).join('; ')"
    before = await page.evaluate(hand)
    await page.reload()
    await page.wait_for_selector(".felt")
    await page.wait_for_function(f"before => {hand} === before", arg=before)


@pytest.mark.long
async def test_page_reconnects_to_a_restarted_bot(playground: OpenPlayground, browser: Browser) -> None:
    page = await (await browser.new_context(**PHONE)).new_page()  # type: ignore[arg-type]
    await page.goto(playground.url)
    await page.locator("button.main").click()
    await page.wait_for_selector(".felt")
    await wait_for_turn(page)
    before = await page.locator(".fan").inner_html()
    await playground.stop()
    await expect(page.locator(".away")).to_be_visible()
    card = page.locator(".fan .tap.playable").first
    name = await card.get_attribute("data-card")
    await card.click()
    await playground.start()
    await expect(page.locator(".away")).to_have_count(0)
    await expect(page.locator(f".fan [data-card='{name}']")).to_have_count(0)
    await page.wait_for_function("old => document.querySelector('.fan').innerHTML !== old", arg=before)
    table = await playground.worker.room.table(page.url.rpartition("/")[2])
    assert table.game
    assert any(move == f"play {name}" for _seat, move in table.game.history(0))


@pytest.mark.long
async def test_page_places_hint_by_its_role(playground: OpenPlayground, browser: Browser) -> None:
    def hide_payloads(table: dict[str, Any]) -> None:
        for button in (button for rows in (table["rows"], table["extra"]) for row in rows for button in row):
            button[1] = "opaque"

    page = await start_game(browser, playground, "metamazzo")
    await wait_for_turn(page)
    await change_tables(page, hide_payloads)
    await expect(page.locator(".beside")).to_have_text("💡 Hint")
    await expect(page.locator("#table > .buttons:not(.spare) button", has_text="Hint")).to_have_count(0)


@pytest.mark.long
@pytest.mark.parametrize("game", ["metamazzo", "testa", "tressette", "tavolo"])
async def test_hint_of_a_first_game_leaves_the_hand_on_screen(
    playground: OpenPlayground, browser: Browser, monkeypatch: pytest.MonkeyPatch, game: str
) -> None:
    monkeypatch.setattr(first_games, "TURNS_WITH_HINT", 5)
    playground.worker.room.new_secret = Random(0).randbytes
    page = await start_game(browser, playground, game, viewport={"width": 360, "height": 640})
    await wait_for_turn(page)
    hint = page.locator(".hint")
    await expect(hint).to_be_visible()
    await expect(page.locator(".legend")).to_have_count(1)
    for part in (hint, page.locator(".todo"), *await page.locator(".fan").all()):
        await expect(part).to_be_in_viewport(ratio=1)
    assert await page.evaluate("scrollY") == 0
    await take_screenshot(page, f"first-hint-{game}")


@pytest.mark.long
@pytest.mark.parametrize("width", [360, 390, 430, 640])
async def test_first_page_shows_whole_names_of_games(playground: OpenPlayground, browser: Browser, width: int) -> None:
    page = await open_page(browser, playground.url, viewport={"width": width, "height": 640})
    names = page.locator(".games b, .games small")
    assert await names.count() == 2 * len(GAMES)
    assert not await names.evaluate_all(IS_CUT)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("screen", [(360, 640), long((481, 800)), long((844, 390)), long((1440, 900))])
async def test_cards_in_the_header_cover_no_text(
    playground: OpenPlayground, browser: Browser, screen: tuple[int, int]
) -> None:
    width, height = screen
    context = await browser.new_context(locale="it-IT", viewport={"width": width, "height": height})
    page = await context.new_page()
    await page.goto(playground.url)
    cards = page.locator(".banner .fanned svg")
    assert await cards.count() == 5
    first_card = min(await cards.evaluate_all("cards => cards.map(card => card.getBoundingClientRect().left)"))
    text_ends = await page.locator(".banner").evaluate("""banner => [...banner.querySelectorAll("h1, p, a")].map(text => {
        const range = document.createRange();
        range.selectNodeContents(text);
        return range.getBoundingClientRect().right;
    })""")
    assert max(text_ends) <= first_card


@pytest.mark.long
@pytest.mark.parametrize("locale", ["en-GB", "it-IT"])
async def test_newcomer_sees_all_they_need_without_scrolling(
    playground: OpenPlayground, browser: Browser, locale: str
) -> None:
    page = await (await browser.new_context(locale=locale, viewport={"width": 390, "height": 844})).new_page()
    await page.goto(playground.url)
    for needed in ("[href='/learn']", "[href='/settings']", "[name=name]", "#play .main"):
        await expect(page.locator(needed)).to_be_in_viewport(ratio=1)
    name_top, play_top = [
        await page.locator(part).evaluate("part => part.getBoundingClientRect().top")
        for part in ("[name=name]", "#play .main")
    ]
    assert name_top < play_top


@pytest.mark.parametrize("screen", [(360, 640), long((640, 360)), long((844, 390))])
async def test_play_button_needs_no_scrolling_on_small_screens(
    playground: OpenPlayground, browser: Browser, screen: tuple[int, int]
) -> None:
    page = await open_page(browser, playground.url, viewport=dict(zip(("width", "height"), screen, strict=True)))
    await expect(page.locator("#play .main")).to_be_in_viewport(ratio=1)
    await page.get_by_text("Tressette al Tavolo", exact=True).click()
    await expect(page.locator("[name=game]:checked")).to_have_value("tavolo")
    await page.locator("#play .main").click()
    await page.wait_for_url("**/t/*")


@pytest.mark.long
@pytest.mark.parametrize("width", [360, 390])
async def test_names_below_drawn_cards_are_whole(playground: OpenPlayground, browser: Browser, width: int) -> None:
    page = await start_game(browser, playground, "testa", viewport={"width": width, "height": 640})
    await change_tables(page, lambda table: table.update(drawn=[{**table["hand"][0], "by": "🤖 Gino"}]))
    await wait_for_turn(page)
    await page.locator(".fan .tap.playable").first.click()
    names = page.locator(".drawn .small small")
    await expect(names).to_have_text("🤖 Gino")
    assert not await names.evaluate_all(IS_CUT)


async def test_high_contrast_shows_which_game_is_chosen(playground: OpenPlayground, browser: Browser) -> None:
    page = await open_page(browser, playground.url, forced_colors="active")
    await expect(page.locator("[name=game]:checked")).to_have_css("opacity", "1")
    await expect(page.locator(".diagram").first).to_have_css("visibility", "hidden")


@pytest.mark.long
async def test_last_choice_of_a_game_is_restored(playground: OpenPlayground, browser: Browser) -> None:
    page = await open_page(browser, playground.url)
    await expect(page.locator("[name=game]:checked")).to_have_value("metamazzo")
    await page.get_by_text("Testa a Testa").click()
    await page.select_option("[name=robot]", "strong")
    await page.reload()
    await expect(page.locator("[name=game]:checked")).to_have_value("testa")
    await expect(page.locator("[name=robot]")).to_have_value("strong")
    await expect(page.get_by_role("link", name="Rules")).to_have_attribute("href", "/rules/testa")


async def test_first_card_needs_at_most_75_kb(playground: OpenPlayground, browser: Browser) -> None:
    page = await (await browser.new_context(viewport={"width": 390, "height": 844})).new_page()
    network, sizes = await page.context.new_cdp_session(page), list[float]()
    network.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    await network.send("Network.enable")
    await page.goto(playground.url)
    await page.locator("#play .main").click()
    await page.wait_for_selector(".fan .tap")
    await page.wait_for_load_state("networkidle")
    # The deck of cards alone has over 9 kB.
    assert 20_000 < sum(sizes) <= 75_000


async def test_state_of_an_older_release_is_drawn(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    await change_tables(page, lambda table: table.pop("order"))
    await expect(page.locator(".fan .tap")).to_have_count(10)


LED_CARD = {"code": "3D", "name": "3 of coins", "by": "Gino", "at": 1, "said": "", "wins": False}


async def test_each_card_is_one_image_after_failed_downloads(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    await page.add_init_script(FAIL_TWICE)
    await change_tables(page, lambda table: table.update(trick=[dict(LED_CARD)]))
    await expect(page.locator("svg.face").first).to_be_visible()
    await expect(page.locator(".trick").get_by_role("img")).to_have_accessible_name("3 of coins")
    await expect(page.locator("img.face").first).to_be_visible()
    await page.wait_for_function(ARE_DRAWN)
    assert await page.locator("main .face, main use[href*='/cards/']").evaluate_all(IS_EACH_AN_IMAGE)


@pytest.mark.long
async def test_table_shows_whole_names_on_a_phone(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "tavolo", viewport={"width": 390, "height": 844})
    await change_tables(page, lambda table: table.update(target="deal of the day"))
    names = page.locator(".title, .side b")
    await expect(names).to_have_count(3)
    await expect(names.first).to_contain_text("deal of the day")
    assert await page.evaluate(CUT_OFF_NAMES) == []


async def test_friend_joins_by_link_and_two_play_with_keys(playground: OpenPlayground, browser: Browser) -> None:
    anna = await open_page(browser, playground.url)
    await anna.check("[name=game][value=testa]")
    await anna.fill("[name=name]", "Anna")
    await anna.get_by_role("button", name="Play with a friend").click()
    link = await anna.locator(".link input").input_value()
    await take_screenshot(anna, "waiting")
    bruno = await open_page(browser, link, **DESKTOP)
    await expect(bruno.locator(".invitation")).to_contain_text("Anna\u2069 invites you to play Testa a Testa.")
    await bruno.fill("[name=name]", "Bruno")
    await take_screenshot(bruno, "invited")
    await bruno.get_by_role("button", name="Sit down").click()
    for page in (anna, bruno):
        await page.wait_for_selector(".cut")
    await cut_pack(playground.worker, link.rpartition("/")[2])
    for page in (anna, bruno):
        await page.wait_for_selector(".fan")
    await expect(anna.locator(".score")).to_contain_text("Bruno")
    # Players of games against people see their clock.
    await expect(anna.locator(".clock")).to_contain_text(":")
    time_left = await anna.locator(".clock").inner_text()
    await expect(anna.locator(".clock")).not_to_have_text(time_left)
    for _ in range(2):
        for page in (anna, bruno):
            if await page.locator(".line.mine").count():
                says = await page.locator("#says").inner_text()
                assert "Your turn" in says
                first = page.locator(".fan .tap").first
                await first.focus()
                while "playable" not in (await page.evaluate("document.activeElement.className")):
                    await page.keyboard.press("ArrowRight")
                name = await page.evaluate("document.activeElement.dataset.card")
                async with expect_change(page, ".felt"):
                    await page.keyboard.press("Enter")
                    await expect(page.locator(f".fan [data-card='{name}']")).to_have_count(0)
                # The next card gets the focus, so keys continue from there.
                await expect(page.locator(".fan .tap:focus")).to_have_count(1)
        await anna.wait_for_timeout(50)
    await take_screenshot(anna, "two-people")


@pytest.mark.long
async def test_keys_draw_and_choose_without_the_buttons(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "spades")
    await wait_for_turn(page)
    await page.keyboard.press("Tab")
    await page.locator("#table > .buttons:not(.spare) button").first.focus()
    for _ in range(5):
        await wait_for_turn(page)
        await expect(page.locator("#table > .buttons:not(.spare) button:focus")).to_have_count(1)
        async with expect_change(page):
            await page.keyboard.press("Enter")


@pytest.mark.long
async def test_robot_of_the_first_game_stays_chosen(
    playground: OpenPlayground, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await open_page(browser, playground.url)
    await page.get_by_role("button", name="Play now").click()
    await page.wait_for_selector(".felt")
    # A finished game presets the medium robot.
    monkeypatch.setattr("bot.handlers.lobby.Lobby.has_played", AsyncMock(return_value=True))
    await page.goto(playground.url)
    await expect(page.locator("[name=robot] [selected]")).to_have_attribute("value", "medium")
    await expect(page.locator("[name=robot]")).to_have_value("easy")


@pytest.mark.long
async def test_menu_does_not_repeat_the_cards(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    await wait_for_turn(page)
    await page.locator(".opens-menu").click()
    menu = page.get_by_role("dialog")
    await expect(menu.locator(".words")).to_be_hidden()
    await expect(menu.locator(".row button[data-payload*='play ']")).to_have_count(0)
    await menu.get_by_text("In words").click()
    await expect(menu.locator(".words")).to_be_visible()


@pytest.mark.long
async def test_resigning_asks_first_and_the_end_offers_a_rematch(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "spades")
    first = page.url
    await page.locator(".opens-menu").click()
    menu = page.get_by_role("dialog")
    await take_screenshot(page, "menu")
    for action in (
        page.keyboard.press("Escape"),
        page.mouse.click(5, 630),
        menu.get_by_role("button", name="Close").click(),
    ):
        await action
        await expect(menu).to_be_hidden()
        await page.locator(".opens-menu").click()
    await page.get_by_role("button", name="Resign").click()
    await expect(menu).to_be_hidden()
    await expect(page.locator(".line")).to_have_text(re.compile("^Do you really want to resign?"))
    await page.get_by_role("button", name="Yes, I resign").click()
    await expect(page.locator(".line")).to_have_text(re.compile("^You lose. You resigned.$"))
    await expect(page.locator(".tally")).to_have_count(0)
    await take_screenshot(page, "over")
    await page.get_by_role("button", name="Rematch").click()
    await page.wait_for_url(lambda url: url != first and "/t/" in url)
    await page.wait_for_selector(".felt")


@pytest.mark.long
async def test_reduced_motion_disables_animations(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo", **PHONE, reduced_motion="reduce")
    await wait_for_turn(page)
    await page.locator(".fan .tap.playable").first.click()
    assert (
        await page.evaluate("document.getAnimations().filter((animation) => animation.playState === 'running').length")
        == 0
    )


@pytest.mark.long
async def test_last_trick_is_visible_before_the_score(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    deal_over = page.locator(".tally")
    while not await deal_over.count():
        await expect(page.locator(".line.mine, .tally").first).to_be_visible()
        if await deal_over.count():
            break
        before = await page.locator("#table").inner_html()
        last = await page.locator(".fan .tap").count() == 1
        if last:
            await page.evaluate(HOLD_TRICK)
        await page.locator(".fan .tap.playable, #table > .buttons:not(.spare) button").first.click()
        if last:
            await expect(page.locator(".fan .tap")).to_have_count(0)
            await expect(page.locator(".lying")).to_have_count(2)
            await expect(page.locator(".lying.wins")).to_have_count(1)
            await take_screenshot(page, "last-trick-of-a-deal")
            assert not await deal_over.count()
            await page.evaluate(RELEASE_TRICK)
            await expect(deal_over).to_be_visible()
        await page.wait_for_function("old => document.getElementById('table').innerHTML !== old", arg=before)
    # The next deal appears only after the player continues, here with a key.
    await expect(page.locator(".fan")).to_have_count(0)
    # The score has a button to go on, and does not mention the turn yet.
    await expect(deal_over).to_contain_text("Go on")
    await expect(deal_over).not_to_contain_text("turn")
    await take_screenshot(page, "tally")
    # The button stays in view below the tricks of the deal.
    go_on = page.get_by_role("button", name="Go on")
    await expect(go_on).to_be_focused()
    await page.locator(".tally summary").click()
    await expect(page.locator(".tally .trick-cards")).to_have_count(20)
    await expect(go_on).to_be_in_viewport(ratio=1)
    await go_on.focus()
    await page.keyboard.press("Enter")
    await expect(deal_over).to_have_count(0)
    await expect(page.locator(".fan .tap")).to_have_count(10)


@pytest.mark.long
async def test_leader_of_a_new_deal_is_notified_of_the_turn(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    turns = "window.turns = 0; addEventListener('moment', ({detail}) => turns += detail === 'turn');"
    await page.add_init_script(f"{turns} ({HOLD_TRICK})()")

    def end_deal(socket: WebSocketRoute) -> None:
        """Replace each table from the bot with the end of a deal and the next deal."""

        def replace(text: str | bytes) -> None:
            state = json.loads(text).get("table")
            if state is None:
                socket.send(text)
                return
            card = {"code": "3D", "by": "Anna", "at": 1, "said": "", "wins": True}
            socket.send(json.dumps({"table": {**state, "is_mine": False}}))
            socket.send(json.dumps({"table": {**state, "is_mine": True, "deal": 2, "end_trick": [card]}}))

        socket.connect_to_server().on_message(replace)

    await route_states(page, end_deal)
    await page.reload()
    await expect(page.locator("[data-lying='3D']")).to_be_visible()
    assert await page.evaluate("turns") == 0
    await page.evaluate(RELEASE_TRICK)
    await page.wait_for_function("() => window.turns >= 1")


@pytest.mark.long
@pytest.mark.parametrize("at_once", [False, True], ids=["two messages", "one message"])
async def test_turn_is_announced_after_the_led_card_is_visible(
    playground: OpenPlayground, browser: Browser, at_once: bool
) -> None:
    page = await start_game(browser, playground, "metamazzo")
    turns = "window.turns = 0; addEventListener('moment', ({detail}) => turns += detail === 'turn');"
    await page.add_init_script(f"{turns} ({HOLD_TRICK})()")

    sent: list[str] = []

    def lead(socket: WebSocketRoute) -> None:
        """Let the opponent take a trick and lead before the page has shown the trick."""

        def replace(text: str | bytes) -> None:
            state = json.loads(text).get("table")
            if state is None or sent:
                return
            last = [
                {"code": code, "by": "Anna", "at": seat, "said": "", "wins": seat == 1}
                for seat, code in ((0, "4D"), (1, "3D"))
            ]
            playable = [{**card, "light": "playable"} for card in state["hand"]]
            quiet = {**state, "is_mine": False, "line": "", "hand": [{**card, "light": ""} for card in playable]}
            before = {**quiet, "trick": last[:1], "last_trick": [], "says": "before"}
            after_trick = {**quiet, "trick": [], "last_trick": last, "says": "taken"}
            after_lead = {
                **after_trick,
                "trick": [{**last[1], "code": "3C"}],
                "is_mine": True,
                "line": "Your turn.",
                "hand": playable,
            }
            for table in (before, after_lead) if at_once else (before, after_trick, after_lead):
                sent.append(json.dumps({"table": {**table, "says": "led" if table is after_lead else table["says"]}}))
                socket.send(sent[-1])

        socket.connect_to_server().on_message(replace)

    await route_states(page, lead)
    await page.reload()
    await expect(page.locator("[data-lying='3D']")).to_be_visible()
    await expect(page.locator("[data-lying='3C']")).to_have_count(0)
    await expect(page.locator(".line.mine")).to_have_count(0)
    await expect(page.locator(".fan .tap.playable")).to_have_count(0)
    await expect(page.locator("#says")).to_have_text("before" if at_once else "taken")
    assert await page.evaluate("turns") == 0
    await page.evaluate(RELEASE_TRICK)
    await expect(page.locator("[data-lying='3C']")).to_be_visible()
    await expect(page.locator(".line.mine")).to_have_text("Your turn.")
    await expect(page.locator("#says")).to_have_text("led")
    # The page announces the turn after it is drawn.
    await page.wait_for_function("() => window.turns >= 1")
    assert await page.evaluate("turns") == 1


@pytest.mark.long
async def test_menu_question_is_not_covered_by_the_score(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    deal_over = page.locator(".tally")
    while not await deal_over.count():
        await expect(page.locator(".line.mine, .tally").first).to_be_visible()
        if await deal_over.count():
            break
        async with expect_change(page):
            await page.locator(".fan .tap.playable, #table > .buttons:not(.spare) button").first.click()
    await page.locator(".opens-menu").click()
    await page.get_by_role("button", name="Resign").click()
    await page.get_by_role("button", name="Yes, I resign").click()
    await expect(page.locator(".line")).to_have_text(re.compile(" resigned.$"))


@pytest.mark.long
async def test_taps_take_two_packets_in_hand(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "pizzichino")
    packets = page.locator(".fan .tap")
    await wait_for_turn(page)
    pressed_packets = page.locator(".middle .tap[aria-pressed]")
    # The player who takes second gets the remaining four packets.
    if await page.locator(".middle").count():
        for number in range(4):
            await expect(pressed_packets).to_have_count(number)
            await page.locator(".middle .tap:not([aria-pressed])").first.click()
        await page.get_by_role("button", name="Take packets").click()
    await expect(packets).to_have_count(4)
    await packets.nth(0).click()
    await expect(packets.nth(0)).to_have_attribute("aria-pressed", "true")
    await packets.nth(2).click()
    # The player has ten cards in hand, and two packets are on the table.
    await expect(page.locator(".fan .tap")).to_have_count(12)


@pytest.mark.long
async def test_dragged_card_is_played_or_put_back(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo", **DESKTOP)
    await wait_for_turn(page)
    card = page.locator(".fan .tap.playable").first
    name = await card.get_attribute("data-card")
    await wait_until_still(page)
    box, felt_box = await card.bounding_box(), await page.locator(".felt").bounding_box()
    assert box
    assert felt_box
    await page.mouse.move(box["x"] + 20, box["y"] + 20)
    await page.mouse.down()
    await page.mouse.move(box["x"] + 90, felt_box["y"] - 20, steps=4)
    await page.mouse.up()
    await expect(page.locator(f".fan [data-card='{name}']:not(.dragged)")).to_have_count(1)
    await wait_until_still(page)
    await page.mouse.move(box["x"] + 20, box["y"] + 20)
    await page.mouse.down()
    await page.mouse.move(felt_box["x"] + felt_box["width"] / 2, felt_box["y"] + felt_box["height"] / 2, steps=4)
    await page.mouse.up()
    await expect(page.locator(f"[data-lying='{name}']")).to_be_visible()
    await expect(page.locator(f".fan [data-card='{name}']")).to_have_count(0)


@pytest.mark.long
async def test_tap_on_the_table_sends_a_taken_trick_away(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    await page.add_init_script(f"({HOLD_TRICK})()")
    await page.reload()
    await wait_for_turn(page)
    await page.locator(".fan .tap.playable").first.click()
    await expect(page.locator(".lying")).to_have_count(2)
    # Without the tap this trick would stay forever.
    await page.wait_for_function("() => window.held.length > 0")
    await page.locator(".felt").click(position={"x": 5, "y": 5})
    await page.wait_for_function("() => document.querySelectorAll('.lying').length < 2")
    await wait_for_turn(page)


@pytest.mark.long
async def test_cards_keep_their_places_until_the_deal_ends(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "tressette", reduced_motion="reduce")
    places = """() => [...document.querySelectorAll(".fan .row > *")].map((element) => {
      return [element.dataset.card || "", Math.round(element.getBoundingClientRect().left)];
    })"""
    await wait_for_turn(page)
    before = await page.evaluate(places)
    for _ in range(3):
        await wait_for_turn(page)
        card = page.locator(".fan .tap.playable").first
        played_card = await card.get_attribute("data-card")
        await card.click()
        await expect(page.locator(f".fan [data-card='{played_card}']")).to_have_count(0)
        before = [["" if card == played_card else card, left_edge] for card, left_edge in before]
        await wait_for_turn(page)
        assert await page.evaluate(places) == before
    await page.reload()
    await wait_for_turn(page)
    assert await page.evaluate(places) == before


@pytest.mark.long
async def test_sides_of_two_are_called_we_and_they(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "tressette")
    await expect(page.locator(".side b")).to_have_text(["We", "They"])
    await expect(page.locator(".other .portrait")).to_have_count(3)
