"""The ground of every page in a real Chromium: its scripts run and its cards are drawn, under its own policy."""

import io

import pytest
from PIL import Image
from playwright.async_api import Browser, Page, expect

from tests.e2e.conftest import ONE_BROWSER, browser, playground, running_browser
from tests.open_playground import Open

pytestmark = ONE_BROWSER
__all__ = ["browser", "playground", "running_browser"]


async def opened(browser: Browser, url: str) -> Page:
    page = await (await browser.new_context(viewport={"width": 360, "height": 640})).new_page()
    page.on("pageerror", lambda error: pytest.fail(f"the page failed: {error}"))
    page.on("console", lambda word: pytest.fail(f"the console says: {word.text}") if word.type == "error" else None)
    await page.goto(url)
    return page


async def test_the_libraries_work_together(playground: Open, browser: Browser) -> None:
    page = await opened(browser, playground.url)
    await page.evaluate(
        """async (script) => {
          const { html, render, useState } = await import(script);
          const Counter = () => {
            const [count, setCount] = useState(0);
            return html`<button id="counter" onClick=${() => setCount(count + 1)}>${"<b>"} ${count}</button>`;
          };
          render(html`<${Counter} />`, document.body);
        }""",
        playground.site.assets.url("view.js"),
    )
    await page.click("#counter")
    await expect(page.locator("#counter")).to_have_text("<b> 1")


@pytest.mark.parametrize("deck", ["italian-classic", "french-easy"])
async def test_a_card_is_drawn_from_its_decks_file(playground: Open, browser: Browser, deck: str) -> None:
    page = await opened(browser, playground.url)
    use = f"{playground.site.assets.cards_url(deck)}#3S"
    await page.evaluate(
        """use => { document.body.innerHTML = `<svg id="card" width="125" height="200"><use href="${use}"/></svg>`; }""",
        use,
    )
    for _ in range(100):
        shot = Image.open(io.BytesIO(await page.locator("#card").screenshot())).convert("RGB")
        if len(shot.getcolors(1 << 24) or ()) > 50:
            break
        await page.wait_for_timeout(50)
    # Paper at a corner, and something drawn upon it.
    assert shot.getpixel((10, 100)) == pytest.approx((251, 245, 232), abs=12)
    assert len(shot.getcolors(1 << 24) or ()) > 50


async def test_an_old_link_to_the_chat_leads_there(playground: Open, browser: Browser) -> None:
    page = await opened(browser, f"{playground.url}#key=abc")
    await page.wait_for_url(f"{playground.chat_url}#key=abc")


async def test_the_chats_button_writes_the_command_for_its_reader(playground: Open, browser: Browser) -> None:
    page = await opened(browser, playground.chat_url)
    await page.locator("#chats button", has_text="Buongioco").click()
    await page.click("#begin")
    await expect(page.locator("#messages")).to_contain_text("Accept")
    await expect(page.locator("#chats [aria-selected=true]")).to_contain_text("Bar Sport")
