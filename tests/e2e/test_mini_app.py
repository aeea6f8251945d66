"""The Mini App in Chromium, opened as Telegram opens it."""

import json
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.async_api import Browser

from bot.store import EmbeddedStore, open_store
from tests.browser import ONE_BROWSER
from tests.telegram.players import ObservedTelegram, seat_people, until
from tests.telegram.server import TelegramServer
from tests.telegram.test_mini_app import anna_launch, with_pages

pytestmark = ONE_BROWSER

PROXY = "window.events = []; window.TelegramWebviewProxy = {postEvent: (type, data) => events.push([type, data])};"


async def test_card_played_in_the_app_is_played_in_the_chat(tmp_path: Path, browser: Browser) -> None:
    server = TelegramServer()
    await server.start()
    valkey = EmbeddedStore(tmp_path)
    await valkey.start()
    try:
        async with open_store(valkey.url) as store, with_pages(store, server) as (adapter, site):
            await _play_in_app(server, adapter, site.port, browser)
    finally:
        await valkey.stop()
        await server.stop()


async def _play_in_app(server: TelegramServer, adapter: ObservedTelegram, port: int, browser: Browser) -> None:
    players = await seat_people(server, "metamazzo")
    [table] = await adapter.worker.room.lists.tables_of("telegram:1")
    code, seat = table.code, table.game.turn if table.game else None
    assert seat is not None
    context = await browser.new_context(viewport={"width": 360, "height": 640}, color_scheme="light", has_touch=True)
    page = await context.new_page()
    await page.add_init_script(PROXY)
    theme = quote(json.dumps({"bg_color": "#17212b"}))
    launch = f"tgWebAppData={quote(anna_launch(time.time(), players[seat].number))}&tgWebAppVersion=9.0&tgWebAppThemeParams={theme}"
    await page.goto(f"http://127.0.0.1:{port}/app/telegram?t={code}#{launch}")
    card = page.locator(".fan .tap.playable").first
    await card.wait_for(timeout=30_000)
    assert page.url == f"http://127.0.0.1:{port}/t/{code}"
    assert await page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--back')") == "#101714", (
        "the page must be dark like the app"
    )
    played = str(await card.get_attribute("data-card"))
    await card.tap()

    def is_played() -> bool:
        current = adapter.worker.room.cached_table(code)
        return bool(current and current.game and any(played in move for _, move, *_ in current.game.history(0)))

    await until(is_played)
    events = [kind for kind, _data in await page.evaluate("events")]
    assert events[:3] == ["web_app_ready", "web_app_expand", "web_app_setup_swipe_behavior"]
    assert "web_app_trigger_haptic_feedback" in events
    # Telegram switches to its light theme while the page is open.
    await page.evaluate("Telegram.WebView.receiveEvent('theme_changed', {theme_params: {bg_color: '#ffffff'}})")
    assert await page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--back')") == "#eef1ee"
    await page.goto(f"http://127.0.0.1:{port}/")
    assert "You play here as" in await page.inner_text("main") or "Qui giochi come" in await page.inner_text("main")


@pytest.mark.long
async def test_page_outside_the_app_says_where_to_open_it(tmp_path: Path, browser: Browser) -> None:
    server = TelegramServer()
    await server.start()
    valkey = EmbeddedStore(tmp_path)
    await valkey.start()
    try:
        async with open_store(valkey.url) as store, with_pages(store, server) as (_adapter, site):
            page = await (await browser.new_context(locale="en-US")).new_page()
            await page.goto(f"http://127.0.0.1:{site.port}/app/telegram?t=ABCDEF")
            assert "Open this page in the app" in await page.inner_text("main")
            await page.goto("about:blank")
            await page.goto(f"http://127.0.0.1:{site.port}/app/telegram?t=ABCDEF#tgWebAppData=forged&x=1")
            await page.get_by_role("button", name="Open my cards").click()
            await page.wait_for_selector("text=too old or belongs to another bot")
    finally:
        await valkey.stop()
        await server.stop()
