"""The Mini App in Chromium: opened as an app for phones opens it, and in the frame of Telegram's web app."""

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from playwright.async_api import Browser, Frame, Page, expect

from adapters.web.site import Site
from bot.store import EmbeddedStore, open_store
from tests.browser import ONE_BROWSER, PHONE, launch_browser
from tests.e2e.app_proxy import AppProxy
from tests.telegram.players import ObservedTelegram, seat_people, until
from tests.telegram.server import TOKEN, TelegramServer
from tests.telegram.test_mini_app import PUBLIC, anna_launch, sign_launch, with_pages

pytestmark = ONE_BROWSER

# On this phone the camera and Telegram's own buttons cover the upper edge, and a bar of the system the lower one.
EDGES, CONTROLS = {"top": 59, "right": 0, "bottom": 34, "left": 0}, {"top": 46, "right": 0, "bottom": 0, "left": 0}

# Telegram's web page. It answers as core.telegram.org/api/web-events describes, here like an app for phones.
CLIENT = f"""
<!doctype html><style>body {{ margin: 0 }} iframe {{ display: block; border: 0; width: 100vw; height: 100vh }}</style>
<iframe></iframe>
<script>
const events = [], APP = "https://cards.example.org", frame = document.querySelector("iframe");
const emit = (eventType, eventData) => frame.contentWindow.postMessage(JSON.stringify({{ eventType, eventData }}), APP);
let isFull = false;
const answers = {{
  web_app_request_theme: () => emit("theme_changed", {{ theme_params: {{ bg_color: "#17212b" }} }}),
  web_app_request_safe_area: () => emit("safe_area_changed", isFull ? {json.dumps(EDGES)} : {{}}),
  web_app_request_content_safe_area: () => emit("content_safe_area_changed", isFull ? {json.dumps(CONTROLS)} : {{}}),
  web_app_request_fullscreen: () => {{
    isFull = true;
    emit("fullscreen_changed", {{ is_fullscreen: true }});
    answers.web_app_request_safe_area();
    answers.web_app_request_content_safe_area();
  }},
  web_app_check_home_screen: () => emit("home_screen_checked", {{ status: "missed" }}),
  web_app_add_to_home_screen: () => emit("home_screen_added", null),
  web_app_send_prepared_message: () => emit("prepared_message_sent", null),
}};
addEventListener("message", ({{ origin, source, data }}) => {{
  if (origin !== APP || source !== frame.contentWindow) return;
  const {{ eventType, eventData }} = JSON.parse(data);
  events.push([eventType, eventData]);
  answers[eventType]?.();
}});
frame.src = `${{APP}}/app/telegram${{location.hash}}`;
</script>
"""

Launch = Callable[..., Awaitable[Frame]]

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
    launch = f"tgWebAppData={quote(anna_launch(time.time(), players[seat].number))}&tgWebAppVersion=9.0&tgWebAppThemeParams={theme}&tgWebAppPlatform=android"
    await page.goto(f"http://127.0.0.1:{port}/app/telegram?t={code}#{launch}")
    card = page.locator(".fan .tap.playable").first
    await card.wait_for(timeout=30_000)
    assert page.url == f"http://127.0.0.1:{port}/t/{code}"
    assert await page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--back')") == "#101714", (
        "the page must be dark like the app"
    )
    played_card = str(await card.get_attribute("data-card"))
    await card.tap()

    def is_played() -> bool:
        current = adapter.worker.room.cached_table(code)
        return bool(current and current.game and any(played_card in move for _, move, *_ in current.game.history(0)))

    await until(is_played)
    events = [kind for kind, _data in await page.evaluate("events")]
    assert events[:3] == ["web_app_ready", "web_app_expand", "web_app_setup_swipe_behavior"]
    assert "web_app_trigger_haptic_feedback" in events
    # Telegram switches to its light theme while the page is open.
    await page.evaluate("Telegram.WebView.receiveEvent('theme_changed', {theme_params: {bg_color: '#ffffff'}})")
    assert await page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--back')") == "#eef1ee"
    await _end_game(page, adapter, code, players[seat].number)
    await page.goto(f"http://127.0.0.1:{port}/")
    assert "You play here as" in await page.inner_text("main") or "Qui giochi come" in await page.inner_text("main")


async def _end_game(page: Page, adapter: ObservedTelegram, code: str, number: int) -> None:
    """Lose a game. The app offers a shortcut on the home screen, but only once."""
    table = await adapter.worker.room.table(code)
    await adapter.worker.room.make_move(code, f"telegram:{number}", table.version, "resign", "r")
    await page.locator(".game-end").wait_for()
    checks = "() => events.some(([type]) => type === 'web_app_check_home_screen')"
    await page.wait_for_function(checks)
    await page.evaluate("TelegramGameProxy.receiveEvent('home_screen_checked', {status: 'added'})")
    await expect(page.locator(".home-screen")).to_have_count(0)
    await page.evaluate("TelegramGameProxy.receiveEvent('home_screen_checked', {status: 'missed'})")
    await page.locator(".home-screen [data-add]").tap()
    await expect(page.locator(".home-screen")).to_have_count(0)
    assert "web_app_add_to_home_screen" in [kind for kind, _data in await page.evaluate("events")]
    await page.reload()
    await page.locator(".game-end").wait_for()
    assert "web_app_check_home_screen" not in [kind for kind, _data in await page.evaluate("events")]


@asynccontextmanager
async def in_telegram(folder: Path, site: Site) -> AsyncIterator[tuple[Page, Launch]]:
    """Open Telegram on a phone; yield its page and a function that launches the Mini App in its frame."""
    async with AppProxy(site.port, "web.telegram.org", CLIENT).serve(folder) as port:
        names = ",".join(f"MAP {name} 127.0.0.1:{port}" for name in ("web.telegram.org", "cards.example.org"))
        async with launch_browser("--ignore-certificate-errors", f"--host-resolver-rules={names}") as browser:
            options: Any = {"viewport": PHONE, "has_touch": True, "ignore_https_errors": True}
            context = await browser.new_context(**options)
            page = await context.new_page()

            async def launch(number: int, start: str = "", version: str = "9.0") -> Frame:
                fields: dict[str, object] = {"start_param": start} if start else {}
                user = {"id": number, "first_name": "Anna", "language_code": "en"}
                parameters = {
                    "tgWebAppData": sign_launch(TOKEN, user=user, auth_date=int(time.time()), **fields),
                    "tgWebAppVersion": version,
                    "tgWebAppPlatform": "ios",
                    "tgWebAppThemeParams": json.dumps({"bg_color": "#17212b"}),
                }
                await page.goto("about:blank")
                await page.goto(f"https://web.telegram.org/a/#{urlencode(parameters)}")
                [frame] = [part for part in page.frames if part != page.main_frame]
                return frame

            yield page, launch


class TelegramPage:
    """What the Mini App has sent to Telegram's page."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def events(self, kind: str) -> list[Any]:
        """Return the data of the events of a kind."""
        return [data for name, data in await self.page.evaluate("events") if name == f"web_app_{kind}"]

    async def wait_for(self, kind: str, data: str = "") -> None:
        """Wait until the last event of a kind contains ``data``, as JSON."""
        await self.page.wait_for_function(
            "([kind, data]) => JSON.stringify(events.findLast(([name]) => name === `web_app_${kind}`))?.includes(data)",
            arg=[kind, data],
        )

    async def go_back(self) -> None:
        await self.page.evaluate("emit('back_button_pressed', null)")


@pytest.mark.long
async def test_app_fits_into_telegram(tmp_path: Path) -> None:
    server = TelegramServer()
    server.apps.has_main = True
    await server.start()
    valkey = EmbeddedStore(tmp_path)
    await valkey.start()
    try:
        async with (
            open_store(valkey.url) as store,
            with_pages(store, server, public_url=PUBLIC) as (adapter, site),
            in_telegram(tmp_path, site) as (page, launch),
        ):
            await _play_in_telegram(page, launch, server, adapter, tmp_path)
            await _open_links(page, launch)
    finally:
        await valkey.stop()
        await server.stop()


async def _play_in_telegram(
    page: Page, launch: Launch, server: TelegramServer, adapter: ObservedTelegram, pictures: Path
) -> None:
    telegram, players = TelegramPage(page), await seat_people(server, "metamazzo")
    [table] = await adapter.worker.room.lists.tables_of("telegram:1")
    code, seat = table.code, table.game.turn if table.game else None
    assert seat is not None
    # A link to the table shows the hand that the person has in the chat, on the whole screen.
    frame = await launch(players[seat].number, f"t_{code}")
    card = frame.locator(".fan .tap.playable").first
    await card.wait_for()
    assert frame.url == f"{PUBLIC}/t/{code}"
    covered = f"{EDGES['top'] + CONTROLS['top']}px"
    await expect(frame.locator("html")).to_have_css("--safe-top", covered)
    assert await frame.evaluate("document.documentElement.style.colorScheme") == "dark"
    assert await frame.evaluate("document.scrollingElement.scrollHeight <= innerHeight"), "the table must not scroll"
    bar, fan = await frame.locator(".bar").bounding_box(), await frame.locator(".fan").bounding_box()
    assert bar
    assert fan
    assert bar["y"] >= EDGES["top"] + CONTROLS["top"]
    assert fan["y"] + fan["height"] <= PHONE["height"] - EDGES["bottom"]
    await page.screenshot(path=pictures / "table.png")
    # Telegram asks before it closes the app during a turn.
    await telegram.wait_for("setup_closing_behavior", "true")
    await card.tap()
    await telegram.wait_for("setup_closing_behavior", "false")
    assert {"type": "impact", "impact_style": "light"} in await telegram.events("trigger_haptic_feedback")
    # Telegram's arrow closes the menu first.
    await frame.locator(".opens-menu").tap()
    await frame.locator("dialog[open]").wait_for()
    await page.screenshot(path=pictures / "menu.png")
    await telegram.go_back()
    await expect(frame.locator("dialog[open]")).to_have_count(0)
    # The result of a game goes to a chat.
    table = await adapter.worker.room.table(code)
    await adapter.worker.room.make_move(code, f"telegram:{players[seat].number}", table.version, "resign", "r")
    await frame.get_by_role("button", name="Share", exact=True).tap()
    await telegram.wait_for("send_prepared_message")
    [sent] = await telegram.events("send_prepared_message")
    message = server.apps.prepared[sent["id"]].message
    [[button]] = message["reply_markup"]["inline_keyboard"]
    assert button["url"].startswith(f"https://t.me/buongioco_bot?startapp=g_{code}-")
    assert "https://" not in message["text"]
    await page.screenshot(path=pictures / "end.png")
    # From the end, Telegram's arrow leads to the first page.
    assert (await telegram.events("setup_back_button"))[-1] == {"is_visible": True}
    await telegram.go_back()
    await telegram.wait_for("setup_back_button", "false")
    heading = await frame.locator("h1").bounding_box()
    assert heading
    assert heading["y"] >= EDGES["top"] + CONTROLS["top"]
    await page.screenshot(path=pictures / "home.png")
    assert len(await telegram.events("request_fullscreen")) == 1


async def _open_links(page: Page, launch: Launch) -> None:
    """Open links in an app that is too old for most events."""
    for start, path in (("daily", "/daily"), ("puzzle", "/puzzle"), ("nonsense", "/?unknown")):
        frame = await launch(1, start, version="6.0")
        await frame.wait_for_url(f"{PUBLIC}{path}")
        await frame.locator("main").wait_for()
        sent = {name for name, _data in await page.evaluate("events")}
        assert sent <= {"web_app_ready", "web_app_expand", "web_app_request_theme"}
    await expect(frame.get_by_role("alert")).to_have_text("This link leads nowhere: choose here what to play.")


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
