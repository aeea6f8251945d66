"""The installed site: Chromium offers to install it, and its manifest and icons are whole."""

import io

import aiohttp
import pytest
from PIL import Image
from playwright.async_api import Browser

from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground


async def test_manifest_is_in_the_readers_language(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    address = f"{site.url}manifest.webmanifest"
    async with session.get(address, headers={"Accept-Language": "it"}) as answer:
        assert answer.content_type == "application/manifest+json"
        manifest = await answer.json(content_type=None)
    assert manifest["lang"] == "it"
    assert manifest["description"].startswith("Tressette e Spades")
    for shortcut in manifest["shortcuts"]:
        async with session.get(site.url + shortcut["url"][1:]) as answer:
            assert answer.status == 200


async def test_icons_have_the_sizes_that_the_manifest_names(
    site: OpenPlayground, session: aiohttp.ClientSession
) -> None:
    async with session.get(f"{site.url}manifest.webmanifest") as answer:
        icons = (await answer.json(content_type=None))["icons"]
    assert {icon["purpose"] for icon in icons} == {"any", "maskable"}
    for icon in [*icons, {"src": "/icon/touch.png", "sizes": "180x180", "purpose": "maskable"}]:
        async with session.get(site.url + icon["src"][1:]) as answer:
            assert (answer.status, answer.content_type) == (200, "image/png")
            picture = Image.open(io.BytesIO(await answer.read())).convert("RGBA")
        assert "x".join(map(str, picture.size)) == icon["sizes"]
        # A maskable icon fills its square.
        assert picture.getchannel("A").getpixel((0, 0)) == (255 if icon["purpose"] == "maskable" else 0)


@pytest.mark.parametrize("field", ["text", "url", "title"])
async def test_shared_link_or_code_opens_its_table(
    site: OpenPlayground, session: aiohttp.ClientSession, field: str
) -> None:
    async with session.get(f"{site.url}manifest.webmanifest") as answer:
        target = (await answer.json(content_type=None))["share_target"]
    shared = dict.fromkeys(target["params"].values(), "")
    for text in ("Play with me! https://cards.example.org/t/K7QF2M", "k7qf2m"):
        query = shared | {target["params"][field]: text}
        async with session.get(site.url + target["action"][1:], params=query, allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/t/K7QF2M")
    async with session.get(site.url + target["action"][1:], params=shared) as answer:
        assert answer.status == 404


async def test_unknown_icon_is_not_found(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    async with session.get(f"{site.url}icon/1024.png") as answer:
        assert answer.status == 404


async def test_service_worker_belongs_to_this_release(site: OpenPlayground, session: aiohttp.ClientSession) -> None:
    async with session.get(f"{site.url}sw.js") as answer:
        assert answer.content_type == "text/javascript"
        assert answer.headers["Cache-Control"] == "no-cache"
        assert f'"/static/{site.site.assets.version}/service_worker.js"' in await answer.text()
        # The service worker can send requests only to this site.
        assert "connect-src 'self'" in answer.headers["Content-Security-Policy"]


@pytest.mark.long
class TestChromium:
    pytestmark = ONE_BROWSER

    async def test_chromium_finds_the_site_installable(self, playground: OpenPlayground, browser: Browser) -> None:
        page = await (await browser.new_context()).new_page()
        await page.goto(playground.url)
        devtools = await page.context.new_cdp_session(page)
        manifest = await devtools.send("Page.getAppManifest")
        assert manifest["errors"] == []
        assert manifest["url"] == f"{playground.url}manifest.webmanifest"
        errors = (await devtools.send("Page.getInstallabilityErrors"))["installabilityErrors"]
        # Playwright's contexts are like private windows, which install nothing.
        assert [error["errorId"] for error in errors if error["errorId"] != "in-incognito"] == []
