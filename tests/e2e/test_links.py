"""A playground that is open to a network, in a browser: the host's page and personal links."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from bot.store import EmbeddedStore
from tests.browser import ONE_BROWSER, PHONE
from tests.e2e.test_browser import SHOTS, accept_dialog
from tests.open_playground import OpenPlayground

pytestmark = [*ONE_BROWSER, pytest.mark.long]


@pytest_asyncio.fixture(loop_scope="session")
async def network(tmp_path: Path, empty_valkey: EmbeddedStore) -> AsyncIterator[OpenPlayground]:
    """A playground that is open to a network."""
    playground = OpenPlayground(tmp_path / "data", valkey=empty_valkey, host="0.0.0.0")  # noqa: S104
    await playground.start()
    yield playground
    await playground.stop()


async def open_page(browser: Browser, url: str, locale: str = "en-GB") -> Page:
    context = await browser.new_context(viewport=PHONE, locale=locale)  # type: ignore[arg-type]
    page = await context.new_page()
    page.on("pageerror", lambda error: pytest.fail(f"the page failed: {error}"))
    await page.goto(url)
    return page


async def take_screenshot(page: Page, name: str) -> None:
    if SHOTS:
        await page.screenshot(path=str(Path(SHOTS) / f"{name}.png"))


async def test_host_immediately_sees_the_link_of_a_new_person(network: OpenPlayground, browser: Browser) -> None:
    host = await open_page(browser, f"{network.chat_url}#key={network.playground.server._host_key}")
    links = host.locator("#links a")
    await expect(links).to_have_count(2)
    host.once("dialog", partial(accept_dialog, "Carla"))
    await host.click("#add-person")
    await expect(links).to_have_count(3)
    carla = network.playground.chat_store.people["3"]
    await expect(links.last).to_have_attribute("href", f"{network.url.rstrip('/')}/chat#key={carla.token}")
    await expect(links.last).to_be_in_viewport()
    host.once("dialog", partial(accept_dialog, "Anna"))
    await host.click("#add-person")
    await expect(host.locator(".toast")).to_contain_text("Anna is already here: choose another name.")
    await expect(links).to_have_count(3)
    await take_screenshot(host, "host")
    # The links stay visible with many messages in the group.
    anna = await open_page(browser, f"{network.chat_url}#key={network.playground.chat_store.people['1'].token}")
    for number in range(30):
        await anna.fill("#text", f"word {number}")
        await anna.press("#text", "Enter")
    await expect(host.locator("#messages")).to_contain_text("word 29")
    await expect(links.last).to_be_in_viewport()
    await take_screenshot(host, "host-full")


@pytest.mark.parametrize(
    ("locale", "key", "error"),
    [
        ("en-GB", "", "You need a personal link to come in"),
        ("en-GB", "#key=wrong", "This link no longer works"),
        ("it-IT", "#key=wrong", "Questo link non vale più"),
    ],
)
async def test_invalid_link_shows_an_error(
    network: OpenPlayground, browser: Browser, locale: str, key: str, error: str
) -> None:
    page = await open_page(browser, network.chat_url + key, locale)
    await expect(page.get_by_role("alert")).to_contain_text(error)
    await expect(page.locator("#offline")).to_be_hidden()
    await expect(page.locator("#composer")).to_be_hidden()
    await take_screenshot(page, f"no-link-{locale}{len(key)}")
    # The right link opens in the same tab.
    anna = network.playground.chat_store.people["1"]
    await page.goto(f"{network.chat_url}#key={anna.token}")
    await expect(page.locator("#people [aria-selected=true]")).to_have_text("Anna")


async def test_host_page_says_that_a_restart_changes_its_link(network: OpenPlayground, browser: Browser) -> None:
    host = await open_page(browser, f"{network.chat_url}#key={network.playground.server._host_key}")
    await expect(host.locator("#links a")).to_have_count(2)
    await network.stop()
    await network.start()
    await expect(host.get_by_role("alert")).to_contain_text("run `buongioco link`")
    await expect(host.locator("#links")).to_be_hidden()


async def test_page_over_the_limit_opens_after_another_closes(network: OpenPlayground, browser: Browser) -> None:
    tabs = network.playground.server.tabs
    url = f"{network.chat_url}#key={network.playground.chat_store.people['1'].token}"
    first = await open_page(browser, url)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("adapters.web.playground.tabs.MAX_TABS_EACH", 1)
        await expect(first.locator("#people [aria-selected=true]")).to_have_text("Anna")
        second = await open_page(browser, url, "it-IT")
        await expect(second.locator("#offline")).to_contain_text("Sono aperte troppe pagine")
        await first.close()
        await expect(second.locator("#people [aria-selected=true]")).to_have_text("Anna")
    assert len(tabs.open) == 1
