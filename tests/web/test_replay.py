"""The page of a finished game in a real Chromium: each step, each player's view, and the check of the shuffle."""

import asyncio
import json
import os
import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from playwright.async_api import Browser, Error, Page, Route, expect

from bot.finished.game import FinishedGame
from bot.tables.errors import NoSuchTable
from engine import GAMES, load
from engine.robots.verdicts import Verdict
from tests.bot.finished.games import finished_game, store_game
from tests.browser import ONE_BROWSER, fail_on_page_errors
from tests.open_playground import OpenPlayground
from tests.web.test_table_page import start_game, wait_for_turn

pytestmark = [*ONE_BROWSER, pytest.mark.long]

PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}
DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
NAMES = ["Anna", "Bruno", "Carla Maria", "Dino"]


async def add_game(site: OpenPlayground, game_id: str = "metamazzo", number: int = 1) -> FinishedGame:
    game = finished_game(number, game_id)
    record = game.record.model_copy(update={"seats": NAMES[: len(game.record.seats)]})
    game = replace(game, record=record)
    await store_game(site.worker.store, game)
    return game


def prepare_analysis(site: OpenPlayground, game: FinishedGame, costs: float = 2.33) -> None:
    """Replace the analysis with prepared verdicts."""

    async def verdicts(_record: object, deal: int) -> list[Verdict]:
        moves = game.record.deals[deal - 1].moves
        cards = [(index, seat, move) for index, (seat, move, *_) in enumerate(moves) if move.startswith("play ")]
        prepared: list[Verdict] = []
        for index, seat, move in cards:
            lost_points = costs if index % 9 == 4 else 0.0
            prepared.append(
                Verdict(
                    deal,
                    index,
                    seat or 0,
                    move,
                    "play 3D" if lost_points else move,
                    lost_points,
                    True,
                    "takes" if lost_points else "",
                )
            )
        return prepared

    site.worker.robot_pool.verdicts = verdicts  # type: ignore[method-assign, assignment]


async def open_page(browser: Browser, url: str, *, language: str = "en", errors: bool = True, **options: Any) -> Page:
    context = await browser.new_context(locale=language, **(options or DESKTOP))
    page = await context.new_page()
    if errors:
        fail_on_page_errors(page)
    await page.goto(url)
    return page


async def read_hand(page: Page, seat: int) -> list[str]:
    cards = page.locator(f"[data-seat='{seat}'] .hand svg")
    return [await cards.nth(number).get_attribute("data-card") or "" for number in range(await cards.count())]


async def wait_for_hash(page: Page, hash_: str) -> None:
    await page.wait_for_function("hash => location.hash === hash", arg=hash_)


async def test_keys_slider_and_link_reach_each_move(playground: OpenPlayground, browser: Browser) -> None:
    game = await add_game(playground)
    last = len(game.record.deals[0].moves)
    page = await open_page(browser, f"{playground.url}g/{game.id}")
    await expect(page.locator(".says")).to_have_text(f"{NAMES[game.record.deals[0].dealer]} deals")
    await page.keyboard.press("ArrowRight")
    await wait_for_hash(page, "#d1m1")
    move = game.record.deals[0].moves[0][1].split(" ")[1]
    await expect(page.locator("[data-lying]")).to_have_attribute("data-lying", move)
    await page.keyboard.press("End")
    await wait_for_hash(page, f"#d1m{last}")
    await expect(page.locator(".scored")).to_contain_text("Points")
    await page.keyboard.press("ArrowRight")
    await wait_for_hash(page, "#d2m0")
    await page.keyboard.press("ArrowLeft")
    await wait_for_hash(page, f"#d1m{last}")
    await page.keyboard.press("Home")
    await wait_for_hash(page, "#d1m0")
    await page.locator("input[type=range]").fill("7")
    await wait_for_hash(page, "#d1m7")
    await page.locator(".moves a").nth(3).click()
    await expect(page.locator(".moves a[aria-current]")).to_have_count(1)
    await expect(page.locator(".moves a").nth(3)).to_have_attribute("aria-current", "step")
    linked = await open_page(browser, f"{playground.url}g/{game.id}#d2m5")
    await expect(linked.locator(".moves a").nth(5)).to_have_attribute("aria-current", "step")


async def test_keys_faster_than_drawing_all_count(playground: OpenPlayground, browser: Browser) -> None:
    game = await add_game(playground)
    page = await open_page(browser, f"{playground.url}g/{game.id}")
    await expect(page.locator(".says")).to_contain_text("deals")
    await page.evaluate(
        """() => { for (const key of ["End", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"])
             dispatchEvent(Object.assign(new KeyboardEvent("keydown", { key }))); }"""
    )
    await wait_for_hash(page, "#d2m1")


async def test_replay_plays_automatically_and_stops(playground: OpenPlayground, browser: Browser) -> None:
    game = await add_game(playground)
    page = await open_page(browser, f"{playground.url}g/{game.id}")
    await expect(page.locator(".says")).to_contain_text("deals")
    await page.keyboard.press(" ")
    await wait_for_hash(page, "#d1m2")
    await page.keyboard.press(" ")
    await expect(page.locator("#play")).to_have_attribute("aria-pressed", "false")


async def test_view_of_each_seat_matches_the_engine(playground: OpenPlayground, browser: Browser) -> None:
    game = await add_game(playground)
    page = await open_page(browser, f"{playground.url}g/{game.id}#d1m5")
    game_state = load(game.record, 1, 5)
    hands = [list(view.hand or ()) for seat in (0, 1) if (view := game_state.view(seat).deal)]
    await expect(page.locator(".says")).not_to_be_empty()
    assert [await read_hand(page, seat) for seat in (0, 1)] == hands
    for choice in ("0", "1", "public"):
        await page.select_option("#who", choice)
        public = game_state.view(None).deal
        assert public
        for seat in (0, 1):
            hidden = [*public.known[seat], *["back"] * (public.counts[seat] - len(public.known[seat]))]
            assert await read_hand(page, seat) == (hands[seat] if choice == str(seat) else hidden)


async def test_analysis_is_shown_next_to_each_move(playground: OpenPlayground, browser: Browser) -> None:
    game = await add_game(playground)
    prepare_analysis(playground, game)
    page = await open_page(browser, f"{playground.url}g/{game.id}")
    await page.click("#analyse")
    links = page.locator(".costliest a")
    await expect(links).to_have_count(3)
    await expect(page.locator(".players li")).to_have_count(2)
    await links.nth(0).click()
    await expect(page.locator(".judgement.bad")).to_contain_text("−2⅓ points")
    await expect(page.locator(".judgement.bad")).to_contain_text("it takes the trick, and the lead")
    await expect(page.locator(".moves li.bad small").first).to_contain_text("Better:")
    # Later readers find the finished analysis, with numbers formatted for their language.
    later = await open_page(browser, f"{playground.url}g/{game.id}", language="it")
    await expect(later.locator(".costliest a")).to_have_count(3)
    await expect(later.locator(".costliest li").first).to_contain_text("−2⅓ punti")


async def test_player_without_decisions_has_no_quality_figure(playground: OpenPlayground, browser: Browser) -> None:
    game = await add_game(playground)

    async def verdicts(_record: object, _deal: int) -> list[Verdict]:
        return [Verdict(1, 0, 0, "play 4D", "play 4D", 0.0, exact=False)]

    playground.worker.robot_pool.verdicts = verdicts  # type: ignore[method-assign, assignment]
    page = await open_page(browser, f"{playground.url}g/{game.id}")
    await page.click("#analyse")
    await expect(page.locator(".players li").nth(0)).to_contain_text("100 %")
    await expect(page.locator(".players li").nth(1)).to_have_text(f"{NAMES[1]} no decisions to judge")


@pytest.mark.parametrize(("game_id", "costs", "text"), [("tressette", 2.33, "−7 points"), ("testa", 1.0, "−1 point.")])
async def test_lost_points_use_the_scale_of_the_table(
    playground: OpenPlayground, browser: Browser, game_id: str, costs: float, text: str
) -> None:
    game = await add_game(playground, game_id)
    prepare_analysis(playground, game, costs)
    page = await open_page(browser, f"{playground.url}g/{game.id}")
    await page.click("#analyse")
    await expect(page.locator(".costliest li").first).to_contain_text(text)


async def test_analysis_uses_the_last_chosen_suits(playground: OpenPlayground, browser: Browser) -> None:
    game = await add_game(playground)
    deals = len(game.record.deals)
    analysis: dict[str, Any] = {"is_begun": True, "deals": deals, "players": [], "judgements": [], "costliest": []}
    requested, is_chosen = asyncio.Event(), asyncio.Event()
    polls: list[str] = []

    async def answer(route: Route) -> None:
        is_italian = "suits=italian" in route.request.url
        if is_italian and route.request.method == "POST":
            polls.append(route.request.url)
            requested.set()
            await is_chosen.wait()
        with suppress(Error):
            # The page might have stopped waiting for the response.
            await route.fulfill(json={**analysis, "deals_done": 0 if is_italian else deals})

    page = await open_page(browser, "about:blank")
    await page.route("**/analysis?*", answer)
    await page.goto(f"{playground.url}g/{game.id}")
    await requested.wait()
    await page.select_option("#suits", "french")
    await expect(page.locator(".analysis h2")).to_be_visible()
    is_chosen.set()
    await page.wait_for_timeout(2000)
    await expect(page.locator(".analysis h2")).to_be_visible()
    assert len(polls) == 1


async def test_fair_shuffle_is_green(playground: OpenPlayground, browser: Browser) -> None:
    game = await add_game(playground)
    page = await open_page(browser, f"{playground.url}g/{game.id}")
    await page.click("#check")
    await expect(page.locator("#verdict.fair")).to_contain_text("✓")
    await expect(page.locator(".shuffle details.fair")).to_have_count(len(game.record.deals))
    await expect(page.locator(".shuffle .unfair")).to_have_count(0)


@pytest.mark.parametrize("fault", ["pack", "commitment", "secret", "dealer"])
async def test_tampered_record_is_red(playground: OpenPlayground, browser: Browser, fault: str) -> None:
    game = await add_game(playground)
    record = json.loads(game.record.to_json())
    deal = record["deals"][0]
    if fault == "pack":
        deal["pack"][3], deal["pack"][17] = deal["pack"][17], deal["pack"][3]
    elif fault == "dealer":
        deal["dealer"] = 1 - deal["dealer"]
    else:
        deal["proof"][fault] = "0" * 64
    page = await open_page(browser, f"{playground.url}g/{game.id}")

    async def answer(route: Route) -> None:
        await route.fulfill(json=record)

    await page.route("**/record", answer)
    await page.click("#check")
    await expect(page.locator("#verdict.unfair")).to_contain_text("✗")
    await expect(page.locator(".shuffle details.unfair")).to_have_count(1)
    if fault == "pack":
        await expect(page.locator(".pack .wrong")).to_have_count(2)


async def test_record_can_be_downloaded(playground: OpenPlayground, browser: Browser) -> None:
    game = await add_game(playground)
    page = await open_page(browser, f"{playground.url}g/{game.id}")
    async with page.expect_download() as download:
        await page.click("a[download]")
    file = await (await download.value).path()
    assert file.read_text() == game.record.to_json()


async def test_link_to_an_unknown_game_says_so(playground: OpenPlayground, browser: Browser) -> None:
    page = await open_page(browser, f"{playground.url}g/AAAAAA-000000", language="it", errors=False)
    await expect(page.locator("main")).to_contain_text("Qui non c’è nessuna partita")


async def test_names_are_escaped_in_the_page(playground: OpenPlayground, browser: Browser) -> None:
    game = finished_game(1, "metamazzo")
    names = ["<img src=x onerror=alert(1)>", "</script><b>Bruno"]
    game = replace(game, record=game.record.model_copy(update={"seats": names}))
    await store_game(playground.worker.store, game)
    page = await open_page(browser, f"{playground.url}g/{game.id}")
    await expect(page.locator(".who").first).to_contain_text("<img src=x")
    assert await page.locator("main img, main b b").count() == 0


@pytest.mark.parametrize("size", ["phone", "desktop"])
@pytest.mark.parametrize("game_id", GAMES)
async def test_replay_fits_the_screen(playground: OpenPlayground, browser: Browser, game_id: str, size: str) -> None:
    game = await add_game(playground, game_id)
    prepare_analysis(playground, game)
    scheme = "dark" if list(GAMES).index(game_id) % 2 else "light"
    language = "it" if list(GAMES).index(game_id) % 3 == 0 else "en"
    options = PHONE if size == "phone" else DESKTOP
    middle = next(index for index, move in enumerate(game.record.deals[0].moves) if move[1].startswith("play ")) + 7
    url = f"{playground.url}g/{game.id}#d1m{middle}"
    page = await open_page(browser, url, language=language, color_scheme=scheme, **options)
    await expect(page.locator("[data-lying]").first).to_be_visible()
    await page.click("#analyse")
    await expect(page.locator(".players li")).to_have_count(len(game.record.seats))
    width = options["viewport"]["width"]
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = [await card.bounding_box() for card in await page.locator(".position svg").all()]
    assert boxes
    assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
    if folder := os.environ.get("BUONGIOCO_SHOTS"):
        await page.evaluate("scrollTo(0, 0)")
        await page.screenshot(path=f"{folder}/replay-{game_id}-{size}.png")
    await page.click("#check")
    await expect(page.locator("#verdict.fair")).to_be_visible()
    # It also fits with large text.
    await page.evaluate("document.documentElement.style.fontSize = '24px'")
    assert await page.evaluate("document.documentElement.scrollWidth") <= width


SCREENS = ((360, 640), (390, 844), (844, 390), (1440, 900))
PLACES = """async (last) => {
  const places = [];
  for (let step = 0; step <= last; step++) {
    location.hash = `#d1m${step}`;
    while (document.querySelector(".moves a[aria-current]")?.hash !== location.hash) await new Promise(requestAnimationFrame);
    places.push([...document.querySelectorAll(".controls :is(input, button)")].map((one) => {
      const { left, top, width, height } = one.getBoundingClientRect();
      return [left, top, width, height].map(Math.round).join(" ");
    }).join(", "));
  }
  return places;
}"""
"""JavaScript that steps through a deal and returns the places of the controls at each step."""


@pytest.mark.parametrize("game_id", ["metamazzo", "pizzichino", "tressette"])
async def test_stepping_does_not_move_the_controls(playground: OpenPlayground, browser: Browser, game_id: str) -> None:
    game = await add_game(playground, game_id)
    prepare_analysis(playground, game)
    page = await open_page(browser, f"{playground.url}g/{game.id}", language="it")
    await page.click("#analyse")
    await expect(page.locator(".players li")).to_have_count(len(game.record.seats))
    for width, height in SCREENS:
        await page.set_viewport_size({"width": width, "height": height})
        await page.evaluate("scrollTo(0, 0)")
        places = await page.evaluate(PLACES, len(game.record.deals[0].moves))
        assert "," in places[0]
        assert len(set(places)) == 1, f"{width} × {height}: {set(places)}"


async def play_as_guest(browser: Browser, site: OpenPlayground, **options: Any) -> Page:
    """Return the page of a guest's game that has just ended."""
    page = await start_game(browser, site, "metamazzo", **options)
    await wait_for_turn(page)
    await page.locator(".fan .tap.playable").first.click()
    await wait_for_turn(page)
    await page.locator(".opens-menu").click()
    await page.locator(".menu .ways .danger").click()
    await page.locator("#table > .buttons:not(.spare) .danger").click()
    await page.locator(".game-end").wait_for()
    await site.worker.wait_until_idle()
    return page


@pytest.mark.parametrize("way", ["arrow", "browser"])
async def test_back_from_a_replay_leads_to_the_result(playground: OpenPlayground, browser: Browser, way: str) -> None:
    page = await play_as_guest(browser, playground)
    result, code = await page.locator(".game-end .result").inner_text(), page.url.rpartition("/")[2].partition("?")[0]
    with pytest.raises(NoSuchTable):
        await playground.worker.room.table(code)
    await page.get_by_role("link", name="Replay").click()
    await page.get_by_role("button", name="Next move").click()
    await wait_for_hash(page, "#d1m1")
    if way == "arrow":
        await page.get_by_role("link", name="Back").click()
    else:
        await page.go_back()
    await expect(page.locator(".game-end .result")).to_have_text(result, use_inner_text=True)
    await expect(page.get_by_role("link", name="Analysis")).to_be_visible()
    await page.get_by_role("button", name="Rematch").click()
    await page.wait_for_url(lambda url: "/t/" in url and code not in url)
    await expect(page.locator(".fan .tap").first).to_be_visible()


async def test_end_of_a_game_elsewhere_leads_to_the_replay(playground: OpenPlayground, browser: Browser) -> None:
    page = await play_as_guest(browser, playground)
    other = await page.context.new_page()
    await other.goto(page.url)
    await other.wait_for_url("**/g/*")


async def test_reader_of_a_replay_is_called_you(playground: OpenPlayground, browser: Browser) -> None:
    page = await play_as_guest(browser, playground)
    await page.get_by_role("link", name="Replay").click()
    await expect(page.locator(".who bdi")).to_have_text(["you", re.compile("🤖")])
    await expect(page.locator(".lines span")).to_have_text(["you", re.compile("🤖")])
    await expect(page.locator("#who option").nth(2)).to_have_text("you")
    own_moves = page.locator(".moves a", has_text="(you) plays")
    await expect(own_moves.first).to_have_text(re.compile(r"^Guest \d+ \(you\) plays "))
    stranger = await open_page(browser, page.url)
    await expect(stranger.locator(".who bdi")).to_have_text([re.compile(r"^Guest \d+$"), re.compile("🤖")])
