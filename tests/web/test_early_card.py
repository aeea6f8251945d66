"""Cards that the page plays for its reader: chosen before the turn, or the only legal one."""

import json
import re
from contextlib import suppress
from typing import Any

import pytest
from playwright.async_api import Browser, Error, Page, Position, WebSocketRoute, expect

from bot.store.entries import Move, decode
from bot.store.log import strip_stamp
from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.table_states import route_states
from tests.web.test_table_page import expect_change, start_game, take_screenshot, wait_for_turn

pytestmark = [*ONE_BROWSER, pytest.mark.long]

CORNER: Position = {"x": 12, "y": 10}  # a point of a card that no other row of cards covers

State = dict[str, Any]


class HeldTurn:
    """A page from which the reader's turn is hidden until the test shows it."""

    def __init__(self, page: Page) -> None:
        self.page, self.is_shown = page, False
        self.state: State = {}
        self.presses: list[str] = []
        self._socket: WebSocketRoute

    async def hide(self) -> None:
        await route_states(self.page, self._forward)
        await self.page.reload()
        await expect(self.page.locator(".fan .tap").first).to_be_visible()

    def show(self, **changes: object) -> None:
        self.is_shown = True
        self._socket.send(json.dumps({"table": self.state | changes}))

    def _forward(self, socket: WebSocketRoute) -> None:
        self._socket, server = socket, socket.connect_to_server()

        def receive(text: str | bytes) -> None:
            state = json.loads(text).get("table")
            if state and not self.is_shown:
                self.state = state
                hand = [{**card, "light": "", "press": "", "role": ""} for card in state["hand"]]
                socket.send(
                    json.dumps({"table": {**state, "is_mine": False, "line": "Wait.", "hand": hand, "extra": []}})
                )
            else:
                socket.send(text)

        def send(text: str | bytes) -> None:
            if press := json.loads(text).get("press"):
                self.presses.append(press)
            server.send(text)

        server.on_message(receive)
        socket.on_message(send)


async def hold_turn(browser: Browser, playground: OpenPlayground, game: str = "metamazzo") -> HeldTurn:
    page = await start_game(browser, playground, game)
    await wait_for_turn(page)
    turn = HeldTurn(page)
    await turn.hide()
    return turn


async def test_card_chosen_early_is_played_once_at_the_turn(playground: OpenPlayground, browser: Browser) -> None:
    turn = await hold_turn(browser, playground)
    page, early_card = turn.page, turn.page.locator(".fan .tap.early")
    name = next(card["code"] for card in turn.state["hand"] if card["light"] == "playable")
    card = page.locator(f".fan [data-card='{name}']")
    await card.click(position=CORNER)
    await expect(card).to_have_attribute("aria-pressed", "true")
    await expect(page.locator(".line")).to_contain_text("At your turn: ")
    await take_screenshot(page, "early")
    # A tap on another card replaces the choice, and a second tap on that card takes it back.
    await page.locator(f".fan .tap:not([data-card='{name}'])").first.click(position=CORNER)
    await expect(early_card).to_have_count(1)
    await expect(card).not_to_have_attribute("aria-pressed", "true")
    await early_card.click(position=CORNER)
    await expect(early_card).to_have_count(0)
    await expect(page.locator(".line")).to_have_text("Wait.")
    await card.click(position=CORNER)
    assert turn.presses == []
    turn.show(extra=[])  # without a declaration, for which the card would wait
    await expect(page.locator(f".fan [data-card='{name}']")).to_have_count(0)
    await wait_for_turn(page)
    assert [press.rpartition(":")[2] for press in turn.presses] == [f"play {name}"]


async def test_reload_forgets_a_card_chosen_early(playground: OpenPlayground, browser: Browser) -> None:
    turn = await hold_turn(browser, playground)
    await turn.page.locator(".fan .tap").first.click(position=CORNER)
    await expect(turn.page.locator(".fan .tap.early")).to_have_count(1)
    await turn.page.reload()
    await expect(turn.page.locator(".fan .tap").first).to_be_visible()
    turn.show(extra=[])  # without a declaration, for which a chosen card would wait
    await wait_for_turn(turn.page)
    await expect(turn.page.locator(".fan .tap.early")).to_have_count(0)
    assert turn.presses == []


async def test_illegal_card_chosen_early_returns_and_says_why(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "testa")
    await wait_for_turn(page)
    while not await page.locator(".fan .tap.dim").count():
        async with expect_change(page, ".fan"):
            await page.locator(".fan .tap.playable").first.click(position=CORNER)
        await wait_for_turn(page)
    name = await page.locator(".fan .tap.dim").first.get_attribute("data-card")
    turn = HeldTurn(page)
    await turn.hide()
    card = page.locator(f".fan [data-card='{name}']")
    await card.click(position=CORNER)
    turn.show(extra=[])  # without a declaration, for which the card would wait
    await expect(page.get_by_role("alert")).to_have_text(re.compile("^Back in your hand: .+\\. You must follow suit"))
    await expect(page.locator(".fan .tap.early")).to_have_count(0)
    await expect(card).to_have_count(1)
    assert [press.rpartition(":")[2] for press in turn.presses] == [f"play {name}"]


async def test_card_chosen_early_waits_for_a_declaration(playground: OpenPlayground, browser: Browser) -> None:
    turn = await hold_turn(browser, playground)
    page = turn.page
    playable = next(card for card in turn.state["hand"] if card["light"] == "playable")
    card = page.locator(f".fan [data-card='{playable['code']}']")
    await card.click(position=CORNER)
    turn.show(extra=[[["📣 three aces", "T1:9:declare", "good", "press", "move", ""]]])
    await expect(page.locator(".line")).to_have_text("Your turn: press a button, or tap your card.")
    await expect(card).to_have_attribute("aria-pressed", "true")
    assert turn.presses == []
    await card.click(position=CORNER)
    await expect(page.locator(f".fan [data-card='{playable['code']}']")).to_have_count(0)
    assert turn.presses == [playable["press"]]


@pytest.mark.parametrize("is_wanted", [True, False])
async def test_only_legal_card_is_played_if_wanted(
    playground: OpenPlayground, browser: Browser, is_wanted: bool
) -> None:
    turn = await hold_turn(browser, playground)
    page = turn.page
    await page.evaluate("is => localStorage.setItem('options', JSON.stringify({ single: is }))", is_wanted)
    await page.add_init_script(
        "const wait = setTimeout; window.looks = 0; window.setTimeout = (then, ms) => { looks += ms === 600; return wait(then, ms); };"
    )
    await page.reload()
    await expect(page.locator(".fan .tap").first).to_be_visible()
    legal = next(card for card in turn.state["hand"] if card["light"] == "playable")
    hand = [card if card is legal else {**card, "light": "dim"} for card in turn.state["hand"]]
    turn.show(hand=hand, extra=[])
    await wait_for_turn(page)
    if is_wanted:
        await expect(page.locator(f".fan [data-card='{legal['code']}']")).to_have_count(0)
        assert turn.presses == [legal["press"]]
    else:
        await expect(page.locator(".fan .tap.playable")).to_have_count(1)
        assert await page.evaluate("looks") == 0


async def test_only_legal_card_waits_if_an_honour_can_be_picked_up(
    playground: OpenPlayground, browser: Browser
) -> None:
    turn = await hold_turn(browser, playground)
    page = turn.page
    await page.evaluate("localStorage.setItem('options', JSON.stringify({ single: true }))")
    await page.reload()
    await expect(page.locator(".fan .tap").first).to_be_visible()
    legal = next(card for card in turn.state["hand"] if card["light"] == "playable")
    hand = [card if card is legal else {**card, "light": "dim"} for card in turn.state["hand"]]
    honour = {**legal, "code": "3B", "light": "dim", "press": "", "role": "", "label": "8", "pick": "T1:9:pick 8"}
    turn.show(hand=hand, packets=[honour], extra=[])
    await wait_for_turn(page)
    await expect(page.locator("[data-pick]")).to_have_count(1)
    await page.wait_for_timeout(1500)
    assert turn.presses == []


@pytest.mark.long
async def test_deal_of_cards_chosen_early_has_each_card_once(playground: OpenPlayground, browser: Browser) -> None:
    page = await start_game(browser, playground, "metamazzo")
    await page.evaluate("localStorage.setItem('options', JSON.stringify({ single: true, pace: 'fast' }))")
    await page.reload()
    over = page.locator(".tally button")
    while not await over.count():
        with suppress(Error):
            if await page.locator(".line.mine").count():
                await page.locator(".fan .tap.playable").first.click(timeout=1000)
            elif not await page.locator(".fan .tap.early").count():
                await page.locator(".fan .tap").first.click(timeout=1000)
    table = await playground.worker.room.table(page.url.rpartition("/")[2])
    entries = (decode(strip_stamp(entry).decode()) for entry in table.log.entries)
    moves = (entry.move for entry in entries if isinstance(entry, Move) and entry.seat == 0)
    played_cards = [move.split(" ")[1] for move in moves if move.startswith("play ")]
    assert len({*played_cards}) == len(played_cards) == 20
