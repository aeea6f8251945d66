"""The widget's document and states: Telegram's limits, hidden cards, and taps in Chromium without a network."""

import json
import re
from collections.abc import Sequence
from itertools import chain
from random import Random
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from adapters.telegram.widget.document import LONGEST_COMPRESSED, LONGEST_HTML, compressed_size, hand_document
from adapters.telegram.widget.state import LONGEST_STATE, _plain, hand_state, has_move, with_toast
from bot.panel_picture import CardStyle, Live
from bot.panels.hand import hand_panel
from bot.pictures.scene import Card, Pile, PlayedCard
from bot.pictures.scene_builder import hand_scene
from bot.tables.snapshot import TableSnapshot, take_snapshot
from bot.viewers import with_picture
from engine import GAMES
from tests.bot.worker.test_secrecy import random_table, shuffle_unseen
from tests.browser import ONE_BROWSER
from tests.long import mostly_long
from tests.telegram.widgets import moves_of

NOT_DRAWN = (
    r"fetch|XMLHttpRequest|WebSocket|localStorage|sessionStorage|indexedDB|cookie|innerHTML|insertAdjacent|import\b"
    r"|clip-?path|mask|<pattern|<marker|foreignObject|<image|<animate|<canvas|display: ?(contents|flow-root)"
    r"|columns|writing-mode|background-clip|(margin|padding|border|inset)-(inline|block)|<(datalist|output|meta|ruby|math)"
    r"|popover|contenteditable|autofocus|url\("
)
"""What the sandbox refuses or does not draw, in the document's source, as far as is known."""

HOST = """
<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<script>
  var asked = [], answers = %s;
  var TelegramWidget = { %s request: async (data) => { asked.push(data); return { result: answers.shift() || null }; } };
</script>
"""


LIVE = Live("⏱ 5 min", 300, 1_800_000_000, is_large=True)


def seen_state(
    table_snapshot: TableSnapshot,
    language: str = "en",
    suits: str = "italian",
    style: CardStyle = "classic",
    live: Live = LIVE,
) -> str | None:
    scene = hand_scene(table_snapshot, language, suits, style)
    return hand_state(with_picture(hand_panel(table_snapshot, language, suits, ""), scene, language, live=live))


def read_card(code: str) -> tuple[str, set[str]]:
    """Return a card's code and the letters after it, as `hand.js` reads them."""
    length = 1 if code[0] == "." else 2
    return ("" if code[0] == "." else code[:2].upper()), set(code[length:])


def drawn_card(card: Card, *, wins: bool = False) -> tuple[str, set[str]]:
    letters = {"": set[str](), "playable": {"p"}, "dim": {"d"}, "chosen": {"c"}}[card.light]
    return card.code, letters | ({"n"} if card.is_new else set()) | ({"w"} if wins else set())


def read_trick(cards: list[list[Any]], names: list[str]) -> list[tuple[Any, ...]]:
    return [(read_card(code), names[by], said) for code, by, *rest in cards for said in [rest[0] if rest else ""]]


def drawn_trick(cards: Sequence[PlayedCard]) -> list[tuple[Any, ...]]:
    return [(drawn_card(card.card, wins=card.wins), _plain(card.by), card.said) for card in cards]


def read_piles(piles: list[list[Any]]) -> list[tuple[Any, ...]]:
    return [(read_card(code), size, label) for code, size, label, *_move in piles]


def drawn_piles(piles: Sequence[Pile]) -> list[tuple[Any, ...]]:
    return [(drawn_card(pile.top), pile.size, _plain(pile.label)) for pile in piles]


def own_turn(game: str) -> tuple[TableSnapshot, str]:
    """Return a hand whose player can play a card, and its state."""
    for seed in range(100):
        table = random_table(game, Random(f"{game}{seed}"))
        if table.game and table.game.turn is not None:
            seen = take_snapshot(table, table.game.turn)
            state = seen_state(seen)
            if state and any(":play " in move for move in moves_of({"widget": {"chat_data": state}})):
                return seen, state
    raise AssertionError("no hand with a card to play")


def test_document_stays_within_telegrams_limits() -> None:
    html = hand_document()
    assert len(html.encode()) <= LONGEST_HTML
    # Builds of zlib can differ by a few bytes.
    assert compressed_size(html) <= LONGEST_COMPRESSED - 100, "shorten adapters/telegram/widget/hand.js or hand.css"


def test_document_has_only_what_the_sandbox_draws() -> None:
    forbidden = re.findall(NOT_DRAWN, hand_document())
    assert not forbidden, f"adapters/telegram/widget/hand.* has what Telegram's sandbox does not draw: {forbidden}"


@pytest.mark.parametrize("game", GAMES)
def test_states_are_short_and_have_no_hidden_card(game: str) -> None:
    random = Random(game)
    tables = (random_table(game, random) for _ in range(60))
    for table in (table for table in tables if table.game and table.game.turn is not None):
        for seat in range(GAMES[game].seats):
            for language, suits in (("en", "italian"), ("it", "french")):
                state = seen_state(take_snapshot(table, seat), language, suits)
                if state is None:
                    assert hand_scene(take_snapshot(table, seat), language, suits, "classic") is None
                    continue
                assert len(state.encode()) <= LONGEST_STATE
                assert seen_state(take_snapshot(shuffle_unseen(table, seat, random), seat), language, suits) == state


@pytest.mark.parametrize("game", GAMES)
def test_what_a_state_says_is_the_scene(game: str) -> None:
    """Read states as `hand.js` does. Nothing of these is cut, because their names are short."""
    random = Random(f"read {game}")
    tables = [table for table in (random_table(game, random) for _ in range(40)) if table.game]
    styles: tuple[CardStyle, ...] = ("classic", "easy")
    for number, table in enumerate(tables):
        seen, style, suits = (
            take_snapshot(table, number % 2),
            styles[number % 2],
            ("italian", "french")[number // 2 % 2],
        )
        scene, state = hand_scene(seen, "it", suits, style), seen_state(seen, "it", suits, style)
        assert (scene is None) == (state is None)
        if scene is None or state is None:
            continue
        shown = json.loads(state)
        names = shown["names"]
        assert [read_card(code) for code, *_move in shown["hand"]] == [drawn_card(card) for card in scene.hand]
        assert read_trick(shown["trick"], names) == drawn_trick(scene.trick)
        assert read_piles(shown["packets"]) == drawn_piles(scene.packets)
        assert read_piles(shown["middle"]) == drawn_piles([*scene.middle, *([scene.stock] if scene.stock else [])])
        earlier = [cards for cards in (scene.last_trick, scene.final_trick, scene.drawn) if cards]
        assert [read_trick(cards, names) for _title, cards in shown["more"]] == [*map(drawn_trick, earlier)]
        others = [*chain.from_iterable(other.cards for other in scene.others)]
        others += [pile.top for other in scene.others for pile in other.packets]
        codes = [*chain.from_iterable(codes for _name, codes in shown["others"])]
        assert sorted(map(str, map(read_card, codes))) == sorted(map(str, map(drawn_card, others)))
        sides = [[_plain(side.name), side.points, ", ".join(side.notes), int(side.is_to_move)] for side in scene.sides]
        assert shown["sides"] == sides
        assert [line[1:] for line in shown["tally"]] == [[*line.figures] for line in scene.tally]
        assert shown["clock"] == ["⏱ 5 min", 300, 1_800_000_000]
        assert shown["look"] == ("easy large" if style == "easy" else "large")


@pytest.mark.parametrize("suits", ["italian", "french"])
@pytest.mark.parametrize("game", GAMES)
def test_state_shows_the_whole_hand_and_every_move(game: str, suits: str) -> None:
    table_snapshot, _state = own_turn(game)
    state = seen_state(table_snapshot, "en", suits)
    assert state
    scene = hand_scene(table_snapshot, "en", suits, "classic")
    assert scene
    cards = [card[0][:2] for card in json.loads(state)["hand"]]
    assert [card.upper() for card in cards] == [card.code for card in scene.hand]
    payloads = [
        button.payload
        for row in hand_panel(table_snapshot, "en", suits, "").rows
        for button in row
        if button.kind in ("press", "aside")
    ]
    assert sorted(moves_of({"widget": {"chat_data": state}})) == sorted(payloads)
    assert all(has_move(state, payload) for payload in payloads)
    taps = [tap for _card, *move in json.loads(state)["hand"] for tap in move]
    assert all(taps), "hand.js takes an empty tap for none"
    assert not has_move(state, "1mABCD:0:play")


def test_long_names_and_toasts_are_cut() -> None:
    seen, _state = own_turn("tressette")
    chairs = tuple(chair and chair._replace(name="🂡" * 60) for chair in seen.chairs)
    state = seen_state(seen._replace(chairs=chairs))
    assert state
    longer = with_toast(state, "🂡" * 1000)
    assert len(longer.encode()) <= LONGEST_STATE
    assert json.loads(longer)["hand"] == json.loads(state)["hand"]


def test_toast_is_added_to_states_of_every_length() -> None:
    _snapshot, state = own_turn("tressette")
    fields = json.loads(state)
    length = len(json.dumps({**fields, "text": ""}, ensure_ascii=False, separators=(",", ":")).encode())
    for room in range(30):
        text = "x" * (LONGEST_STATE - length - room)
        full = json.dumps({**fields, "text": text}, ensure_ascii=False, separators=(",", ":"))
        assert len(full.encode()) == LONGEST_STATE - room
        answer = with_toast(full, "Wait for your turn")
        assert len(answer.encode()) <= LONGEST_STATE
        assert json.loads(answer)["hand"] == fields["hand"]
        assert json.loads(answer)["text"] == text


async def open_widget(
    browser: Browser, state: str, answers: list[str], *, readable: bool = True, clock: bool = False
) -> Page:
    """Return a page on which the widget has the ``state``. Its taps get the ``answers``, and errors fail the test.

    With ``clock`` the test sets the page's time.
    """
    page = await browser.new_page(viewport={"width": 340, "height": 600})
    if clock:
        await page.clock.install(time=1_700_000_000)
    page.on("pageerror", lambda error: pytest.fail(f"hand.js: {error}"))
    property_ = f"chatData: {json.dumps(state)}," if readable else ""
    await page.set_content(HOST % (json.dumps(answers), property_) + hand_document())
    return page


class TestInChromium:
    pytestmark = ONE_BROWSER

    async def test_tapped_card_is_sent_and_comes_back_if_refused(self, browser: Browser) -> None:
        _seen, state = own_turn("metamazzo")
        state_with_toast = with_toast(state, "Wait for your turn")
        page = await open_widget(browser, state, [state_with_toast])
        count = len(json.loads(state)["hand"])
        await expect(page.locator(".hand .card")).to_have_count(count)
        await page.locator(".hand button.card").first.click()
        await expect(page.locator(".toast")).to_have_text("Wait for your turn")
        await expect(page.locator(".hand .card")).to_have_count(count)
        await expect(page.locator(".gone")).to_have_count(0)
        [sent] = await page.evaluate("asked")
        assert sent in moves_of({"widget": {"chat_data": state}})
        await page.close()

    @pytest.mark.parametrize("answer", mostly_long(["", "{", "7", '{"toast":"Wait for your turn"}', None], ""))
    async def test_card_whose_answer_is_lost_comes_back(self, browser: Browser, answer: str | None) -> None:
        _seen, state = own_turn("pizzichino")
        page = await open_widget(browser, state, [answer or ""])
        if answer is None:
            await page.evaluate("void (TelegramWidget.request = () => { throw new TypeError('too long') })")
        cards = page.locator(".hand button.card")
        before = [await card.get_attribute("class") for card in await cards.all()]
        await cards.first.click()
        await expect(page.locator(".toast")).to_have_text(
            "Wait for your turn" if answer and "toast" in answer else "⚠️ Try again · Riprova"
        )
        assert [await card.get_attribute("class") for card in await cards.all()] == before
        await page.close()

    @pytest.mark.long
    async def test_card_that_gets_no_answer_comes_back(self, browser: Browser) -> None:
        _seen, state = own_turn("pizzichino")
        page = await open_widget(browser, state, [], clock=True)
        await page.evaluate("void (TelegramWidget.request = () => new Promise(() => 0))")
        await page.locator(".hand button.card").first.click()
        await expect(page.locator(".gone")).to_have_count(1)
        await page.clock.fast_forward(16_000)
        await expect(page.locator(".gone")).to_have_count(0)
        await expect(page.locator(".toast")).to_have_text("⚠️ Try again · Riprova")
        await page.close()

    async def test_time_left_counts_down(self, browser: Browser) -> None:
        seen, _state = own_turn("pizzichino")
        state = seen_state(seen, live=Live("⏱ 1 day", 86_400, 1_800_000_000))
        assert state
        page = await open_widget(browser, state, [], clock=True)
        clock = page.locator(".clock")
        for time_left, shown in ((90_000, "24:00:00"), (3_600, "1:00:00"), (61, "1:01"), (9, "0:09"), (-5, "0:00")):
            await page.clock.pause_at(1_800_000_000 - time_left)
            await page.clock.run_for(500)
            await expect(clock).to_have_text(f"⏱ 1 day · {shown}")
        await expect(page.locator(".late")).to_have_count(1)
        await page.close()

    @pytest.mark.long
    async def test_unreadable_state_leaves_what_is_drawn(self, browser: Browser) -> None:
        _seen, state = own_turn("testa")
        page = await open_widget(browser, state, [])
        await page.evaluate("TelegramWidget.chatData = '{'; refresh()")
        await expect(page.locator(".hand .card")).to_have_count(len(json.loads(state)["hand"]))
        await page.close()

    @pytest.mark.long
    async def test_widget_that_cannot_read_its_state_asks_for_it(self, browser: Browser) -> None:
        _seen, state = own_turn("pizzichino")
        page = await open_widget(browser, state, [state], readable=False)
        await page.get_by_role("button", name="Show my cards").click()
        await expect(page.locator(".hand .card")).to_have_count(len(json.loads(state)["hand"]))
        assert await page.evaluate("asked") == ["show"]
        await page.close()

    @pytest.mark.long
    @pytest.mark.parametrize("game", GAMES)
    async def test_every_part_fits_on_a_phone(self, browser: Browser, game: str) -> None:
        seen, _state = own_turn(game)
        state = seen_state(seen, "it", "italian", "easy", LIVE)
        assert state
        page = await open_widget(browser, state, [])
        await expect(page.locator(".large.easy .hand .card").first).to_be_visible()
        for width in (340, 200):
            await page.set_viewport_size({"width": width, "height": 600})
            assert await page.evaluate("document.documentElement.scrollWidth") <= width
        await page.close()
