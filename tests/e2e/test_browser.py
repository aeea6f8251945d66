"""People play in a real browser, from a challenge to the end, with the buttons they see."""

import os
import re
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random

import pytest
from playwright.async_api import Browser, Dialog, Locator, Page, expect
from playwright.async_api import TimeoutError as PlaywrightTimeout

from bot.actions import is_page
from tests.browser import ONE_BROWSER, PHONE, expose_chat
from tests.open_playground import OpenPlayground

pytestmark = ONE_BROWSER

SHOTS = os.environ.get("BUONGIOCO_SHOTS")
"""Optional folder for screenshots."""


class Tab:
    """An open page that acts as one person."""

    def __init__(self, page: Page, person: str) -> None:
        self.page, self.person = page, person

    @classmethod
    async def open(cls, browser: Browser, playground: OpenPlayground, person: str) -> "Tab":
        context = await browser.new_context(viewport=PHONE, locale="en-GB")  # type: ignore[arg-type]
        page = await context.new_page()
        page.on("pageerror", lambda error: pytest.fail(f"the page failed: {error}"))
        await expose_chat(page)
        await page.goto(playground.chat_url)
        tab = cls(page, person)
        await tab.act_as(person)
        return tab

    async def act_as(self, person: str) -> None:
        self.person = person
        await self.page.get_by_role("tab", name=person, exact=False).first.click()

    async def open_group(self) -> None:
        await self.page.locator("#chats button", has_text="Bar Sport").click()

    async def open_private_chat(self) -> None:
        await self.page.locator("#chats button", has_text="Buongioco").click()

    async def say(self, text: str) -> None:
        await self.page.fill("#text", text)
        await self.page.press("#text", "Enter")

    def button(self, label: str) -> Locator:
        return self.page.locator(".row button", has_text=label).last

    async def press(self, label: str) -> None:
        await self.button(label).click()

    async def expect_text(self, text: str) -> None:
        await expect(self.page.locator("#messages")).to_contain_text(text)

    async def expect_picture(self) -> None:
        picture = self.page.locator(".message img.picture").last
        await expect(picture).to_have_js_property("naturalWidth", 720)
        await expect(picture).to_have_attribute("alt", re.compile("picture of the table"))

    async def wait_for_answers(self) -> None:
        """Wait until the bot has answered all presses of this page."""
        await expect(self.page.locator("[aria-busy]")).to_have_count(0)

    async def catch_up(self) -> None:
        """Wait for all messages that the bot has sent. The answer to a further request arrives after them."""
        await self.page.evaluate("() => ask({ do: 'nonsense' })")

    async def take_screenshot(self, name: str) -> None:
        if SHOTS:
            Path(SHOTS).mkdir(parents=True, exist_ok=True)
            await self.page.screenshot(path=str(Path(SHOTS) / f"{name}.png"))

    async def play(self, random: Random) -> bool:
        """Press a random button that makes a move. Return False if there is none."""
        buttons = self.page.locator(".message:last-child .row button[data-payload^='1']:not([aria-busy])")
        payloads = await buttons.evaluate_all("nodes => nodes.map(n => n.dataset.payload)")
        bids = [payload for payload in payloads if ":bid " in payload]
        payloads = [bid for bid in bids if bid.endswith(("bid 4", "bid 5"))] or payloads
        payloads = [
            payload
            for payload in payloads
            if not is_page(payload) and not payload.endswith(("blind", "claim", ":browser"))
        ]
        if not payloads:
            return False
        chosen_payload = random.choice(payloads)
        # Find and click in one step in the page, because the panel can change in between.
        await self.page.evaluate(
            "p => { const b = [...document.querySelectorAll('.row button')].find(n => n.dataset.payload === p); b && b.click(); }",
            chosen_payload,
        )
        return True


def board_at_trick(watcher: Tab, min_tricks: int) -> Locator:
    """Return a locator of a board after this many tricks or more. A slow page can skip some tricks."""
    counts = [
        f"{first_points}, \\S+ {second_points}"
        for first_points in range(21)
        for second_points in range(21)
        if first_points + second_points >= min_tricks
    ]
    return watcher.page.locator(".message", has_text=re.compile(rf"Tricks: \S+ ({'|'.join(counts)})\b"))


async def play_until(tabs: list[Tab], random: Random, condition: Locator, max_rounds: int = 1500) -> None:
    for _ in range(max_rounds):
        if await condition.count():
            return
        for tab in tabs:
            await tab.play(random)
        await tabs[0].page.wait_for_timeout(15)
    raise AssertionError(f"no message appeared in {max_rounds} rounds of moves")


@pytest.mark.long
@pytest.mark.parametrize("game", ["spizzichino", "metamazzo"])
async def test_two_people_play_a_whole_deal(playground: OpenPlayground, browser: Browser, game: str) -> None:
    anna = await Tab.open(browser, playground, "Anna")
    bruno = await Tab.open(browser, playground, "Bruno")
    watcher = await Tab.open(browser, playground, "Anna")
    await anna.say(f"/challenge {game}")
    await anna.expect_text("Anna")
    await bruno.press("Join")
    await watcher.expect_text("👁 Watch")
    await watcher.take_screenshot(f"{game}-begins")
    for tab in (anna, bruno):
        await tab.open_private_chat()
        await tab.expect_text("deal 1")
    random = Random(game)
    await anna.expect_picture()
    await anna.take_screenshot(f"{game}-first-hand")
    trick = board_at_trick(watcher, 5)
    await play_until([anna, bruno], random, trick)
    await watcher.take_screenshot(f"{game}-board")
    await anna.take_screenshot(f"{game}-hand")
    await play_until([anna, bruno], random, watcher.page.locator(".message", has_text="Deal 1: "))
    await watcher.take_screenshot(f"{game}-deal-over")
    await anna.expect_text("deal 2")
    await anna.take_screenshot(f"{game}-second-deal")


@pytest.mark.long
async def test_spades_can_be_played_against_a_robot(playground: OpenPlayground, browser: Browser) -> None:
    anna = await Tab.open(browser, playground, "Anna")
    watcher = await Tab.open(browser, playground, "Anna")
    await anna.say("/challenge spades")
    await anna.press("Change")
    await anna.press("to 200")
    await anna.press("Done")
    await anna.press("Add robot")
    await anna.press("🤖 Medium")
    await anna.open_private_chat()
    await anna.expect_text("deal 1")
    await anna.take_screenshot("spades-draft")
    random = Random(5)
    await play_until([anna], random, anna.page.locator(".message", has_text="Bids:"))
    await anna.take_screenshot("spades-hand")
    await play_until([anna], random, watcher.page.locator(".message", has_text="Rematch"), max_rounds=8000)
    await watcher.expect_text("beats")
    await watcher.take_screenshot("spades-over")


async def accept_dialog(name: str, dialog: Dialog) -> None:
    await dialog.accept(name)


@pytest.mark.long
async def test_partner_is_refused_at_a_tavolo_table(playground: OpenPlayground, browser: Browser) -> None:
    anna = await Tab.open(browser, playground, "Anna")
    for name in ("Carla", "Dino", "Elsa"):
        anna.page.once("dialog", partial(accept_dialog, name))
        await anna.page.click("#add-person")
        await expect(anna.page.locator("#people button", has_text=name)).to_be_visible()
    await anna.act_as("Anna")
    await anna.open_group()
    await anna.say("/challenge tavolo")
    others_tab = await Tab.open(browser, playground, "Bruno")
    await others_tab.press("Sit North")
    await anna.open_private_chat()
    await anna.expect_text("asks to sit opposite you")
    await anna.take_screenshot("tavolo-asked")
    await anna.press("Refuse")
    await others_tab.expect_text("1 refusal of 3")
    await others_tab.act_as("Carla")
    await others_tab.press("Sit North")
    await anna.press("Accept")
    await others_tab.act_as("Dino")
    await others_tab.press("Sit East")
    await others_tab.act_as("Elsa")
    await others_tab.press("Sit West")
    await others_tab.take_screenshot("tavolo-card")
    await others_tab.act_as("Dino")
    await others_tab.open_private_chat()
    await others_tab.expect_text("Elsa\u2069 asks to sit opposite you")
    await others_tab.press("Accept")
    await others_tab.expect_text("deal 1")
    await anna.expect_text("deal 1")
    await anna.take_screenshot("tavolo-hand")


@pytest.mark.long
async def test_group_message_offers_to_open_a_closed_private_chat(playground: OpenPlayground, browser: Browser) -> None:
    anna = await Tab.open(browser, playground, "Anna")
    bruno = await Tab.open(browser, playground, "Bruno")
    await bruno.page.check("#closed")
    await anna.say("/challenge testa")
    await bruno.press("Join")
    await bruno.expect_text("I can’t write to you")
    await bruno.take_screenshot("closed")
    await bruno.press("My hand")
    await bruno.expect_text("Testa a Testa · ")
    await expect(bruno.page.locator("#closed")).not_to_be_checked()


@pytest.mark.long
async def test_reload_and_bot_restart_lose_nothing(playground: OpenPlayground, browser: Browser) -> None:
    anna = await Tab.open(browser, playground, "Anna")
    bruno = await Tab.open(browser, playground, "Bruno")
    await anna.say("/challenge metamazzo")
    await bruno.press("Join")
    watcher = await Tab.open(browser, playground, "Anna")
    await watcher.expect_text("👁 Watch")
    for tab in (anna, bruno):
        await tab.open_private_chat()
        await tab.expect_text("deal 1")
    await anna.expect_picture()
    random = Random(9)
    await play_until([anna, bruno], random, board_at_trick(watcher, 2))
    for tab in (anna, bruno):
        await tab.wait_for_answers()
    await playground.worker.wait_until_idle()
    await anna.catch_up()
    before = await anna.page.locator(".message").last.inner_text()
    await anna.page.reload()
    await anna.expect_text("deal 1")
    assert await anna.page.locator(".message").last.inner_text() == before
    await playground.stop()
    await expect(anna.page.locator("#offline")).to_be_visible()
    await playground.start()
    await expect(anna.page.locator("#offline")).to_be_hidden()
    await expect(bruno.page.locator("#offline")).to_be_hidden()
    assert await anna.page.locator(".message").last.inner_text() == before
    await play_until([anna, bruno], random, board_at_trick(watcher, 5))
    await anna.say("/resign")
    await anna.press("Yes, I resign")
    await watcher.expect_text("🏆 \u2068Bruno\u2069 wins: \u2068Anna\u2069 resigned")


@pytest.mark.long
async def test_commands_are_completed_and_answered(playground: OpenPlayground, browser: Browser) -> None:
    anna = await Tab.open(browser, playground, "Anna")
    await anna.page.fill("#text", "/ch")
    await anna.page.press("#text", "Tab")
    assert await anna.page.input_value("#text") == "/challenge "
    await anna.page.fill("#text", "/challenge piz")
    await anna.page.press("#text", "Tab")
    assert await anna.page.input_value("#text") == "/challenge pizzichino"
    await anna.page.fill("#text", "")
    await anna.say("/leaderboard")
    await anna.expect_text("Nobody is ranked yet")
    await anna.press("Spades")
    await anna.expect_text("Spades")
    await anna.take_screenshot("leaderboard")
    await anna.say("/rules metamazzo")
    await anna.expect_text("twenty in the stock")
    await anna.take_screenshot("rules")
    await anna.say("/help")
    await anna.expect_text("play a friend or a robot")
    await anna.say("/nonsense")
    await expect(anna.page.locator(".toast")).to_contain_text("I don’t know /nonsense")


@pytest.mark.long
async def test_practice_offers_a_hint_and_a_review(playground: OpenPlayground, browser: Browser) -> None:
    anna = await Tab.open(browser, playground, "Anna")
    await anna.say("/challenge testa")
    await anna.press("Add robot")
    await anna.press("🤖 Strong")
    await anna.expect_text("👁 Watch")
    await anna.open_private_chat()
    await anna.expect_text("Your turn.")
    await anna.take_screenshot("practice-hand")
    hint = anna.page.locator(".message", has_text=re.compile("💡 (Play|Declare) "))
    for _ in range(35):
        # Robots ask for a moment if their searches are not compiled yet.
        if await anna.button("Hint").count():
            await anna.press("Hint")
        if await hint.count():
            break
        await anna.page.wait_for_timeout(3000)
    await expect(hint).to_be_visible()
    await anna.take_screenshot("practice-hint")
    # Play some cards for the review, then resign.
    random = Random(1)
    for _ in range(400):
        await anna.play(random)
        await anna.page.wait_for_timeout(15)
        if await anna.page.locator(".message", has_text="2 cards in the stock").count():
            break
    await anna.say("/resign")
    await anna.press("Yes, I resign")
    await anna.expect_text("You lose: you resigned.")
    await anna.open_group()
    await anna.press("Analysis")
    await anna.open_private_chat()
    for _ in range(60):
        if await anna.page.locator(".message", has_text="decisions").count():
            break
        refresh = anna.button("Refresh")
        if await refresh.count():
            # The button can disappear before the click, because its result has appeared.
            with suppress(PlaywrightTimeout):
                await refresh.click(timeout=2_000)
        await anna.page.wait_for_timeout(500)
    await anna.expect_text("decisions")
    await anna.expect_text("▰")
    await anna.take_screenshot("practice-analysis")
