"""Browsers that block cookies, storage or JavaScript: each page works without them or names the missing feature."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, expect

from tests.browser import FLAGS, ONE_BROWSER, chromium
from tests.open_playground import OpenPlayground
from tests.web.test_api import open_table
from tests.web.test_replay import add_game
from tests.web.test_sessions import ANNA, Chat, link_address
from tests.web.test_table_page import PHONE, open_page, take_screenshot

pytestmark = ONE_BROWSER

COOKIE_NOTICE = "Your browser blocks cookies"


@pytest_asyncio.fixture(loop_scope="session")
async def blocking_browser(browser: Browser, tmp_path: Path) -> AsyncIterator[BrowserContext]:
    """A browser set to block all cookies, which blocks its storage too."""
    profile = tmp_path / "profile"
    (profile / "Default").mkdir(parents=True)
    settings = {"profile": {"default_content_setting_values": {"cookies": 2}}}
    (profile / "Default" / "Preferences").write_text(json.dumps(settings))
    context = await browser.browser_type.launch_persistent_context(
        profile, executable_path=chromium(), args=FLAGS, locale="en-GB", viewport={"width": 360, "height": 640}
    )
    yield context
    await context.close()


async def visit(context: BrowserContext, url: str) -> Page:
    page = await context.new_page()
    page.on("pageerror", lambda error: pytest.fail(f"the page failed: {error}"))
    await page.goto(url)
    return page


async def open_invitation(playground: OpenPlayground, browser: Browser) -> str:
    """Open a table that waits for a friend, and return its address."""
    page = await open_page(browser, playground.url)
    await page.get_by_role("button", name="Play with a friend").click()
    return await page.locator(".link input").input_value()


@pytest.mark.long
async def test_blocked_cookies_are_reported_before_opening_a_table(
    playground: OpenPlayground, browser: Browser, blocking_browser: BrowserContext
) -> None:
    buttons = {"": "Play now", "daily": "Play", "settings": "Save", "t": "Sit down"}
    for path, button in buttons.items():
        url = await open_invitation(playground, browser) if path == "t" else playground.url + path
        page = await visit(blocking_browser, url)
        before = page.url
        await page.get_by_role("button", name=button, exact=True).click()
        await expect(page.get_by_role("alert")).to_contain_text(COOKIE_NOTICE)
        await take_screenshot(page, f"blocked-{path or 'home'}")
        assert page.url == before
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page = await visit(blocking_browser, f"{playground.url}puzzle")
    await page.locator(".fan .tap:enabled").first.click()
    await expect(page.get_by_role("alert")).to_contain_text(COOKIE_NOTICE)


@pytest.mark.long
async def test_pages_without_forms_work_with_blocked_storage(
    playground: OpenPlayground, blocking_browser: BrowserContext
) -> None:
    game = await add_game(playground)
    _code, watch_id = await open_table(playground)
    for path in (f"g/{game.id}", f"t/{watch_id}"):
        page = await visit(blocking_browser, playground.url + path)
        await expect(page.locator(".position")).to_be_visible()
    page = await visit(blocking_browser, playground.chat_url)
    await page.locator("#begin").click()
    await expect(page.locator("#messages .own")).to_have_count(1)
    await take_screenshot(page, "blocked-chat")


@pytest.fixture
async def cookieless() -> AsyncIterator[aiohttp.ClientSession]:
    """A browser that keeps no cookies and runs no script to report it."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield session


@pytest.mark.asyncio(loop_scope="function")
async def test_every_form_reports_a_lost_cookie(site: OpenPlayground, cookieless: aiohttp.ClientSession) -> None:
    origin = {"Origin": site.url.rstrip("/")}
    friend = await site.worker.challenges.open_table("testa", "paper:1", "Anna", "invites")
    async with cookieless.get(f"{site.url}puzzle") as answer:
        puzzle = await answer.text()
    [id_] = re.findall('name="id" value="([^"]*)"', puzzle)
    card = re.findall('name="card" value="([^"]*)" aria-label="[^"]*">', puzzle)[0]
    chat = Chat(site, ANNA)
    code = await chat.practice()
    key = link_address(await chat.press(f"1t{code}:browser")).partition("#key=")[2]
    forms = {
        "play": {"game": "testa", "robot": "easy", "key": "0123456789abcdef"},
        "daily": {},
        f"t/{friend.code}": {"name": "Bruno"},
        "puzzle": {"id": id_, "card": card},
        "in": {"key": key, "t": code},
    }
    for path, fields in forms.items():
        async with cookieless.post(site.url + path, data=fields, headers=origin) as answer:
            assert answer.status == 200, path
            assert answer.url.path == "/cookies", path
            assert COOKIE_NOTICE in await answer.text(), path


@pytest.mark.asyncio(loop_scope="function")
async def test_redirects_lead_only_to_our_own_addresses(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    for address in ("//example.com", "https://example.com", "/\\example.com", "", "t/ABCDEF", "/t/A\r\nB"):
        async with session.get(f"{site.url}cookies", params={"to": address}, allow_redirects=False) as answer:
            assert answer.status == 403, address


PAGES = ["", "chat", "daily", "puzzle", "learn", "learn/spades", "leaderboard", "rules", "rules/testa", "in"]
NEED_JAVASCRIPT = {"", "chat", "daily", "in"}


@pytest.mark.long
async def test_pages_say_that_they_need_javascript(playground: OpenPlayground, browser: Browser) -> None:
    game = await add_game(playground)
    _code, watch_id = await open_table(playground)
    context = await browser.new_context(java_script_enabled=False, locale="en-GB", **PHONE)  # type: ignore[arg-type]
    page = await context.new_page()
    for path in [*PAGES, f"g/{game.id}", f"t/{watch_id}"]:
        await page.goto(playground.url + path)
        text = await page.inner_text("body")
        assert text.strip(), path
        assert ("JavaScript" in text) == (path not in PAGES or path in NEED_JAVASCRIPT), path
    await page.goto(await open_invitation(playground, browser))
    assert "Tables need JavaScript" in await page.inner_text("body")
    await page.goto(playground.url)
    await page.get_by_role("button", name="Play now").click()
    await page.wait_for_url("**/t/*")
    # Playwright's locators ignore noscript elements.
    assert "This page needs JavaScript: turn it on for this site." in await page.inner_text("body")
    await take_screenshot(page, "no-javascript")
    await page.goto(f"{playground.url}settings")
    await expect(page.get_by_role("button", name="Save")).to_be_visible()
