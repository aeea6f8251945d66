"""What a table's page shows of events: the title, bubbles at seats, the count of a deal and the end of a game."""

import asyncio
import json
import re
from typing import Any

import pytest
from playwright.async_api import Browser, WebSocketRoute, expect

from engine import Record
from engine.robots.verdicts import Verdict
from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.table_states import route_states
from tests.web.test_table_page import PHONE, TO_PRESS, change_tables, start_game, take_screenshot, wait_for_turn

pytestmark = [*ONE_BROWSER, pytest.mark.long]

HOLD_TIMERS = """() => {
  window.usual = setTimeout; window.held = [];
  window.setTimeout = (then, ms) => ms > 1000 ? -window.held.push(then) : window.usual(then, ms);
}"""
"""JavaScript that holds a page's timers of more than a second, so that a slow test still sees what they would remove."""


async def test_title_says_whose_turn_it_is(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    await wait_for_turn(page)
    await expect(page).to_have_title("● Your turn · Buongioco · " + page.url[-6:])
    await change_tables(page, lambda table: table.update(is_mine=False))
    await expect(page).to_have_title("Buongioco · " + page.url[-6:])


async def test_declaration_is_shown_at_its_seat_for_a_moment(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "tressette")
    events: list[dict[str, Any]] = []

    def declare(table: dict[str, Any]) -> None:
        table["events"] = events

    await change_tables(page, declare)
    await wait_for_turn(page)
    events.append({"number": 50, "at": 3, "text": "Napoletana in cups! +9", "cards": ["3C", "2C", "AC"]})
    await page.evaluate(HOLD_TIMERS)
    await page.locator(".fan .tap.playable").first.click()
    bubble = page.locator(".bubble[data-at='3']").filter(has_text="Napoletana in cups! +9")
    await expect(bubble).to_be_visible()
    await expect(bubble.locator(".face")).to_have_count(3)
    await take_screenshot(page, "bubble")
    # Taps reach the cards below.
    assert await bubble.evaluate("bubble => getComputedStyle(bubble.parentNode).pointerEvents") == "none"
    await page.evaluate("() => held.forEach((then) => then())")
    await expect(bubble).to_have_count(0)


async def test_taken_trick_says_who_takes_it(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    # A declaration of the robot that takes the trick would be shown instead.
    await change_tables(page, lambda table: table.update(events=[]))
    await wait_for_turn(page)
    # The taken trick stays, so that a slow test sees it.
    await page.evaluate(HOLD_TIMERS)
    await page.locator(".fan .tap.playable").first.click()
    wins = page.locator(".lying.wins figcaption")
    bubble = page.locator(".bubble")
    await expect(bubble).to_be_visible()
    taker = await wins.inner_text()
    await expect(bubble).to_have_text("You take it" if taker == "you" else f"{taker} takes it")


TRICKS_WON = """() => [...document.querySelectorAll("[class*='heap won'] b")]
  .reduce((sum, one) => sum + Number(one.dataset.says), 0)"""


async def test_log_names_takers_and_shows_only_the_last_trick(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "testa", **PHONE)
    for number in (1, 2):
        await wait_for_turn(page)
        await page.locator(".fan .tap.playable").first.click()
        await page.wait_for_function(f"count => ({TRICKS_WON})() === count", arg=number)
    await wait_for_turn(page)
    menu, summary = page.locator(".menu"), page.locator(".opens-log summary")
    await page.locator(".opens-menu").focus()
    await page.keyboard.press("Enter")
    await summary.focus()
    await page.keyboard.press("Enter")
    tricks = menu.locator(".log ol > li").filter(has_text="Trick")
    await expect(tricks).to_have_count(2)
    await expect(tricks.first).to_have_text(re.compile("^Trick 1: (you|\u2068🤖 .*\u2069)$"))
    await expect(tricks.first.locator(".face")).to_have_count(0)
    await expect(tricks.last.get_by_role("img")).to_have_count(2)
    await take_screenshot(page, "log")


COUNT: dict[str, Any] = {
    "lines": [
        ["points in tricks", "5⅔", "5"],
        ["the last trick", "1", "0"],
        ["left over", "−⅔", "0"],
        ["points", "6", "5"],
    ],
    "label": "totals",
    "before": [7, 9],
    "after": [13, 14],
    "target": 21,
}


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
async def test_deal_is_counted_line_by_line(playground: OpenPlayground, browser: Browser, motion: str) -> None:
    page = await start_game(browser, playground, "testa", **PHONE, reduced_motion=motion)
    # The number of lines shown in each frame.
    await page.add_init_script(
        """window.lines = []; (function look() {
          const rows = [...document.querySelectorAll(".tally tbody tr")];
          if (rows.length) lines.push(rows.filter((row) => getComputedStyle(row).visibility === "visible").length);
          requestAnimationFrame(look);
        })()"""
    )
    await change_tables(page, lambda table: table.update(count=COUNT, tally_title="deal 1"))
    await expect(page.locator(".tally tfoot td")).to_have_text(["13", "14"])
    await expect(page.locator(".tally tfoot")).to_be_visible()
    await expect(page.locator(".tally tbody tr").last).to_have_text("points65")
    assert await page.locator(".way progress").evaluate_all("all => all.map((bar) => bar.value)") == [13, 14]
    await expect(page.locator(".how a")).to_have_attribute("href", "/rules/testa#points")
    spoken_lines = await page.evaluate("lines")
    assert spoken_lines == sorted(spoken_lines)
    assert (spoken_lines[0] == len(COUNT["lines"])) == (motion == "reduce")
    await page.get_by_role("button", name="Go on").click()
    await expect(page.locator(".fan .tap")).to_have_count(10)


def prepare_verdicts(site: OpenPlayground) -> None:
    """Replace the analysis by one in which each card costs two and a third points."""

    async def verdicts(record: Record, deal: int) -> list[Verdict]:
        moves = enumerate(record.deals[deal - 1].moves)
        cards = [(place, seat or 0, move) for place, (seat, move, *_) in moves if move.startswith("play ")]
        return [Verdict(deal, place, seat, move, "play 3D", 7 / 3, True, "takes") for place, seat, move in cards]

    site.worker.robot_pool.verdicts = verdicts  # type: ignore[method-assign]


async def test_end_of_a_game_shows_result_rematch_and_share(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo", **PHONE)
    await page.add_init_script("delete Navigator.prototype.share;")
    await page.reload()
    await wait_for_turn(page)
    await page.locator(".fan .tap.playable").first.click()
    await expect(page.locator(".last")).to_be_visible()
    await wait_for_turn(page)
    # The cards are drawn when the trick is opened.
    await page.locator(".last summary").click()
    await expect(page.locator(".last .face")).to_have_count(2)
    cards = await page.locator(".last .face").evaluate_all("all => all.map((face) => face.dataset.face)")
    await page.locator(".opens-menu").click()
    await page.get_by_role("button", name="Resign").click()
    await page.get_by_role("button", name="Yes, I resign").click()
    end = page.locator(".game-end")
    await expect(end.locator(".line")).to_have_text(re.compile("^You lose"))
    await expect(end.locator(".points")).to_have_count(2)
    # A trick without points is not the best one.
    await expect(end.locator(".best li")).to_have_count(2 if any(card[0] in "32ARCF" for card in cards) else 0)
    await expect(end.get_by_role("link", name="Analysis")).to_be_visible()
    prepare_verdicts(playground)
    await end.get_by_role("button", name="My costliest cards").click()
    costly = end.locator(".costliest li")
    await expect(costly.first).to_contain_text(re.compile(r"Deal 1: .*, −2⅓ points\. Better: 3"))
    assert await costly.first.get_by_role("img").get_attribute("alt")
    await expect(costly.first.get_by_role("link")).to_have_attribute("href", re.compile(r"^/g/[^#]+#d1m\d+$"))
    rematch = await end.get_by_role("button", name="Rematch").bounding_box()
    assert rematch
    assert rematch["height"] >= 50
    assert rematch["y"] + rematch["height"] < 640
    assert await page.evaluate("document.documentElement.scrollWidth") == 360
    await take_screenshot(page, "end-of-game")
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await end.get_by_role("button", name="Share").click()
    await expect(end.get_by_role("button", name="Copied")).to_be_visible()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert re.search(r"wins: .* resigned\n.*/g/", copied)
    picture = await end.get_by_role("link", name="Picture").get_attribute("href")
    assert picture
    # The game is stored a moment after its end.
    async with asyncio.timeout(30):
        while (answer := await page.request.get(playground.url.rstrip("/") + picture)).status != 200:
            await asyncio.sleep(0.2)
    assert (await answer.body()).startswith(b"\x89PNG")


async def test_hint_lights_its_card_and_points_at_it(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "testa", **PHONE)
    await wait_for_turn(page)
    await page.get_by_role("button", name="💡 Hint").click()
    hinted, advice = page.locator(".fan .tap.hinted"), page.locator(".advice.points")
    await expect(hinted).to_have_count(1)
    await expect(advice).to_be_visible()
    # The tail of the bubble is above the middle of the card, and the bubble is above the line of text.
    gap = await advice.evaluate(
        """bubble => {
          const card = document.querySelector(".fan .hinted"), row = document.querySelector(".todo").getBoundingClientRect();
          const box = bubble.getBoundingClientRect(), { left, width } = card.getBoundingClientRect();
          return [box.left + parseFloat(bubble.style.getPropertyValue("--tail")) - left - width / 2, row.top - box.bottom];
        }"""
    )
    assert abs(gap[0]) <= 2
    assert 0 <= gap[1] <= 16
    await take_screenshot(page, "hint-at-card")
    await hinted.click()
    await expect(hinted).to_have_count(0)


SETTLED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
OVERLAPS = """() => {
  const toast = document.querySelector(".toast").getBoundingClientRect();
  return [...document.querySelectorAll(".lying, .tap, .todo, .bar button, #table > .buttons:not(.spare) button")].filter((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return left < right && left < toast.right && right > toast.left && top < toast.bottom && bottom > toast.top;
  }).map((element) => element.className);
}"""


@pytest.mark.parametrize("game", ["tressette", "pizzichino"])
async def test_answer_can_be_read_and_covers_no_card(playground: OpenPlayground, browser: Browser, game: str) -> None:
    page = await start_game(browser, playground, game, **PHONE, reduced_motion="reduce")
    reason = "Follow suit: you have a card of the suit that was led, so play a bright one."

    def forward(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        socket.on_message(
            lambda text: (
                socket.send(json.dumps({"n": press["n"], "toast": reason, "refused": True, "go": ""}))
                if "press" in (press := json.loads(text))
                else server.send(text)
            )
        )

    await route_states(page, forward)
    await page.reload()
    await wait_for_turn(page)
    await page.evaluate(
        "() => { const usual = setTimeout; window.waits = []; window.setTimeout = (then, ms) => { waits.push(ms); return usual(then, ms); }; }"
    )
    await page.locator(TO_PRESS).first.click()
    await expect(page.locator(".toast")).to_have_text(reason)
    # A slow reader reads some fifteen letters a second.
    await page.wait_for_function("least => Math.max(...waits.filter(Boolean)) >= least", arg=1000 / 15 * len(reason))
    for width, height in ((360, 640), (390, 844), (844, 390), (1440, 900)):
        await page.set_viewport_size({"width": width, "height": height})
        await page.evaluate(SETTLED)
        assert await page.evaluate(OVERLAPS) == [], f"{width} × {height}"
