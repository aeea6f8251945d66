"""A bot that does not answer: the page says so, and a press counts once after the bot is back."""

import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from bot.handlers import Dispatcher
from bot.platform import Press, Reply
from tests.browser import ONE_BROWSER
from tests.kills.bot_process import Bot
from tests.open_playground import OpenPlayground
from tests.web.test_api import open_table
from tests.web.test_table_page import PHONE, open_page, start_game, take_screenshot, wait_for_turn

pytestmark = ONE_BROWSER


@pytest_asyncio.fixture(loop_scope="session")
async def bot(tmp_path: Path) -> AsyncIterator[Bot]:
    """A bot in a separate process, which can be frozen."""
    running = Bot(tmp_path)
    await running.start()
    try:
        async with aiohttp.ClientSession() as session:
            await running.wait_until_healthy(session)
        yield running
    finally:
        await running.kill()


@contextmanager
def freeze(bot: Bot) -> Iterator[None]:
    """Stop the bot's process, which looks like a swapping machine or a network that drops everything."""
    assert bot.process
    os.kill(bot.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(bot.process.pid, signal.SIGCONT)


def record_presses(page: Page) -> list[dict[str, str]]:
    """Return a list that collects every press the page sends from now on, including repeats."""
    sent: list[dict[str, str]] = []

    def record(text: str | bytes) -> None:
        message = json.loads(text)
        if "press" in message:
            sent.append(message)

    page.on("websocket", lambda line: line.on("framesent", record))
    return sent


@pytest.mark.long
async def test_press_during_a_freeze_is_shown_unsent_and_counts_once(bot: Bot, browser: Browser) -> None:
    page = await open_page(browser, bot.url, **PHONE)
    sent = record_presses(page)
    await page.check("[name=game][value=metamazzo]")
    await page.get_by_role("button", name="Play now").click()
    await page.wait_for_selector(".felt")
    await wait_for_turn(page)
    card = page.locator(".fan .tap.playable").first
    name = await card.get_attribute("data-card")
    with freeze(bot):
        await card.click()
        status = page.locator(".away")
        # A slow page can notice the dead connection first, so this text can have a second part.
        await expect(status).to_contain_text("Not sent yet…")
        await take_screenshot(page, "unsent")
        await expect(status).to_have_text("Not sent yet… Connecting…")
        await take_screenshot(page, "unsent-away")
    await expect(status).to_have_count(0)
    await wait_for_turn(page)
    assert len(sent) > 1
    assert len({press["n"] for press in sent}) == 1
    # The card was played once, and nothing was refused.
    await expect(page.locator(f".fan [data-card='{name}']")).to_have_count(0)
    await expect(page.locator(".fan .tap")).to_have_count(10)
    await expect(page.locator(".toast")).to_be_hidden()


@pytest.mark.long
async def test_press_that_a_busy_bot_refuses_is_sent_again(
    playground: OpenPlayground, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await start_game(browser, playground, "metamazzo")
    await wait_for_turn(page)
    tries, handle_press = 0, Dispatcher.handle_press

    async def refuse_twice(dispatcher: Dispatcher, press: Press) -> Reply:
        nonlocal tries
        tries += 1
        return Reply(toast="Too fast", is_temporary=True) if tries < 3 else await handle_press(dispatcher, press)

    monkeypatch.setattr(Dispatcher, "handle_press", refuse_twice)
    sent = record_presses(page)
    card = page.locator(".fan .tap.playable").first
    name = await card.get_attribute("data-card")
    await page.reload()
    await wait_for_turn(page)
    await card.click()
    await expect(page.locator(".last")).to_be_visible()
    await expect(page.locator(f".fan [data-card='{name}']")).to_have_count(0)
    await expect(page.locator(".toast")).to_be_hidden()
    assert len({press["n"] for press in sent}) == 1
    assert tries == 3


@pytest.mark.long
async def test_press_that_a_bot_always_refuses_says_why(
    playground: OpenPlayground, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await start_game(browser, playground, "metamazzo")
    await wait_for_turn(page)

    async def refuse(_dispatcher: Dispatcher, _press: Press) -> Reply:
        return Reply(toast="Too fast", is_temporary=True)

    monkeypatch.setattr(Dispatcher, "handle_press", refuse)
    await page.locator(".fan .tap.playable").first.click()
    await expect(page.locator(".toast")).to_have_text("Too fast")
    await expect(page.locator(".fan .tap")).to_have_count(10)
    await expect(page.locator(".away")).to_have_count(0)


async def test_page_notices_a_frozen_bot_without_a_press(bot: Bot, browser: Browser) -> None:
    page = await open_page(browser, bot.url, **PHONE)
    await page.get_by_role("button", name="Play now").click()
    await page.wait_for_selector(".felt")
    with freeze(bot):
        await expect(page.locator(".away")).to_have_text("Connecting…")
    await expect(page.locator(".away")).to_have_count(0)
    await wait_for_turn(page)


@pytest.mark.long
async def test_cut_made_while_the_bot_is_down_counts_once(bot: Bot, browser: Browser) -> None:
    # Without `fail_on_page_errors`: the console says that the bot is down.
    anna, bruno = [await (await browser.new_context(locale="en-GB")).new_page() for _ in range(2)]
    await anna.goto(bot.url)
    await anna.get_by_role("button", name="Play with a friend").click()
    await bruno.goto(await anna.locator(".link input").input_value())
    await bruno.get_by_role("button", name="Sit down").click()
    seal = await bruno.locator(".cut code").text_content()
    assert seal
    await bot.kill()
    bot.kill_store()
    await bot.start()
    for page in (anna, bruno):
        await expect(page.locator(".away")).to_have_count(0, timeout=90_000)
        await expect(page.locator(".cut code")).to_have_text(seal)
    [cutter] = [page for page in (anna, bruno) if await page.locator(".cut button").count()]
    await bot.kill()
    await cutter.locator(".cut button").click()
    await expect(cutter.locator(".away")).to_contain_text("Not sent yet…")
    await bot.start()
    for page in (anna, bruno):
        await page.wait_for_selector(".fan", timeout=90_000)
    [[known_seal, _cut]] = json.loads(await cutter.evaluate("localStorage.getItem('cuts')"))
    assert known_seal == seal
    await cutter.locator(".opens-menu").click()
    await cutter.locator(".menu .danger").click()
    await cutter.get_by_role("button", name="Yes, I resign").last.click()
    await cutter.get_by_role("link", name="Replay").click()
    await cutter.click("#check")
    await expect(cutter.locator("#verdict.fair")).to_be_visible()
    await expect(cutter.locator(".shuffle li").nth(1)).to_have_text("✓ The cut is the one that this browser made.")


@pytest.mark.long
async def test_chat_notices_a_frozen_bot(bot: Bot, browser: Browser) -> None:
    page = await open_page(browser, f"{bot.url}/chat", **PHONE)
    await expect(page.locator("#begin")).to_be_enabled()
    with freeze(bot):
        await page.locator("#begin").click()
        await expect(page.locator("#offline")).to_have_text("Not sent yet… Connecting…")
    await expect(page.locator("#offline")).to_be_hidden()
    await expect(page.locator("#messages .own")).to_have_count(1)


@pytest.mark.long
async def test_chat_cannot_write_before_the_bot_answers(playground: OpenPlayground, browser: Browser) -> None:
    page = await (await browser.new_context()).new_page()
    await page.route_web_socket("**/ws*", lambda _socket: None)  # opens, and says nothing
    await page.goto(playground.chat_url)
    await expect(page.locator("#offline")).to_be_hidden()
    await expect(page.locator("#begin")).to_be_disabled()
    await page.locator("#text").fill("/help")
    await page.locator("#text").press("Enter")
    await expect(page.locator("#text")).to_have_value("/help")


@pytest.mark.long
async def test_silent_stream_is_reopened(playground: OpenPlayground, browser: Browser) -> None:
    _code, watch_id = await open_table(playground)
    page = await open_page(browser, playground.url, **PHONE)
    await page.clock.install()
    # This request gets no answer, as on a dead network.
    await page.route("**/stream", lambda _route: None)
    await page.goto(f"{playground.url}t/{watch_id}")
    await expect(page.locator(".position")).to_be_visible()
    async with page.expect_request("**/stream"):
        while not await page.locator(".away").count():
            await page.clock.fast_forward(10_000)
    await page.unroute("**/stream")
    await page.clock.fast_forward(10_000)
    await expect(page.locator(".away")).to_have_count(0)
