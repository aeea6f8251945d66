"""Every legal move has one control that can be tapped on a phone: decisions of all games, in a real Chromium."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from random import Random

import pytest
from playwright.async_api import Browser, expect

from bot import actions
from bot.actions import MoveAction, TableAction
from bot.people import Profile
from bot.site.hand_page import hand_page
from bot.tables.table import Table
from engine import GAMES
from tests.bot.worker.test_page_controls import find_required_moves, is_composed, new_table, next_table
from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.table_states import route_states
from tests.web.test_table_page import PHONE, start_game, take_screenshot

pytestmark = ONE_BROWSER

MAX_DECISIONS = 8  # decisions checked per game; decisions with more kinds of moves come first

FIND_TAPPABLE = """async () => {
  const hits = (button) => {
    button.scrollIntoView({ block: "nearest" });
    const box = button.getBoundingClientRect();
    return [[0.5, 0.5], [0.2, 0.15], [0.8, 0.15], [0.5, 0.15], [0.2, 0.85]].some(([x, y]) =>
      button.contains(document.elementFromPoint(box.x + x * box.width, box.y + y * box.height)));
  };
  return [...document.querySelectorAll("#table button")].filter((button) => !button.closest("dialog") && hits(button))
    .flatMap((button) => [button.dataset.press || button.dataset.payload, button.dataset.pick]).filter((payload) => payload);
}"""
"""JavaScript that returns the payloads of all buttons outside the menu that can be tapped after scrolling to them."""


def find_decisions(game: str) -> Iterator[tuple[Table, int]]:
    """Yield tables and the seat to move; together they have every kind of move."""
    random = Random(f"phone {game}")
    decisions: dict[frozenset[str], tuple[Table, int]] = {}
    for _ in range(4):
        table = new_table(game, random)
        for _ in range(120):
            assert table.game
            if table.game.is_over:
                break
            for seat in range(table.game.kind.seats if not table.game.needs_deal else 0):
                kinds = frozenset(move.partition(" ")[0] for move in find_required_moves(table.game, seat))
                if kinds:
                    decisions.setdefault(kinds, (table, seat))
            table = next_table(table, random)
    yield from sorted(decisions.values(), key=lambda decision: len(decision[0].log))[:MAX_DECISIONS]


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES)
async def test_every_legal_move_can_be_tapped_on_a_phone(
    playground: OpenPlayground, browser: Browser, game: str
) -> None:
    page = await start_game(browser, playground, "metamazzo", reduced_motion="reduce", **PHONE)
    messages: list[str] = []
    await route_states(page, lambda line: line.send(messages[0]))
    for number, (table, seat) in enumerate(find_decisions(game)):
        assert table.game
        state = asdict(hand_page(table, f"p:{seat}", Profile(f"p:{seat}"))) | {"game": f"decision {number}"}
        messages[:] = [json.dumps({"table": state})]
        await page.reload()
        await expect(page.locator("h1")).to_contain_text(f"decision {number}")
        if state["count"] and not state["seal"]:
            await page.locator(".tally button").click()
        payloads = await page.evaluate(FIND_TAPPABLE)
        await take_screenshot(page, f"controls-{game}-{number}")
        assert len(payloads) == len({*payloads})
        actions_hit = [actions.parse_payload(payload) for payload in payloads]
        moves = {action.move for action in actions_hit if isinstance(action, MoveAction)}
        choices = [action for action in actions_hit if isinstance(action, TableAction) and action.verb == "draft"]
        required = find_required_moves(table.game, seat)
        composed = {move for move in required if is_composed(move)}
        assert required - composed <= moves
        # Each packet, card or signal in a legal move can be chosen.
        parts = {
            move.split(" ")[2] if move.startswith("play") else part for move in composed for part in move.split(" ")[1:]
        }
        assert len(choices) >= len(parts)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
