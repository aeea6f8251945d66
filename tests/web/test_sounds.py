"""The sounds of a table, in a real Chromium."""

import pytest
from playwright.async_api import Browser, expect

from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.test_table_page import expect_change, start_game, take_screenshot, wait_for_turn

pytestmark = [*ONE_BROWSER, pytest.mark.long]

RENDER = """async (name) => {
  const { play } = await import(document.querySelector("script[src*='table.bundle.js']").src.replace("table.bundle.js", "synth.js"));
  const context = new OfflineAudioContext(1, 48000, 48000);
  play(context, name);
  const samples = (await context.startRendering()).getChannelData(0);
  const loud = samples.map(Math.abs);
  return [loud.reduce((most, sample) => Math.max(most, sample)), loud.findLastIndex((sample) => sample > 0.001) / 48000];
}"""
"""JavaScript that returns a sound's peak and its length in seconds."""

COUNT_SOUNDS = """
window.sounds = 0;
const start = AudioScheduledSourceNode.prototype.start;
AudioScheduledSourceNode.prototype.start = function (...when) { sounds += 1; return start.apply(this, when); };
"""


@pytest.mark.parametrize("name", ["card", "sweep", "knock", "turn"])
async def test_sound_is_short_and_neither_silent_nor_harsh(
    playground: OpenPlayground, browser: Browser, name: str
) -> None:
    page = await start_game(browser, playground, "metamazzo")
    peak, length = await page.evaluate(RENDER, name)
    assert 0.03 < peak < 0.7
    assert 0.02 < length < 0.8


async def test_sounds_begin_at_the_first_tap_and_can_be_muted(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    await page.add_init_script(COUNT_SOUNDS)
    await page.reload()
    await wait_for_turn(page)
    assert await page.evaluate("sounds") == 0
    button = page.get_by_role("button", name="Sounds")
    await expect(button).to_have_attribute("aria-pressed", "true")
    await page.locator(".bar .title").click()
    async with expect_change(page, ".fan"):
        await page.locator(".fan .tap.playable").first.click()
    await page.wait_for_function("() => sounds > 0")
    await take_screenshot(page, "sounds-on")
    await button.click()
    await expect(button).to_have_attribute("aria-pressed", "false")
    await page.reload()
    await wait_for_turn(page)
    await expect(button).to_have_attribute("aria-pressed", "false")
    async with expect_change(page, ".fan"):
        await page.locator(".fan .tap.playable").first.click()
    await wait_for_turn(page)
    assert await page.evaluate("sounds") == 0
    await take_screenshot(page, "sounds-off")
    # The button is heard at once.
    await button.click()
    await page.wait_for_function("() => sounds > 0")
