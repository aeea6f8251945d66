"""The watchers' page of a table in a real Chromium, and the buttons that lead to pages."""

import json
import os
import re
from typing import Any

import pytest
from playwright.async_api import Browser, Route, expect

from bot.finished.archive import game_id
from bot.words.wording import card_faces
from tests.browser import ONE_BROWSER
from tests.open_playground import OpenPlayground
from tests.web.test_api import open_table
from tests.web.test_replay import DESKTOP, PHONE, open_page

pytestmark = [*ONE_BROWSER, pytest.mark.long]


async def play_card(site: OpenPlayground, code: str, key: str) -> str:
    """Play the first legal card of the player to move, and return it."""
    table = await site.worker.room.table(code)
    assert table.game
    turn = table.game.turn
    assert turn is not None
    move = next(move for move in table.game.legal_moves(turn) if move.startswith("play "))
    await site.worker.room.make_move(code, f"playground:{turn + 1}", table.version, move, key)
    return move.split(" ")[1]


async def test_watcher_sees_each_played_card_and_no_hidden_card(playground: OpenPlayground, browser: Browser) -> None:
    code, watch_id = await open_table(playground)
    page = await open_page(browser, f"{playground.url}t/{watch_id}")
    await expect(page.locator(".seat .hand svg[data-card=back]")).to_have_count(20)
    await expect(page.locator(".sealed summary")).to_have_text(re.compile("^🔒 Seal: [0-9a-f]{12}…$"))
    for number in range(3):
        card = await play_card(playground, code, f"m{number}")
        await expect(page.locator(f"[data-lying='{card}']")).to_be_visible()
        card_name = card_faces("italian").card(card)
        await expect(page.locator(".says")).to_contain_text(re.compile(rf"^(Anna|Player 2) plays {card_name}\. "))
        lying = page.get_by_role("group", name="On the table").get_by_role("img", name=card_name)
        await expect(lying).to_have_accessible_name(re.compile(rf"^(Anna|Player 2): {card_name}$"))
        assert await page.locator(".seat .hand svg:not([data-card=back])").count() == await count_known_cards(
            playground, code
        )
    await expect(page.locator(".says")).to_contain_text("’s turn")


async def count_known_cards(site: OpenPlayground, code: str) -> int:
    """Return how many cards in hands have been shown to everyone."""
    table = await site.worker.room.table(code)
    assert table.game
    deal = table.game.view(None).deal
    assert deal
    return sum(map(len, deal.known))


async def test_finished_watched_game_leads_to_the_replay(playground: OpenPlayground, browser: Browser) -> None:
    code, watch_id = await open_table(playground)
    page = await open_page(browser, f"{playground.url}t/{watch_id}")
    await expect(page.locator(".says")).to_contain_text("’s turn")
    await play_card(playground, code, "m1")
    table = await playground.worker.room.table(code)
    await playground.worker.room.make_move(code, "playground:1", table.version, "resign", "m2")
    await expect(page.locator(".says")).to_have_text("Player 2 won.")
    await playground.worker.wait_until_idle()
    await page.click("#replay-link")
    await expect(page.locator(".result")).to_contain_text("resigned")


async def test_link_to_an_unknown_table_says_so(playground: OpenPlayground, browser: Browser) -> None:
    page = await open_page(browser, f"{playground.url}t/AAAAAA-ABCDEFGHJKMN", language="it", errors=False)
    await expect(page.locator("main")).to_contain_text("Qui non c’è niente da guardare")


async def test_closing_a_chats_tables_ends_watching(playground: OpenPlayground, browser: Browser) -> None:
    code, watch_id = await open_table(playground)
    page = await open_page(browser, f"{playground.url}t/{watch_id}", errors=False)
    await expect(page.locator(".says")).to_contain_text("’s turn")
    await playground.worker.people.update_chat("playground:bar", watched="0")
    card = await play_card(playground, code, "m1")
    await expect(page.locator("[role=alert]")).to_contain_text("nothing to watch")
    assert await page.locator(f"[data-lying='{card}']").count() == 0


async def test_eight_packets_lie_in_two_rows_on_a_phone(playground: OpenPlayground, browser: Browser) -> None:
    _code, watch_id = await open_table(playground, game="spizzichino")
    page = await open_page(browser, f"{playground.url}t/{watch_id}", **PHONE)
    packets = page.locator(".middle .pile")
    await expect(packets).to_have_count(8)
    tops = await packets.evaluate_all("all => all.map((packet) => packet.offsetTop)")
    assert [tops.count(top) for top in sorted(set(tops))] == [4, 4]


@pytest.mark.parametrize("size", ["phone", "desktop"])
@pytest.mark.parametrize("game", ["spizzichino", "tressette", "spades"])
async def test_watch_page_fits_the_screen(playground: OpenPlayground, browser: Browser, game: str, size: str) -> None:
    options: dict[str, Any] = PHONE if size == "phone" else DESKTOP
    people = 4 if game == "tressette" else 2
    code, watch_id = await open_table(playground, people, game)
    room = playground.worker.room
    for number in range(30):
        table = await room.table(code)
        assert table.game
        assert table.game.turn is not None
        move = table.game.legal_moves(table.game.turn)[0]
        if number > 8 and move.startswith("play "):
            break
        await room.make_move(code, f"playground:{table.game.turn + 1}", table.version, move, f"m{number}")
    scheme = "dark" if game == "tressette" else "light"
    page = await open_page(browser, f"{playground.url}t/{watch_id}", language="it", color_scheme=scheme, **options)
    await expect(page.locator(".says")).not_to_be_empty()
    width = options["viewport"]["width"]
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    felt_box = await page.locator(".position").bounding_box()
    assert felt_box
    for card in await page.locator(".position svg").all():
        box = await card.bounding_box()
        assert box
        assert felt_box["x"] <= box["x"]
        assert box["x"] + box["width"] <= felt_box["x"] + felt_box["width"]
    if folder := os.environ.get("BUONGIOCO_SHOTS"):
        await page.screenshot(path=f"{folder}/watch-{game}-{size}.png")


async def test_playground_board_and_result_have_links(playground: OpenPlayground, browser: Browser) -> None:
    page = await open_page(browser, playground.chat_url)
    await page.locator("#chats button", has_text="Buongioco").click()
    await page.click("#begin")
    await page.locator("[data-payload*='menu robot']").click()
    await page.locator("[data-payload*=':robot']").first.click()
    watch = page.locator("#messages a", has_text="Watch").last
    await expect(watch).to_be_visible()
    [table] = await playground.worker.room.lists.tables_at("playground:1")
    address = await watch.get_attribute("href") or ""
    assert address.startswith(f"{playground.url}t/{table.code}-")
    current = await playground.worker.room.table(table.code)
    await playground.worker.room.make_move(table.code, table.opener.person, current.version, "resign", "r")
    replay = page.locator("#messages a", has_text="Replay").last
    await expect(replay).to_be_visible()
    game_id = (await replay.get_attribute("href") or "").rpartition("/g/")[2]
    assert await playground.worker.archive.get(game_id)


HOLD_BUBBLES = """() => {
  const usual = setTimeout;
  window.setTimeout = (then, ms) => ms > 1000 ? 0 : usual(then, ms);
}"""
"""JavaScript that keeps what a page shows for more than a second, so that a slow test still sees it."""


async def test_watcher_sees_who_takes_a_trick_at_the_seat(playground: OpenPlayground, browser: Browser) -> None:
    code, watch_id = await open_table(playground, game="testa")
    page = await open_page(browser, f"{playground.url}t/{watch_id}", reduced_motion="reduce")
    await expect(page.locator(".bubbles")).to_be_attached()
    await page.evaluate(HOLD_BUBBLES)
    for number in range(2):
        await play_card(playground, code, f"m{number}")
    table = await playground.worker.room.table(code)
    assert table.game
    view = table.game.view(None).deal
    assert view
    assert view.last_trick
    bubble = page.locator(f".bubble[data-at='{view.last_trick.winner}']")
    await expect(bubble).to_have_text(re.compile("(Anna|Player 2) takes it$"))
    for size in (PHONE, DESKTOP):
        await page.set_viewport_size(size["viewport"])
        box, felt = await bubble.bounding_box(), await page.locator(".position").bounding_box()
        assert box
        assert felt
        assert felt["y"] <= box["y"] <= box["y"] + box["height"] <= felt["y"] + felt["height"]
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_watcher_sees_the_cards_of_a_declaration(playground: OpenPlayground, browser: Browser) -> None:
    _code, watch_id = await open_table(playground, game="testa")
    states: list[dict[str, Any]] = []

    async def answer(route: Route) -> None:
        await page.locator(".bubbles").wait_for(state="attached")
        await route.fulfill(body="".join(json.dumps(state) + "\n" for state in states[-1:]))

    page = await open_page(browser, f"{playground.url}t/{watch_id}", errors=False)
    first = (await page.evaluate("() => JSON.parse(document.getElementById('page-data').textContent)"))["table"]
    view = first["view"] | {"declarations": [[1, "declare napoletana C", 3]], "declared": [0, 3]}
    states.append(first | {"view": view, "version": first["version"] + 1})
    await page.route("**/stream", answer)
    await page.add_init_script(f"({HOLD_BUBBLES})()")
    await page.reload()
    bubble = page.locator(".bubble[data-at='1']")
    await expect(bubble).to_have_text("Napoletana in cups! +3")
    await expect(bubble.locator("use")).to_have_count(3)


@pytest.mark.parametrize(("suits", "size"), [("italian", PHONE), ("french", DESKTOP)], ids=["phone", "desktop"])
async def test_watcher_opens_the_log_of_the_deal(
    playground: OpenPlayground, browser: Browser, suits: str, size: dict[str, Any]
) -> None:
    code, watch_id = await open_table(playground, game="testa")
    page = await open_page(browser, f"{playground.url}t/{watch_id}", **size)
    await page.evaluate("suits => localStorage.setItem('buongioco-suits', suits)", suits)
    await page.reload()
    await page.locator(".opens-log summary").click()
    await expect(page.locator(".log")).to_contain_text("No trick yet.")
    cards = [await play_card(playground, code, f"m{number}") for number in range(5)]
    tricks = page.locator(".log ol > li").filter(has_text="Trick")
    await expect(tricks).to_have_text([re.compile("^Trick 1: "), re.compile("^Trick 2: ")])
    await expect(tricks.first.locator("svg")).to_have_count(0)
    shown_cards = await tricks.last.locator("svg").evaluate_all("all => all.map((card) => card.dataset.card)")
    assert shown_cards == [card_faces(suits).drawn_code(card) for card in cards[2:4]]
    await expect(tricks.last.locator("use").first).to_have_attribute("href", re.compile(f"{suits}-classic"))
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if folder := os.environ.get("BUONGIOCO_SHOTS"):
        await page.screenshot(path=f"{folder}/watch-log-{suits}.png", full_page=True)


async def test_log_of_a_table_needs_its_watch_id(playground: OpenPlayground, browser: Browser) -> None:
    code, watch_id = await open_table(playground)
    page = await open_page(browser, f"{playground.url}t/{watch_id}")
    wrong = await page.request.get(f"{playground.url}t/{code}-{'A' * len(watch_id.partition('-')[2])}/log")
    assert await wrong.json() == {"log": None}
    await playground.worker.people.update_chat("playground:bar", watched="0")
    closed = await page.request.get(f"{playground.url}t/{watch_id}/log")
    assert await closed.json() == {"log": None}


async def test_watchers_follow_the_rematch(playground: OpenPlayground, browser: Browser) -> None:
    code, watch_id = await open_table(playground)
    page = await open_page(browser, f"{playground.url}t/{watch_id}")
    await expect(page.locator(".says")).to_contain_text("’s turn")
    worker = playground.worker
    table = await worker.room.table(code)
    await worker.room.make_move(code, "playground:1", table.version, "resign", "m1")
    await expect(page.locator(".says")).to_have_text("Player 2 won.")
    await worker.wait_until_idle()
    again = await worker.challenges.open_table(
        table.game_id, "playground:1", "Anna", f"again:{game_id(table)}", host=table.hosts[0], reopen=True
    )
    await page.get_by_role("link", name="Watch the rematch").click(timeout=15_000)
    await page.wait_for_url(f"**/t/{again.code}-*")
    await expect(page.locator("h1")).to_contain_text(again.code)
