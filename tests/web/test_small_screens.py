"""A table's page on a zoomed phone and on one held sideways: no decision of any game needs scrolling."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from random import Random
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from bot.people import Profile
from bot.site.hand_page import hand_page
from bot.store.entries import Entry, FirstDeal, Open, Sit
from bot.tables.table import Table
from bot.words.verdicts import NO_HINT, ShownHint
from engine import GAMES
from engine.options import RELEASE, resolve
from engine.robots.hints import find_reason
from engine.robots.verdicts import Hint
from tests.bot.worker.test_page_controls import find_required_moves, next_table
from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.table_states import route_states
from tests.web.test_controls import find_decisions
from tests.web.test_table_page import start_game, take_screenshot

pytestmark = [*ONE_BROWSER, pytest.mark.long]

READER = "p:0"
SCREENS = {"zoomed": (195, 422), "sideways": (844, 390), "small": (360, 640)}  # 195 × 422 is a phone at 200 % zoom
MIN_HEIGHT = 80  # pixels of a card in the hand on a phone held sideways

OVERFLOW = "[document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight - innerHeight]"
SETTLED = """() => new Promise((done) => {
  const wait = (frames) => frames ? requestAnimationFrame(() => wait(frames - 1)) : done();
  wait(5);
})"""
"""JavaScript that waits for frames in which the page places the cards for a new size."""

HEIGHTS = "() => [...document.querySelectorAll('.fan .tap .face')].map((one) => one.getBoundingClientRect().height)"


def practice_decisions(game: str) -> Iterator[tuple[Table, ShownHint]]:
    """Yield the reader's decisions against robots, one for each set of kinds of moves, each with a hint."""
    random = Random(f"zoom {game}")
    robots = [Sit(seat, "robot:strong", "🤖 Gino") for seat in range(1, GAMES[game].seats)]
    rules = resolve(GAMES[game].rules, {}).model_dump()
    opening: list[Entry] = [
        Open(game, READER, "Anna"),
        Sit(0, READER, "Anna"),
        *robots,
        FirstDeal(random.randbytes(32), RELEASE, rules),
    ]
    table, seen_panels = Table("ABCD").with_entries(opening, "begin"), set()
    for _ in range(150):
        if table.game is None or table.game.is_over:
            return
        moves = [] if table.game.needs_deal or table.game.turn != 0 else sorted(find_required_moves(table.game, 0))
        kinds = frozenset(move.partition(" ")[0] for move in moves)
        if moves and kinds not in seen_panels:
            seen_panels.add(kinds)
            reason = find_reason(table.game.view(0), table.game.history(0), moves[0])
            yield table, ShownHint(Hint(moves[0], reason), is_asked=True)
        table = next_table(table, random)


def find_states(game: str) -> Iterator[dict[str, Any]]:
    """Yield what a page receives for decisions: against people, and against robots with a hint."""
    decisions = [(table, f"p:{seat}", NO_HINT) for table, seat in find_decisions(game)]
    decisions += [(table, READER, hint) for table, hint in practice_decisions(game)]
    for table, person, hint in decisions:
        # Italian has the longer texts. A beginner's page has more of them.
        profile, is_beginner = Profile(person, language="it"), hint is not NO_HINT
        page = hand_page(table, person, profile, hint=hint, is_beginner=is_beginner)
        yield asdict(page) | {"count": None}


@pytest.mark.parametrize("game", GAMES)
async def test_no_decision_needs_scrolling_on_a_small_screen(
    playground: OpenPlayground, browser: Browser, game: str
) -> None:
    page = await start_game(browser, playground, "metamazzo", has_touch=True, reduced_motion="reduce")
    messages: list[str] = []
    await route_states(page, lambda line: line.send(messages[0]))
    faults = []
    for number, state in enumerate(find_states(game)):
        messages[:] = [json.dumps({"table": state | {"game": f"decision {number}"}})]
        await page.reload()
        await expect(page.locator("h1")).to_contain_text(f"decision {number}")
        await expect(page.locator(".advice")).to_have_count(1 if state["hint"] else 0)
        for screen, (width, height) in SCREENS.items():
            await page.set_viewport_size({"width": width, "height": height})
            await page.evaluate(SETTLED)
            right, below = await page.evaluate(OVERFLOW)
            heights = await page.evaluate(HEIGHTS)
            name = f"{game}-{number}-{screen}"
            await take_screenshot(page, name)
            if right > 0 or below > 0:
                faults.append(f"{name}: {right} px too wide, {below} px too high")
            if screen == "sideways" and min(heights, default=MIN_HEIGHT) < MIN_HEIGHT:
                faults.append(f"{name}: cards of {min(heights)} px")
    assert not faults
