"""People at one table, some on its web page in Chromium and some in chats."""

from functools import partial
from pathlib import Path
from random import Random

import pytest
from playwright.async_api import Browser, Page, expect

from adapters.web import make
from adapters.web.playground.adapter import Playground
from bot.handlers import Dispatcher
from bot.store import EmbeddedStore, open_store
from bot.worker import Worker
from tests.browser import ONE_BROWSER
from tests.discord.players import (
    BAR,
    CHANNEL,
    ObservedDiscord,
    Person,
    buttons_of,
    on_discord,
    seat_people,
    text_of,
    until,
)
from tests.discord.server import DiscordServer
from tests.discord.test_two_platforms import on_both_platforms
from tests.kills.bot_process import free_port
from tests.open_playground import cut_pack
from tests.telegram.players import Person as TelegramPerson

pytestmark = [*ONE_BROWSER, pytest.mark.long]


async def test_page_player_and_discord_player_play_together(tmp_path: Path, browser: Browser) -> None:
    server, valkey, port = DiscordServer(), EmbeddedStore(tmp_path), free_port()
    server.add_channel(CHANNEL, server.add_server(BAR))
    await server.start()
    await valkey.start()
    public = f"http://127.0.0.1:{port}"
    try:
        async with (
            open_store(valkey.url) as store,
            on_discord(store, server, playground_port=port, public_url=public) as adapter,
        ):
            [playground] = [page for page in make(Dispatcher(adapter.worker)) if isinstance(page, Playground)]
            async with playground.site.open():
                await _play_on_page_and_discord(server, adapter, browser)
    finally:
        await valkey.stop()
        await server.stop()


async def test_page_telegram_and_discord_players_play_a_deal(tmp_path: Path, browser: Browser) -> None:
    server, valkey, port = DiscordServer(), EmbeddedStore(tmp_path), free_port()
    server.add_channel(CHANNEL, server.add_server(BAR))
    await server.start()
    await valkey.start()
    public = f"http://127.0.0.1:{port}"
    try:
        async with (
            open_store(valkey.url) as store,
            on_both_platforms(store, server, playground_port=port, public_url=public) as (worker, telegram_server),
        ):
            [playground] = [page for page in make(Dispatcher(worker)) if isinstance(page, Playground)]
            async with playground.site.open():
                anna, bruno = TelegramPerson(telegram_server, 1, "Anna"), Person(server, 2, "Bruno")
                page = await (await browser.new_context(viewport={"width": 360, "height": 640})).new_page()
                await page.goto(public)
                await page.fill("[name=name]", "Carla")
                await page.check("[name=game][value=tressette]")
                await page.get_by_role("button", name="Play with a friend").click()
                code = str(await page.locator(".link input").input_value()).rsplit("/", 1)[1]
                anna.say(f"/join {code}", anna.private)
                await until(lambda: len(list_people(worker, code)) == 2)
                assert "You’re at table" in await bruno.slash("join", table=code)
                await page.get_by_role("button", name="🤖 Easy").click()
                await expect(page.locator(".cut")).to_be_visible()
                await cut_pack(worker, code)
                await _play_a_deal(worker, code, page, anna, bruno)
    finally:
        await valkey.stop()
        await server.stop()


async def _play_a_deal(worker: Worker, code: str, page: Page, anna: TelegramPerson, bruno: Person) -> None:
    """Play a deal on the page and in both chats, and check that all show the same totals."""
    random = Random(1)
    await expect(page.locator(".felt")).to_be_visible()
    while not (table := await worker.room.table(code)).awaits_cut:
        assert table.game
        if table.game.deal_number > 1:
            # On a slow machine the time to cut can be over. The page still shows the count of the first deal.
            break
        turn = table.chairs[table.game.turn] if table.game.turn is not None else None
        if turn and turn.person.startswith("web:"):
            await page.locator(".line.mine").wait_for()
            await page.locator(".fan .tap.playable").first.click()
            # Wait until the bot has made this move. Until then it is still the page's turn.
            await until(partial(has_version_after, table.version, worker, code))
        await anna.play(random)
        await bruno.play(random)
        await worker.wait_until_idle()
    assert table.game
    await expect(page.locator(".tally")).to_be_visible()
    unit = int(table.game.rules.model_dump()["score_unit"])
    totals = [str(total * unit) for total in table.game.totals]
    assert [await page.locator(".side .points").nth(side).inner_text() for side in (0, 1)] == totals
    annas_text = list(anna.private.messages.values())[-1]["text"]
    brunos_text = text_of(list(bruno.private.messages.values())[-1])
    assert [total in text for text in (annas_text, brunos_text) for total in totals] == [True] * 4
    assert {chair.person.split(":")[0] for chair in table.chairs if chair} == {"web", "telegram", "discord", "robot"}


def has_version_after(version: int, worker: Worker, code: str) -> bool:
    table = worker.room.cached_table(code)
    return table is not None and table.version > version


def list_people(worker: Worker, code: str) -> list[str]:
    table = worker.room.cached_table(code)
    return [chair.person for chair in table.chairs if chair] if table else []


async def _play_on_page_and_discord(server: DiscordServer, adapter: ObservedDiscord, browser: Browser) -> None:
    players = await seat_people(server, "metamazzo")
    [table] = await adapter.worker.room.lists.tables_of("discord:1")
    assert table.game
    assert table.game.turn is not None
    mover, opponent = players[table.game.turn], players[1 - table.game.turn]
    await mover.press("In the browser", mover.private)
    await until(lambda: mover.button("Open in the browser", mover.private) is not None)
    button = mover.button("Open in the browser", mover.private)
    assert button
    context = await browser.new_context(viewport={"width": 360, "height": 640}, has_touch=True, locale="en-US")
    page = await context.new_page()
    await page.goto(button[1]["url"])
    assert "#" not in page.url, "the address still has the key"
    await page.get_by_role("button", name="Open my cards").tap()
    card = page.locator(".fan .tap.playable").first
    played_card = str(await card.get_attribute("data-card"))
    assert is_offered(mover, played_card)
    await card.tap()

    def played_cards() -> list[str]:
        current = adapter.worker.room.cached_table(table.code)
        moves = [move for _, move, *_ in current.game.history(0)] if current and current.game else []
        return [move.removeprefix("play ") for move in moves if move.startswith("play ")]

    await until(lambda: played_cards() == [played_card])
    # The hand in Discord is updated, and a card played in Discord updates the page.
    await until(lambda: not is_offered(mover, played_card))
    random = Random(1)
    while len(played_cards()) == 1:
        await opponent.play(random)
    answer = played_cards()[1]
    await expect(page.locator(f"[data-lying='{answer}']").first).to_be_attached()
    await page.reload()
    await expect(page.locator(".fan .tap")).to_have_count(len(read_hand(adapter, table.code, mover)))


def is_offered(person: Person, card: str) -> bool:
    """Return whether the person's hand in Discord has a button that plays the card."""
    buttons = [button for message in person.private.messages.values() for button in buttons_of(message)]
    return any(button.get("custom_id", "").endswith(f":play {card}") for button in buttons)


def read_hand(adapter: ObservedDiscord, code: str, person: Person) -> list[str]:
    table = adapter.worker.room.cached_table(code)
    assert table
    assert table.game
    deal = table.game.view(table.seat_of(f"discord:{person.number}")).deal
    assert deal
    return list(getattr(deal, "hand", ()) or ())
