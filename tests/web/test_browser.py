"""The basics of every page in a real Chromium: under our security policy, scripts run and cards are drawn."""

import io

import pytest
from PIL import Image
from playwright.async_api import Browser, Page, expect

from bot.features.puzzles.collection import all_puzzles
from bot.panel import Button, Panel, Span
from tests.bot.features.ratings.test_players import store_rated_games
from tests.browser import ONE_BROWSER, fail_on_page_errors
from tests.open_playground import OpenPlayground
from tests.web.test_api import open_table
from tests.web.test_replay import add_game
from tests.web.test_sessions import ANNA, Chat, link_address
from tests.web.test_table_page import expect_change, wait_for_turn

pytestmark = [*ONE_BROWSER, pytest.mark.long]


async def open_page(browser: Browser, url: str, size: str = "phone") -> Page:
    width, height = (360, 640) if size == "phone" else (1280, 800)
    page = await (await browser.new_context(viewport={"width": width, "height": height})).new_page()
    fail_on_page_errors(page)
    await page.goto(url)
    return page


async def test_page_libraries_work_together(playground: OpenPlayground, browser: Browser) -> None:
    page = await open_page(browser, playground.url)
    await page.evaluate(
        """async (script) => {
          const { html, render, useState } = await import(script);
          const Counter = () => {
            const [count, setCount] = useState(0);
            return html`<button id="counter" onClick=${() => setCount(count + 1)}>${"<b>"} ${count}</button>`;
          };
          render(html`<${Counter} />`, document.body);
        }""",
        playground.site.assets.url("view.js"),
    )
    await page.click("#counter")
    await expect(page.locator("#counter")).to_have_text("<b> 1")


@pytest.mark.parametrize("deck", ["italian-classic", "french-easy"])
async def test_cards_are_drawn_from_the_file_of_their_deck(
    playground: OpenPlayground, browser: Browser, deck: str
) -> None:
    page = await open_page(browser, playground.url)
    use = f"{playground.site.assets.cards_url(deck)}#3S"
    await page.evaluate(
        """use => { document.body.innerHTML = `<svg id="card" width="125" height="200"><use href="${use}"/></svg>`; }""",
        use,
    )
    for _ in range(100):
        shot = Image.open(io.BytesIO(await page.locator("#card").screenshot())).convert("RGB")
        if len(shot.getcolors(1 << 24) or ()) > 50:
            break
        await page.wait_for_timeout(50)
    # Paper at a corner, and a drawing on it.
    assert shot.getpixel((10, 100)) == pytest.approx((251, 245, 232), abs=12)
    assert len(shot.getcolors(1 << 24) or ()) > 50


async def test_old_link_to_the_chat_still_works(playground: OpenPlayground, browser: Browser) -> None:
    page = await open_page(browser, f"{playground.url}#key=abc")
    await page.wait_for_url(f"{playground.chat_url}#key=abc")


async def test_chat_button_fills_in_the_command(playground: OpenPlayground, browser: Browser) -> None:
    page = await open_page(browser, playground.chat_url)
    await page.locator("#chats button", has_text="Buongioco").click()
    await page.click("#begin")
    await expect(page.locator("#messages")).to_contain_text("Join")
    await expect(page.locator("#chats [aria-selected=true]")).to_contain_text("Bar Sport")


async def test_chat_keys_copy_a_code_and_reply_to_a_message(playground: OpenPlayground, browser: Browser) -> None:
    page = await open_page(browser, playground.chat_url)
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await playground.playground.chat_store.send("1", Panel((Span("Table "), Span("K7K7K7", "code"))), "key")
    await page.locator("#chats button", has_text="Bar Sport").click()
    await page.locator("#messages").get_by_role("button", name="K7K7K7").press("Enter")
    assert await page.evaluate("navigator.clipboard.readText()") == "K7K7K7"
    await page.locator("#messages").get_by_role("button", name="Buongioco").press("Enter")
    await expect(page.locator("#replying")).to_be_visible()


async def test_edited_chat_message_keeps_the_focus(playground: OpenPlayground, browser: Browser) -> None:
    def question(*labels: str) -> Panel:
        return Panel((Span("Which one?"),), (tuple(Button(label, f"1{label}") for label in labels),))

    page = await open_page(browser, playground.chat_url)
    chat = playground.playground.chat_store
    number = await chat.send("1", question("one", "two"), "key")
    await page.locator("#chats button", has_text="Bar Sport").click()
    await page.keyboard.press("Tab")
    await page.locator("#messages").get_by_role("button", name="two").focus()
    for labels, focused in ((("new", "two"), "two"), (("three", "four"), "three")):
        await chat.edit("1", number, question(*labels))
        await expect(page.locator("#messages").get_by_role("button", name=labels[0])).to_be_visible()
        await expect(page.locator("#messages").get_by_role("button", name=focused)).to_be_focused()


async def has_light(page: Page, selector: str) -> bool:
    """Return whether a screenshot of the element has light pixels. The page must not be changing."""
    shot = Image.open(io.BytesIO(await page.locator(selector).first.screenshot())).convert("L")
    return max(shot.tobytes()) > 200


async def test_black_suit_signs_are_light_on_dark_pages(playground: OpenPlayground, browser: Browser) -> None:
    page = await (await browser.new_context(color_scheme="dark", locale="en-GB")).new_page()
    await page.goto(playground.chat_url)
    panel = Panel((Span("2♣️ and "), Span("7♠️", "bold")), ((Button("A♠️", "1a"),),))
    await playground.playground.chat_store.send("1", panel, "key")
    await page.locator("#chats button", has_text="Bar Sport").click()
    await expect(page.locator(".bubble")).to_contain_text("2♣️ and 7♠️")
    for selector in (".bubble span > .sign", ".bubble b > .sign", ".row .sign"):
        assert await has_light(page, selector)
    await page.goto(playground.url)
    await page.check("[name=game][value=spades]")
    await page.get_by_role("button", name="Play now").click()
    await page.wait_for_selector(".felt")
    # No sign is visible before the reader has a card. Between the reader's turns the page can change at any moment.
    await wait_for_turn(page)
    while not await page.locator(".menu .sign").count():
        async with expect_change(page):
            await page.locator("#table > .buttons:not(.spare) button, .fan .tap.playable").first.click()
        await wait_for_turn(page)
    await page.locator(".opens-menu").click()
    await page.get_by_role("dialog").get_by_text("In words").click()
    assert await has_light(page, ".menu .sign")
    puzzle = next(puzzle for puzzle in all_puzzles().values() if puzzle.game == "spades")
    await page.goto(f"{playground.url}puzzle?id={puzzle.id}")
    await page.locator(".fan .tap:enabled").first.click()
    # The answer opens another page.
    await expect(page.locator(".fan .tap:enabled")).to_have_count(0)
    assert await has_light(page, ".figures .sign")


@pytest.mark.parametrize("size", ["phone", "desktop"])
async def test_leaderboard_fits_and_shows_the_chosen_filters(
    playground: OpenPlayground, browser: Browser, size: str
) -> None:
    await store_rated_games(playground.worker, count=30)
    page = await open_page(browser, f"{playground.url}leaderboard", size)
    await expect(page.locator(".board li")).to_have_count(3)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # A choice made by keys changes the page only once the button is pressed.
    await page.locator("[name=game]").press("End")
    await expect(page.locator(".board li")).to_have_count(3)
    await page.select_option("[name=game]", "spades")
    await page.get_by_role("button", name="Show").click()
    await page.wait_for_url("**/leaderboard?game=spades&period=all")
    await expect(page.locator(".board li")).to_have_count(0)
    await page.go_back()
    await page.locator(".board a").first.click()
    await expect(page.locator(".curve circle")).to_have_count(20)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_player_waiting_for_a_friend_can_share_the_link(playground: OpenPlayground, browser: Browser) -> None:
    page = await open_page(browser, playground.url)
    await page.add_init_script("navigator.share = async (data) => { document.title = data.url; };")
    await page.get_by_role("button", name="Play with a friend").click()
    await page.get_by_role("button", name="Share").click()
    code = page.url.rpartition("/")[2]
    await expect(page).to_have_title(f"{playground.url}t/{code}")
    await expect(page.locator(".link input")).to_have_value(f"{playground.url}t/{code}")
    # Commands are for chats, so the page does not mention them.
    await expect(page.locator(".words").last).to_contain_text("Send the link to a friend, or add a robot.")
    await expect(page.locator("#table")).not_to_contain_text("/join")
    await page.locator(".opens-menu").click()
    await page.locator(".menu").get_by_role("link", name="Rules").click()
    await expect(page.locator("h1")).to_have_text("Metà Mazzo")


@pytest.mark.parametrize("size", ["phone", "desktop"])
async def test_chat_link_opens_the_hand_and_clears_the_address(
    playground: OpenPlayground, browser: Browser, size: str
) -> None:
    chat = Chat(playground, ANNA)
    code = await chat.practice()
    address = link_address(await chat.press(f"1t{code}:browser"))
    page = await open_page(browser, address, size)
    enter = page.get_by_role("button", name="Open my cards")
    await expect(enter).to_be_visible()
    assert page.url == f"{playground.url}in?t={code}"
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await enter.click()
    await page.wait_for_url(f"**/t/{code}")
    await expect(page.get_by_role("group", name="Your hand")).to_be_visible()
    await page.goto(playground.url)
    await expect(page.locator("main")).to_contain_text("You play here as Anna.")
    await page.get_by_role("button", name="Not in this browser any more").click()
    await expect(page.locator("main")).not_to_contain_text("You play here")
    # The secret of the address is not in the history either.
    await page.goto(f"{playground.url}in")
    await expect(page.get_by_role("alert")).to_be_visible()
    await expect(enter).to_be_hidden()


async def test_pages_work_in_a_frame_without_storage(playground: OpenPlayground, browser: Browser) -> None:
    game = await add_game(playground)
    _code, watch_id = await open_table(playground)
    page = await open_page(browser, playground.url)
    refuse = "get() { throw new DOMException('no storage here', 'SecurityError'); }"
    for storage in ("localStorage", "sessionStorage"):
        await page.add_init_script(f"Object.defineProperty(window, '{storage}', {{ {refuse} }});")
    for path in (f"g/{game.id}", f"t/{watch_id}"):
        await page.goto(playground.url + path)
        await expect(page.locator(".position")).to_be_visible()
        await page.locator(".deals select").last.select_option("french")
    await page.goto(playground.url)
    await page.check("[name=game][value=testa]")
    await expect(page.locator("#rules")).to_have_attribute("href", "/rules/testa")
    await page.get_by_role("button", name="Play now").click()
    await expect(page.get_by_role("group", name="Your hand")).to_be_visible()
    await page.get_by_role("button", name="Sounds").click()
    await expect(page.get_by_role("button", name="Sounds")).to_have_attribute("aria-pressed", "false")
    await page.locator(".opens-menu").click()
    await page.get_by_label("Sort my cards").select_option("rank")
    await expect(page.get_by_label("Sort my cards")).to_have_value("rank")
