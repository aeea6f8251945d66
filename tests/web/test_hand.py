"""The reader's hand on a table's page: its order, and hiding it."""

from typing import Any
from unittest.mock import AsyncMock

import pytest
from playwright.async_api import Browser, Page, expect

from engine.cards import ITALIAN
from tests.browser import ONE_BROWSER, wait_until_still
from tests.open_playground import OpenPlayground
from tests.web.test_table_page import DESKTOP, PHONE, change_tables, start_game, take_screenshot, wait_for_turn

pytestmark = [*ONE_BROWSER, pytest.mark.long]


LIST_SLIDES = """() => {
  const { animate } = Element.prototype;
  window.slides = [];
  Element.prototype.animate = function (...values) { slides.push(this.dataset.card); return animate.apply(this, values); };
}"""
"""JavaScript: list the cards that slide."""


async def shown_hand(page: Page) -> list[str]:
    codes: list[str] = await page.locator(".fan .tap").evaluate_all("taps => taps.map((tap) => tap.dataset.card)")
    return codes


async def test_hand_can_be_sorted_by_rank(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    await wait_for_turn(page)
    by_suit = await shown_hand(page)
    await page.locator(".opens-menu").click()
    await page.get_by_role("combobox", name="Sort my cards").select_option("by rank")
    by_rank = sorted(by_suit, key=lambda code: -ITALIAN.ranks.index(code[0]))
    assert await shown_hand(page) == by_rank != by_suit
    await take_screenshot(page, "order")
    await page.reload()
    await wait_for_turn(page)
    assert await shown_hand(page) == by_rank


async def test_cards_can_be_moved_by_keys(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    await wait_for_turn(page)
    hand = await shown_hand(page)
    await page.locator(".fan .tap").first.focus()
    await page.keyboard.press("Shift+ArrowRight")
    await page.keyboard.press("Shift+ArrowRight")
    expected_hand = [*hand[1:3], hand[0], *hand[3:]]
    assert await shown_hand(page) == expected_hand
    await expect(page.locator(f".fan [data-card='{hand[0]}']")).to_be_focused()
    await page.reload()
    await wait_for_turn(page)
    assert await shown_hand(page) == expected_hand
    await page.locator(".opens-menu").click()
    await expect(page.get_by_role("combobox", name="Sort my cards")).to_have_value("hand")


async def test_card_dragged_sideways_takes_the_place_of_another(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo", **DESKTOP)
    await wait_for_turn(page)
    await wait_until_still(page)
    hand = await shown_hand(page)
    boxes = [await page.locator(f".fan [data-card='{code}']").bounding_box() for code in (hand[3], hand[0])]
    (from_box, to_box) = boxes
    assert from_box
    assert to_box
    await page.evaluate(LIST_SLIDES)
    await page.mouse.move(from_box["x"] + 30, from_box["y"] + 40)
    await page.mouse.down()
    await page.mouse.move(to_box["x"] + 30, to_box["y"] + 40, steps=5)
    await page.mouse.up()
    await expect(page.locator(".fan .tap").first).to_have_attribute("data-card", hand[3])
    await page.wait_for_function("() => window.slides.length >= 4")
    assert await page.evaluate("window.slides.sort()") == sorted(hand[:4])
    assert await shown_hand(page) == [hand[3], *hand[:3], *hand[4:]]
    await expect(page.locator(f".lying[data-lying='{hand[3]}']")).to_have_count(0)


async def test_hidden_hand_is_face_down_and_plays_nothing(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    await wait_for_turn(page)
    open_faces, count = page.locator(".fan .face:not([data-face='back'])"), len(await shown_hand(page))
    button = page.get_by_role("button", name="Hide my cards")
    await button.click()
    await expect(button).to_have_attribute("aria-pressed", "true")
    await expect(open_faces).to_have_count(0)
    await expect(page.locator(".fan .playable, .fan .dim, .fan [data-press]:not([data-press=''])")).to_have_count(0)
    await take_screenshot(page, "hidden")
    await wait_until_still(page)
    await page.locator(".fan .tap").first.click(force=True)
    await page.reload()
    await wait_for_turn(page)
    assert len(await shown_hand(page)) == count
    await expect(open_faces).to_have_count(0)
    # A longer press shows the cards until it ends.
    await button.hover()
    await page.mouse.down()
    await expect(open_faces).to_have_count(count)
    await page.mouse.up()
    await expect(open_faces).to_have_count(0)
    await button.press("Enter")
    await expect(open_faces).to_have_count(count)
    await page.locator(".fan .tap.playable").first.click()


async def test_all_buttons_beside_the_line_fit_a_phone(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "tressette", reduced_motion="reduce", **PHONE)
    labels = {"claim": "🏁 Mi chiamo fuori", "hint": "💡 Consiglio", "say": "💬 Di’"}

    def add_buttons(table: dict[str, Any]) -> None:
        # Italian has the longer texts.
        table["line"], table["hint"] = "Tocca a te.", ""
        table["extra"] = [[[label, role, "", "press", role, ""] for role, label in labels.items()]]

    await change_tables(page, add_buttons)
    await expect(page.locator(".beside")).to_have_count(3)
    for width, height in [(360, 640), (390, 844), (844, 390)]:
        await page.set_viewport_size({"width": width, "height": height})
        edges = "parts => parts.map((part) => part.getBoundingClientRect()).flatMap(({ left, right }) => [left, right])"
        places = await page.locator(".todo > :visible").evaluate_all(edges)
        assert min(places) >= 0
        assert max(places) <= width


async def test_hand_keeps_its_height_when_few_cards_are_left(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "tressette", reduced_motion="reduce", **PHONE)
    shown = [10]

    def keep_some(table: dict[str, Any]) -> None:
        # A change that arrives before the click must leave a card to play.
        playable_first = sorted(table["hand"], key=lambda card: card["light"] != "playable")
        table["hand"], table["hint"] = playable_first[: shown[0]], ""

    await change_tables(page, keep_some)
    height = "() => document.querySelector('.fan').offsetHeight"
    await expect(page.locator(".fan .row")).to_have_count(2)
    before = await page.evaluate(height)
    shown[0] = 3
    await page.locator(".fan .tap.playable").first.click()
    await expect(page.locator(".fan .tap")).to_have_count(3)
    await expect(page.locator(".fan .row")).to_have_count(2)
    assert await page.evaluate(height) == before


async def test_few_cards_left_are_in_one_row(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "tressette", reduced_motion="reduce", **PHONE)
    await expect(page.locator(".fan .row")).to_have_count(2)
    places_left = [0, 1, 3, 5, 6, 8]

    def keep_some(table: dict[str, Any]) -> None:
        table["hand"] = [table["hand"][place] for place in places_left]

    await change_tables(page, keep_some)
    await expect(page.locator(".fan .tap")).to_have_count(6)
    await expect(page.locator(".fan .row")).to_have_count(2)
    places_left.pop()
    await page.reload()
    await expect(page.locator(".fan .tap")).to_have_count(5)
    await expect(page.locator(".fan .row")).to_have_count(1)
    await expect(page.locator(".fan .gap")).to_have_count(0)
    places_left.pop()
    await page.reload()
    await expect(page.locator(".fan .gap")).to_have_count(1)


async def test_first_game_shows_the_order_of_cards(playground: OpenPlayground, browser: Browser) -> None:
    for game, lines in (
        ("metamazzo", ["High to low: 3 2 A R C F 7 6 5 4", "Follow the suit of the first card if you can."]),
        (
            "spades",
            ["High to low: A K Q J 10 9 8 7 6 5 4 3 2", "Follow suit if you can. Spades beat all other suits."],
        ),
    ):
        page = await start_game(browser, playground, game)
        order, button = page.locator("#order"), page.get_by_role("button", name="Order of the cards")
        await expect(order.locator("p")).to_have_text(lines)
        assert await page.evaluate("[document.documentElement.scrollHeight - innerHeight, scrollY]") == [0, 0]
        await button.press("Enter")
        await expect(order).to_be_hidden()
        await expect(button).to_have_attribute("aria-expanded", "false")
        await expect(button).to_be_focused()
        await page.reload()
        await expect(button).to_be_visible()
        await expect(order).to_be_hidden()
        await button.click()
        await expect(order).to_be_visible()
        await page.context.close()


async def test_later_game_shows_no_order_of_cards(
    playground: OpenPlayground, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.features.learn.first_games.FirstGames.knows", AsyncMock(return_value=True))
    page = await start_game(browser, playground, "metamazzo")
    await wait_for_turn(page)
    await expect(page.locator("#order")).to_have_count(0)
