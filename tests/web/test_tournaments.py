"""Tournaments on the pages: who can see them, joining and leaving, and a match to its end."""

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from bot.features.tournaments import keys
from bot.features.tournaments.errors import OthersEntered
from bot.features.tournaments.feature import TournamentsFeature
from bot.features.tournaments.registration import Registration
from bot.features.tournaments.tournament import Form
from bot.tables.game_choice import Choice
from tests.bot.features.tournaments.builder import running_tournament
from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.test_accessibility import LOOKS, check_accessibility
from tests.web.test_table_page import open_page, take_screenshot
from tests.web.test_tables import LiveSocket, Visitor, open_browser

pytestmark = ONE_BROWSER

GROUP, ORGANISER = "playground:100", "playground:1"
KEY = "0123456789abcdef"


def registration(playground: OpenPlayground) -> Registration:
    return playground.worker.feature(TournamentsFeature).registration


async def open_tournament(playground: OpenPlayground, *, is_public: bool = True, form: Form = "knockout") -> str:
    """Open a tournament in a group, and return its code. Its organiser does not play."""
    choice = Choice.default("metamazzo")
    entering = registration(playground)
    opened = await entering.open(GROUP, ORGANISER, "Olga", choice, form, "open")
    if is_public:
        await entering.choose_option(opened.code, ORGANISER, "web", "yes", "web")
    return opened.code


async def join(visitor: Visitor, code: str, name: str) -> None:
    answer = await visitor.post(f"/tournament/{code}", do="join", key=KEY, name=name)
    assert answer.status == 303


async def test_tournament_of_a_closed_group_is_unknown_to_strangers(playground: OpenPlayground) -> None:
    code = await open_tournament(playground, is_public=False)
    async with open_browser(playground) as anna:
        assert (await anna.get(f"/tournament/{code}"))[0] == 404
        assert (await anna.post(f"/tournament/{code}", None, do="join", key=KEY)).status == 404
        assert code not in (await anna.get("/"))[1]
        assert code not in (await anna.get("/tournaments"))[1]
        assert not await playground.worker.store.client.hgetall("web:people")
        # A guest who has entered sees the tournament, but it is on no list.
        await anna.play()
        [person] = [f"web:{id_.decode()}" for id_ in await playground.worker.store.client.hkeys("web:people")]
        await registration(playground).enter(code, person, "Anna", "enter")
        status, page = await anna.get(f"/tournament/{code}")
        assert status == 200
        assert "Only its players and the group" in page
        assert code not in (await anna.get("/tournaments"))[1]


async def test_people_who_entered_are_not_shown_on_the_web(playground: OpenPlayground) -> None:
    code = await open_tournament(playground, is_public=False)
    await registration(playground).enter(code, "playground:2", "Bruno", "enter")
    with pytest.raises(OthersEntered):
        await registration(playground).choose_option(code, ORGANISER, "web", "yes", "web")
    async with open_browser(playground) as anna:
        assert (await anna.get(f"/tournament/{code}"))[0] == 404


async def test_guests_join_and_leave_on_the_page(playground: OpenPlayground) -> None:
    code = await open_tournament(playground)
    async with open_browser(playground) as anna, open_browser(playground) as bruno:
        assert f"/tournament/{code}" in (await anna.get("/"))[1]
        assert "No players yet" in (await anna.get(f"/tournament/{code}"))[1]
        await join(anna, code, "Anna")
        await join(anna, code, "Anna")  # a repeated press changes nothing
        page = (await bruno.get(f"/tournament/{code}"))[1]
        assert page.count("Anna") == 1
        assert 'value="join"' in page
        assert 'value="leave"' in (await anna.get(f"/tournament/{code}"))[1]
        assert (await anna.post(f"/tournament/{code}", do="leave", key=KEY)).status == 303
        assert "No players yet" in (await bruno.get(f"/tournament/{code}"))[1]
        for nonsense in ({}, {"do": "win", "key": KEY}, {"do": "join", "key": KEY, "partner": "x"}):
            assert (await bruno.post(f"/tournament/{code}", None, **nonsense)).status == 403
        assert (await bruno.get("/tournament/QQQQQQ"))[0] == 404


async def play(live: LiveSocket, code: str, cards: int, *, resigns: bool) -> None:
    """Play some cards, then resign or wait until the game is over."""
    play_count = 0
    while True:
        table: dict[str, Any] = await live.receive("table")
        if table["phase"] == "over":
            return
        if not table["is_mine"] or not (presses := [card["press"] for card in table["hand"] if card["press"]]):
            continue
        payload = presses[0]
        if play_count >= cards:
            if not resigns:
                continue
            payload = f"1m{code}:{table['version']}:resign"
        await live.press(payload, f"{table['version']:04x}")
        play_count += 1


@pytest.mark.long
async def test_match_of_guests_is_played_to_its_end(playground: OpenPlayground) -> None:
    code = await open_tournament(playground)
    async with open_browser(playground) as anna, open_browser(playground) as bruno, open_browser(playground) as watcher:
        await join(anna, code, "Anna")
        await join(bruno, code, "Bruno")
        await registration(playground).start(code, ORGANISER, "start")
        while not (
            link := re.search(r'class="button main" href="/t/(\w+)"', (await anna.get(f"/tournament/{code}"))[1])
        ):
            await asyncio.sleep(0.1)
        table = link[1]
        page = (await watcher.get(f"/tournament/live/{code}"))[1]
        assert f'href="/t/{table}"' not in page
        [watch_id] = re.findall(rf'href="/t/({table}-\w+)"', page)
        assert (await watcher.get(f"/t/{watch_id}"))[0] == 200
        async with anna.connect(table) as first_page, bruno.connect(table) as second_page:
            # Neither plays on without the other, so both have played before Bruno resigns.
            await asyncio.gather(play(first_page, table, 10, resigns=False), play(second_page, table, 3, resigns=True))
        while "has won!" not in (page := (await watcher.get(f"/tournament/{code}"))[1]):
            await asyncio.sleep(0.1)
        assert "Standings" in page
        assert "Rounds won" in page
        [replay] = re.findall(r'href="/g/([^"]+)"', page)
        assert (await watcher.get(f"/g/{replay}"))[0] == 200
        assert code not in (await watcher.get("/tournaments"))[1]


@pytest.mark.long
@pytest.mark.parametrize("screen", [(360, 640), (390, 844), (844, 390), (768, 1024), (1440, 900)])
@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_page_of_a_running_tournament_fits_and_is_accessible(
    playground: OpenPlayground, browser: Browser, theme: str, screen: tuple[int, int]
) -> None:
    tournament = running_tournament("swiss", 12, web="yes")
    await playground.worker.store.client.rpush(keys.log(tournament.code), *tournament.entries)
    viewport = dict(zip(("width", "height"), screen, strict=True))
    for locale in ("en-GB", "it-IT"):
        page = await open_page(
            browser,
            f"{playground.url}tournament/{tournament.code}",
            viewport=viewport,
            color_scheme=theme,
            locale=locale,
        )
        await expect(page.locator(".matches li")).to_have_count(6)
        await expect(page.locator("tbody tr")).to_have_count(12)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await check_accessibility(page)
        await take_screenshot(page, f"tournament-{theme}-{screen[0]}-{locale}")


@pytest.mark.long
async def test_page_of_a_vanished_tournament_stops_polling(playground: OpenPlayground, browser: Browser) -> None:
    code = await open_tournament(playground)
    # Not `open_page`, which fails on the 404 that this test is about.
    page = await (await browser.new_context(locale="en-GB")).new_page()
    await page.goto(f"{playground.url}tournament/{code}")
    await playground.worker.store.client.delete(keys.log(code))
    await expect(page.locator("body")).to_contain_text("no such tournament", timeout=15_000)
    await expect(page.locator("#live")).to_have_count(0)


@pytest.mark.long
@pytest.mark.parametrize("theme", LOOKS)
async def test_open_tournament_is_joined_and_followed_without_reload(
    playground: OpenPlayground, browser: Browser, theme: str
) -> None:
    code = await open_tournament(playground)
    page = await open_page(browser, playground.url, **LOOKS[theme], color_scheme=theme)
    await page.get_by_role("link", name="Knock-out").click()
    await expect(page.get_by_text("No players yet")).to_be_visible()
    await check_accessibility(page)
    await page.fill("[name=name]", "Anna")
    await page.get_by_role("button", name="Join").click()
    await expect(page.locator(".players")).to_contain_text("Anna")
    await check_accessibility(page)
    await page.evaluate("window.isSame = true")
    await registration(playground).enter(code, "playground:2", "Bruno", "enter")
    await expect(page.locator(".players")).to_contain_text("Bruno")
    assert await page.evaluate("window.isSame")
    await take_screenshot(page, f"tournament-open-{theme}")
    await registration(playground).start(code, ORGANISER, "start")
    await page.get_by_role("link", name="Play your match").click()
    await page.wait_for_selector(".felt")
