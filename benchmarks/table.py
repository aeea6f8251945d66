"""`python -m benchmarks table`: the page of a table on a slow phone, in Chromium.

The phone is emulated: a processor four times as slow, and a fast 3G network. A run begins on the first page, presses
the button to play and plays a deal against the easy robot. The baseline, in the same run, is a page of aiohttp alone.
It loads as many bytes in one script, and moves cards by CSS.
"""

import asyncio
import secrets
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

import typer
from aiohttp import web

from benchmarks.limits import PATIENCE, BenchFailed, within
from benchmarks.site import bot_with_pages
from bot.running import logs

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "locale": "en-GB"}
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SLOWER = 4  # times
NETWORK = {"offline": False, "latency": 562.5, "downloadThroughput": 180_000, "uploadThroughput": 84_375}
"""Fast 3G as in Chromium's tools: milliseconds of delay, and bytes a second."""
TRICKS = 20  # of a deal of Testa a Testa
DEAL_LIMIT = 10 * PATIENCE
THINKING = 700  # milliseconds before a press; browsers leave out layout shifts less than 500 ms after one
AFTER_DEAL = 5000  # milliseconds
BARE_CARDS = TRICKS

WATCH = """window.found = { shift: 0, frame: 0 };
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) found.shift += value;
}).observe({ type: "layout-shift", buffered: true });
let last = 0;
requestAnimationFrame(function next(now) {
  if (window.isPlaying && last) found.frame = Math.max(found.frame, now - last);
  last = now;
  requestAnimationFrame(next);
});"""
"""JavaScript that adds up layout shifts, except those after a press, and finds the longest time between two frames."""

LIMITS = ("≤ 75", "≤ 28", "≤ 3", "≤ 120", "< 0.05", "≤ 100")


class Figures(NamedTuple):
    first_kilobytes: float  # from the first page until the first card; the next two begin with the press of the button
    requests: int
    seconds: float
    kilobytes: float  # until the end of the deal
    shift: float
    frame: float  # milliseconds of the longest frame while cards are played


def run(tricks: int = TRICKS) -> None:
    """Measure bytes, requests, layout shifts and frames of a table's page, next to a bare page."""
    logs.set_up("error")
    page_figures, bare = asyncio.run(_measure(tricks))
    typer.echo(f"a table on a phone {SLOWER} times as slow with fast 3G, {tricks} tricks")
    typer.echo(f"{'':16}{'first kB':>10}{'requests':>10}{'card s':>8}{'all kB':>8}{'shift':>8}{'frame ms':>10}")
    for name, (first, requests, seconds, total, shift, frame) in (("aiohttp alone", bare), ("buongioco", page_figures)):
        typer.echo(f"{name:16}{first:10.1f}{requests:10}{seconds:8.1f}{total:8.1f}{shift:8.3f}{frame:10.0f}")
    first_limit, requests_limit, *other_limits = LIMITS
    typer.echo(
        f"{'goal':16}{first_limit:>10}{requests_limit:>10}{other_limits[0]:>8}{other_limits[1]:>8}{other_limits[2]:>8}{other_limits[3]:>10}"
    )


async def _measure(tricks: int) -> tuple[Figures, Figures]:
    """Return the figures of our page, and of a page with as many bytes."""
    async with _browser() as browser:
        async with bot_with_pages() as (_worker, port):
            ours = await _measure_page(browser, f"http://127.0.0.1:{port}/", tricks)
        async with _bare_page(int(1000 * ours.first_kilobytes)) as port:
            bare = await _measure_page(browser, f"http://127.0.0.1:{port}/", tricks)
    return ours, bare


@asynccontextmanager
async def _browser() -> AsyncIterator["Browser"]:
    try:
        from playwright.async_api import async_playwright  # noqa: PLC0415
    except ImportError:
        raise BenchFailed("playwright is missing: run make setup") from None
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        raise BenchFailed("chromium is missing: apt install chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        await browser.close()


async def _measure_page(browser: "Browser", url: str, tricks: int) -> Figures:
    page = await (await browser.new_context(**PHONE)).new_page()  # type: ignore[arg-type]
    page.set_default_timeout(1000 * PATIENCE)
    await page.add_init_script(WATCH)
    network = await page.context.new_cdp_session(page)
    sizes: list[float] = []
    network.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    await network.send("Network.enable")
    await network.send("Network.emulateNetworkConditions", NETWORK)
    await network.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    await page.goto(url)
    if await page.locator("[name=game][value=testa]").count():
        await page.check("[name=game][value=testa]")
        await page.select_option("[name=robot]", "easy")
    before, began = len(sizes), time.monotonic()
    await page.locator("#play .main").click()
    await page.wait_for_selector(".fan .tap")
    seconds = time.monotonic() - began
    await page.wait_for_load_state("networkidle")
    first, requests = sum(sizes), len(sizes) - before
    async with within(DEAL_LIMIT, f"{tricks} tricks"):
        await _play(page, tricks)
    measured = await page.evaluate("() => window.found")
    await page.context.close()
    return Figures(first / 1000, requests, seconds, sum(sizes) / 1000, measured["shift"], measured["frame"])


async def _play(page: "Page", tricks: int) -> None:
    await page.evaluate("() => { window.isPlaying = true; }")
    for _ in range(tricks):
        await page.wait_for_selector(".line.mine")
        await page.wait_for_timeout(THINKING)
        card = page.locator(".fan .tap.playable").first
        name = await card.get_attribute("data-card")
        await card.click()
        await page.locator(f".fan [data-card='{name}']").wait_for(state="detached")
    # The last trick is taken, and the deal is counted.
    await page.wait_for_timeout(AFTER_DEAL)


BARE_STYLE = """.tap, .lying { width: 60px; height: 96px; } .felt { height: 300px; } .lying { animation: drop .2s; }
@keyframes drop { from { transform: translateY(-5rem); opacity: .2; } }"""
BARE_SCRIPT = """const [hand, felt, line] = [".fan", ".felt", ".line"].map((name) => document.querySelector(name));
for (let card = 0; card < %d; card++) {
  const button = Object.assign(document.createElement("button"), { className: "tap playable" });
  button.dataset.card = card;
  hand.append(button);
}
hand.onclick = ({ target }) => {
  if (!target.matches(".tap")) return;
  target.remove();
  line.className = "line";
  felt.innerHTML = "<div class=lying></div>";
  setTimeout(() => { felt.innerHTML += "<div class=lying></div>"; }, 300);
  setTimeout(() => { felt.innerHTML = ""; line.className = "line mine"; }, 1500);
};"""


@asynccontextmanager
async def _bare_page(size: int) -> AsyncIterator[int]:
    """Serve a page with a table of divs, whose script has about ``size`` bytes. Yield its port."""
    script = BARE_SCRIPT % BARE_CARDS + f"\n// {secrets.token_hex(size // 2)}"

    async def show(request: web.Request) -> web.Response:
        text = '<form id="play" action="/table"><button class="main">Play</button></form>'
        if request.path == "/table":
            text = f"<style>{BARE_STYLE}</style><div class=felt></div><p class='line mine'>-</p><div class=fan></div>"
            text += "<script src=/script.js></script>"
        return web.Response(text=f"<!doctype html>{text}", content_type="text/html")

    async def show_script(_request: web.Request) -> web.Response:
        return web.Response(text=script, content_type="text/javascript")

    app = web.Application()
    app.router.add_get("/script.js", show_script)
    app.router.add_get("/{path:.*}", show)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
