"""Draw the README's pictures from the running product: `python -m tests.e2e.readme_pictures`.

A new bot with an embedded store plays games with fixed cards.
"""

import asyncio
import io
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

from PIL import Image
from playwright.async_api import Browser, Page

from bot.store.entries import Rule
from bot.tables.table import Table
from tests.bot.finished.games import finished_game, store_game
from tests.browser import expose_chat, launch_browser
from tests.e2e.shots import GROUP, Shooter, is_in_play
from tests.open_playground import OpenPlayground
from tests.paths import DOCS

PICTURES = DOCS / "pictures"
PHONE = {"width": 390, "height": 1200}  # high enough for a whole message
WIDE = {"width": 960, "height": 700}
COLOURS = 128


def small_png(shot: bytes) -> bytes:
    """Return a screenshot as a PNG with a palette."""
    png = io.BytesIO()
    image = Image.open(io.BytesIO(shot)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(png, "PNG", optimize=True)
    return png.getvalue()


async def open_chat(browser: Browser, site: OpenPlayground, scale: float) -> Page:
    """Open the playground's page on a phone with ``scale`` pixels per point."""
    context = await browser.new_context(locale="en-GB", viewport=PHONE, device_scale_factor=scale)  # type: ignore[arg-type]
    page = await context.new_page()
    await expose_chat(page)
    await page.goto(site.chat_url)
    await page.wait_for_function("() => state.me")
    return page


async def draw_hand(browser: Browser, site: OpenPlayground) -> bytes:
    """Draw a player's hand in the private chat of the playground, on a phone."""
    page = await open_chat(browser, site, scale=1.5)
    shooter = Shooter(site, page, "en", Namespace(moments=[]))
    await site.worker.people.update_chat(GROUP, language="en")
    for number, name in ((1, "Anna"), (2, "Bruno")):
        await site.worker.people.update_person(f"playground:{number}", language="en", name=name)
    table = await site.worker.challenges.open_table(
        "metamazzo", "playground:1", "Anna", shooter.make_update_id(), host=GROUP, setup=[Rule("target", 21)]
    )
    await site.worker.challenges.sit(table.code, "playground:2", "Bruno", shooter.make_update_id())

    def is_annas_turn(table: Table) -> bool:
        chair = table.chairs[table.game.turn] if table.game and table.game.turn is not None else None
        return is_in_play(4, 1)(table) and chair is not None and chair.name == "Anna"

    await shooter.play(table.code, is_annas_turn)
    await page.evaluate("() => { state.me = '1'; state.chat = '@1'; draw(); drawHeads(); }")
    await shooter.wait_until_drawn()
    return small_png(await page.locator(".message").last.screenshot())


async def draw_table(browser: Browser, site: OpenPlayground) -> bytes:
    """Draw a table in the browser, as a guest who plays against a robot sees it."""
    page = await wide_page(browser, site.url)
    await page.check("[name=game][value=metamazzo]")
    await page.get_by_role("button", name="Play now").click()
    await page.wait_for_selector(".felt")
    for turn in range(12):
        await page.wait_for_timeout(2500)  # a finished trick is shown for a moment
        await page.wait_for_selector(".line.mine")
        if turn > 2 and await page.locator(".lying").count() == 1:
            break
        await page.locator(".fan .tap.playable").first.click()
    await page.wait_for_timeout(1500)  # the robot's card fades in, and a beginner gets a hint
    return small_png(await page.screenshot())


async def draw_replay(browser: Browser, site: OpenPlayground) -> bytes:
    """Draw the page of a finished game, in the middle of its first deal."""
    game = finished_game(1, "metamazzo")
    game = replace(game, record=game.record.model_copy(update={"seats": ["Anna", "Bruno"]}))
    await store_game(site.worker.store, game)
    page = await wide_page(browser, f"{site.url}g/{game.id}#d1m15")
    await page.wait_for_selector("[data-lying]")
    await page.wait_for_timeout(500)
    return small_png(await page.screenshot())


async def wide_page(browser: Browser, url: str) -> Page:
    context = await browser.new_context(locale="en-GB", viewport=WIDE)  # type: ignore[arg-type]
    page = await context.new_page()
    await page.goto(url)
    return page


async def draw_all(browser: Browser, site: OpenPlayground) -> dict[str, bytes]:
    """Draw all pictures and return them by name."""
    site.worker.room.new_secret = Random(18).randbytes  # fixed cards
    return {
        "hand": await draw_hand(browser, site),
        "table": await draw_table(browser, site),
        "replay": await draw_replay(browser, site),
    }


@asynccontextmanager
async def open_product() -> AsyncIterator[tuple[Browser, OpenPlayground]]:
    """Open a browser, and a playground with a new store."""
    with tempfile.TemporaryDirectory() as folder:
        site = OpenPlayground(Path(folder))
        await site.start()
        try:
            async with launch_browser() as browser:
                yield browser, site
        finally:
            await site.stop()


async def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=PICTURES, help="folder for the pictures")
    into = parser.parse_args().into
    async with open_product() as (browser, site):
        for name, picture in (await draw_all(browser, site)).items():
            (into / f"{name}.png").write_bytes(picture)


if __name__ == "__main__":
    asyncio.run(main())
