"""`python -m benchmarks table`: the page of a table on a slow phone, in Chromium.

The phone is emulated: a processor four times as slow, and a fast 3G network. A run begins on the first page, presses
the button to play and plays a deal against the easy robot, once for each of some fixed packs. The baseline, in the same
run, is a page of aiohttp alone. It loads as many bytes in one script, and moves cards by CSS.
"""

import asyncio
import hashlib
import secrets
import shutil
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from aiohttp import web

from benchmarks.limits import PATIENCE, BenchFailed, within
from benchmarks.site import bot_with_pages
from benchmarks.trace import CATEGORIES, Task, main_tasks
from bot.running import logs

if TYPE_CHECKING:
    from playwright.async_api import Browser, CDPSession, Page

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

DEALS = 3
LONG_TASK = 50.0  # milliseconds of processor time; --details prints the parts of longer tasks

WATCH = """window.found = { shifts: [], frame: 0 };
const nameOf = (node) => {
  if (!node) return "removed";
  if (node.nodeType !== 1) return `text in ${nameOf(node.parentElement)}`;
  return `${node.localName}.${node.getAttribute("class") || node.id}`;
};
const box = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(" ");
const move = ({ node, previousRect, currentRect }) => `${nameOf(node)}: ${box(previousRect)} → ${box(currentRect)}`;
new PerformanceObserver((list) => {
  for (const { startTime, value, hadRecentInput, sources } of list.getEntries()) {
    const line = document.querySelector(".line")?.textContent || "";
    if (!hadRecentInput) found.shifts.push({ at: startTime / 1000, value, line, sources: sources.map(move) });
  }
}).observe({ type: "layout-shift", buffered: true });
let last = 0;
requestAnimationFrame(function next(now) {
  if (window.isPlaying && last) found.frame = Math.max(found.frame, now - last);
  last = now;
  requestAnimationFrame(next);
});"""
"""JavaScript that lists layout shifts, except those after a press, and finds the longest time between two frames."""

GOALS = ("≤ 75", "≤ 28", "≤ 3", "≤ 120", "< 0.05", "", "≤ 100", "≤ 100")
HEADINGS = ("first kB", "requests", "card s", "all kB", "shift", "median", "frame ms", "task ms")


class Shift(NamedTuple):
    at: float  # seconds since the page opened
    value: float
    line: str  # the text above the hand
    sources: list[str]


class Deal(NamedTuple):
    first_kilobytes: float  # from the first page until the first card; the next two begin with the press of the button
    requests: int
    seconds: float
    kilobytes: float  # until the end of the deal
    shifts: list[Shift]
    frame: float  # milliseconds of the longest frame while cards are played
    tasks: list[Task]  # of the main thread while cards are played

    @property
    def shift(self) -> float:
        return sum(shift.value for shift in self.shifts)

    @property
    def task(self) -> float:
        """Processor time of the longest task, in milliseconds."""
        return max((task.cpu for task in self.tasks), default=0.0)


def run(
    tricks: int = TRICKS,
    deals: Annotated[int, typer.Option(help="How many deals to play, each with another fixed pack.")] = DEALS,
    details: Annotated[bool, typer.Option(help="Print what moved, and the parts of long tasks.")] = False,
) -> None:
    """Measure bytes, requests, layout shifts and frames of a table's page, next to a bare page."""
    logs.set_up("error")
    ours, bare = asyncio.run(_measure(tricks, deals))
    typer.echo(f"a table on a phone {SLOWER} times as slow with fast 3G, {tricks} tricks")
    for number, deal in enumerate(ours, 1):
        typer.echo(f"deal {number}: shift {deal.shift:.3f}, frame {deal.frame:.0f} ms, task {deal.task:.0f} ms of CPU")
        if details:
            _print_details(deal)
    typer.echo(f"worst of {deals} deals, and the median of the shifts; a task is measured by its processor time")
    typer.echo(f"{'':16}" + "".join(f"{heading:>10}" for heading in HEADINGS))
    for name, played in (("aiohttp alone", [bare]), ("buongioco", ours)):
        typer.echo(f"{name:16}" + "".join(f"{figure:>10}" for figure in _figures(played)))
    typer.echo(f"{'goal':16}" + "".join(f"{goal:>10}" for goal in GOALS))


def _figures(deals: list[Deal]) -> list[str]:
    """Return the worst figures of some deals, and the median of their layout shifts, in the order of ``HEADINGS``."""
    return [
        f"{max(deal.first_kilobytes for deal in deals):.1f}",
        str(max(deal.requests for deal in deals)),
        f"{max(deal.seconds for deal in deals):.1f}",
        f"{max(deal.kilobytes for deal in deals):.1f}",
        f"{max(deal.shift for deal in deals):.3f}",
        f"{statistics.median(deal.shift for deal in deals):.3f}",
        f"{max(deal.frame for deal in deals):.0f}",
        f"{max(deal.task for deal in deals):.0f}",
    ]


def _print_details(deal: Deal) -> None:
    for shift in deal.shifts:
        typer.echo(f"  {shift.at:.1f} s: moved by {shift.value:.4f} at “{shift.line}”")
        for source in shift.sources:
            typer.echo(f"    {source}")
    for task in deal.tasks:
        if task.cpu > LONG_TASK:
            parts = ", ".join(f"{name} {cpu:.0f}" for name, cpu in task.parts.items())
            typer.echo(f"  {task.at:.1f} s of the deal: {task.cpu:.0f} ms of CPU in {task.wall:.0f} ms: {parts}")


async def _measure(tricks: int, deals: int) -> tuple[list[Deal], Deal]:
    """Return the figures of our page, and of a page with as many bytes."""
    async with _browser() as browser:
        async with bot_with_pages() as (worker, port):
            ours = []
            for number in range(1, deals + 1):
                worker.room.new_secret = partial(_fixed_secret, number)
                ours.append(await _measure_page(browser, f"http://127.0.0.1:{port}/", tricks))
        async with _bare_page(int(1000 * ours[0].first_kilobytes)) as port:
            bare = await _measure_page(browser, f"http://127.0.0.1:{port}/", tricks)
    return ours, bare


def _fixed_secret(deal: int, size: int) -> bytes:
    """Return the secret from which the pack of a deal follows."""
    return hashlib.shake_256(f"deal {deal}".encode()).digest(size)


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


async def _measure_page(browser: "Browser", url: str, tricks: int) -> Deal:
    page = await (await browser.new_context(**PHONE)).new_page()  # type: ignore[arg-type]
    page.set_default_timeout(1000 * PATIENCE)
    await page.add_init_script(WATCH)
    network = await page.context.new_cdp_session(page)
    sizes: list[float] = []
    _collect_sizes(network, sizes)
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
    await browser.start_tracing(page=page, categories=CATEGORIES)
    async with within(DEAL_LIMIT, f"{tricks} tricks"):
        await _play(page, tricks)
    tasks = main_tasks(await browser.stop_tracing())
    found: dict[str, Any] = await page.evaluate("() => window.found")
    await page.context.close()
    shifts = [Shift(**shift) for shift in found["shifts"]]
    return Deal(first / 1000, requests, seconds, sum(sizes) / 1000, shifts, found["frame"], tasks)


def _collect_sizes(network: "CDPSession", sizes: list[float]) -> None:
    """Add the size of each answer to ``sizes``. Images that the page itself makes do not count."""
    own_images = set[str]()

    def note_request(event: dict[str, Any]) -> None:
        if event["request"]["url"].startswith("blob:"):
            own_images.add(event["requestId"])

    def note_answer(event: dict[str, Any]) -> None:
        if event["requestId"] not in own_images:
            sizes.append(event["encodedDataLength"])

    network.on("Network.requestWillBeSent", note_request)
    network.on("Network.loadingFinished", note_answer)


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
