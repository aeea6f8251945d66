"""The playground's page for a new player."""

import asyncio

import pytest
from playwright.async_api import Browser, WebSocketRoute, expect

from tests.browser import ONE_BROWSER, launch_browser
from tests.e2e.test_browser import Tab
from tests.e2e.test_links import open_page, take_screenshot
from tests.long import long
from tests.open_playground import OpenPlayground

pytestmark = ONE_BROWSER


@pytest.mark.long
async def test_command_list_stays_open_after_the_field_loses_focus(
    playground: OpenPlayground, browser: Browser
) -> None:
    page = await open_page(browser, playground.chat_url)
    await page.click("#text")
    await page.click("#slash")
    await expect(page.locator("#completions li").first).to_be_visible()
    # If the list closed without the focus, it would be closed by the end of this wait.
    await page.wait_for_timeout(400)
    await expect(page.locator("#completions li", has_text="/challenge")).to_be_visible()
    await take_screenshot(page, "slash")


@pytest.mark.long
async def test_commands_typed_before_the_list_loads_are_completed(playground: OpenPlayground, browser: Browser) -> None:
    def delay(socket: WebSocketRoute) -> None:
        call_later = asyncio.get_running_loop().call_later
        socket.connect_to_server().on_message(lambda text: call_later(1.0, socket.send, text))

    page = await open_page(browser, playground.chat_url)
    await page.route_web_socket("**/ws*", delay)
    await page.reload()
    await page.click("#text")
    await page.click("#slash")
    await expect(page.locator("#completions li", has_text="/challenge")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize(
    ("locale", "greeting", "closed", "notice"),
    [
        long("en-GB", "Write /challenge to play", "block the bot", "Private chat closed"),
        ("it-IT", "Scrivi /sfida per giocare", "blocca il bot", "Chat privata chiusa"),
    ],
)
async def test_empty_chat_and_checkbox_explain_themselves(
    playground: OpenPlayground, locale: str, greeting: str, closed: str, notice: str
) -> None:
    # Chromium 150 ignores the context's locale for WebSockets and sends its own language.
    async with launch_browser(f"--accept-lang={locale}") as browser:
        page = await open_page(browser, playground.chat_url, locale)
        await expect(page.locator("#messages")).to_contain_text(greeting)
        await expect(page.locator("#closes label")).to_contain_text(closed)
        await page.set_viewport_size({"width": 360, "height": 640})
        await expect(page.locator("#closes label")).to_be_in_viewport(ratio=1)
        await take_screenshot(page, f"greeting-{locale}")
        await page.check("#closed")
        await expect(page.locator(".toast")).to_contain_text(notice)
        await page.fill("#text", "/help")
        await page.press("#text", "Enter")
        await expect(page.locator("#messages .message")).to_have_count(2)
        await expect(page.locator("#messages")).not_to_contain_text(greeting)


@pytest.mark.long
async def test_invitation_address_asks_before_it_seats(playground: OpenPlayground, browser: Browser) -> None:
    anna, bruno = await Tab.open(browser, playground, "Anna"), await Tab.open(browser, playground, "Bruno")
    await anna.say("/challenge testa")
    await anna.press("Invite")
    [table] = await playground.worker.room.lists.tables_of("playground:1")
    await anna.open_private_chat()
    address = f"{playground.chat_url}#join={table.code}"
    await anna.expect_text(address)
    await anna.take_screenshot("invitation")
    await bruno.page.goto(address)
    await bruno.expect_text("invites you to play Testa a Testa")
    await expect(bruno.page).to_have_url(playground.chat_url)
    assert (await playground.worker.room.table(table.code)).seat_of("playground:2") is None
    await bruno.take_screenshot("asked")
    await bruno.press("Sit down")
    await bruno.expect_text("deal 1")
    assert (await playground.worker.room.table(table.code)).seat_of("playground:2") is not None
    await bruno.take_screenshot("invited")
