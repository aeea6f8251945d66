"""Draw the messages of docs/writing-texts.md, before and after: `python -m tests.e2e.text_pictures`.

A new bot with an embedded store plays games with fixed cards. The messages before are in `docs/pictures/texts/before`.
"""

import asyncio
import io
from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from random import Random

from PIL import Image
from playwright.async_api import Browser, Page

from bot.features.analysis.feature import AnalysisFeature
from bot.features.daily.feature import DailyFeature
from bot.features.daily.keys import CHAIN
from bot.features.daily.secret_chain import Chain
from bot.features.puzzles.feature import PuzzlesFeature
from bot.store.entries import Rule
from bot.store.keys import SECRET
from bot.tables.errors import NoSuchTable
from bot.tables.table import Table
from tests.e2e.readme_pictures import PICTURES, open_chat, open_product, small_png
from tests.e2e.shots import GROUP, Shooter, is_in_play
from tests.open_playground import OpenPlayground

TEXTS = PICTURES / "texts"
GAP = 36  # between before and after, in pixels
PEOPLE = ("Anna", "Bruno", "Carla", "Dino", "Elena")  # the playground numbers them from 1
DAY, PUZZLE = date(2026, 11, 27), "03945509"  # the deal of the day and the puzzle of the messages before

STEPS = {
    "first-contact": ("@5", "/start"),
    "which-game": ("@5", "Play a robot"),
    "help": ("@1", "/help"),
    "private-challenge": ("@1", "/challenge metamazzo"),
    "find": ("@2", "/find metamazzo"),
    "puzzle": ("@3", "/puzzle tressette", "R🏆"),
    "group-challenge": ("1", "/challenge metamazzo"),
    "tournament": ("1", "/tournament metamazzo"),
    "refusal": ("@1", "/join ABCDEF"),
}
"""Messages that need no game: the chat, and what is written or pressed there. The order matters."""


class Chats:
    """The playground's page, on which any person writes, presses and plays."""

    def __init__(self, site: OpenPlayground, page: Page) -> None:
        self.worker, self.page = site.worker, page
        self.shooter = Shooter(site, page, "en", Namespace(moments=[]))

    async def open(self, chat: str) -> None:
        """Show a group as Anna, or a person's private chat."""
        await self.page.evaluate(
            "chat => { state.chat = chat; state.me = chat.startsWith('@') ? chat.slice(1) : '1'; draw(); }", chat
        )
        await self.worker.wait_until_idle()
        await self.shooter.wait_until_drawn()

    async def do(self, chat: str, *steps: str) -> None:
        """Write commands, and press buttons of the last message by their labels."""
        for step in steps:
            await self.open(chat)
            if step.startswith("/"):
                await self.page.evaluate("text => ask({ do: 'say', chat: state.chat, text, reply_to: null })", step)
            else:
                await self.page.locator(".message").last.get_by_role("button", name=step, exact=True).click()

    async def shoot(self, chat: str, text: str = "") -> bytes:
        """Take a screenshot of the bot's last message with this text."""
        await self.open(chat)
        await self.page.mouse.move(0, 0)  # no button is under the mouse
        await self.page.locator(".message.bot:last-child").wait_for()
        return await self.page.locator(".message.bot", has_text=text).last.screenshot()

    async def seat(self, game: str, target: int, seats: int) -> str:
        """Seat the first people at a table of the group; return its code."""
        self.shooter.random, self.worker.room.new_secret = Random(17), Random(18).randbytes  # fixed cards and moves
        challenges, update = self.worker.challenges, self.shooter.make_update_id
        rules = [Rule("target", target)]
        table = await challenges.open_table(game, "playground:1", PEOPLE[0], update(), host=GROUP, setup=rules)
        for number in range(2, seats + 1):
            await challenges.sit(table.code, f"playground:{number}", PEOPLE[number - 1], update())
        return table.code


def is_turn(table: Table, person: str) -> bool:
    return table.game is not None and table.game.turn == table.seat_of(person)


def is_annas_turn(table: Table, tricks: int, cards: int) -> bool:
    return is_in_play(tricks, cards)(table) and is_turn(table, "playground:1")


async def draw_steps(chats: Chats) -> AsyncIterator[tuple[str, bytes]]:
    await chats.worker.feature(PuzzlesFeature).puzzles.ratings.set_next_id("playground:3", PUZZLE)
    for name, (chat, *steps) in STEPS.items():
        await chats.do(chat, *steps)
        yield name, await (chats.page.locator(".toast").screenshot() if name == "refusal" else chats.shoot(chat))


async def draw_games(chats: Chats) -> AsyncIterator[tuple[str, bytes]]:
    code = await chats.seat("metamazzo", 21, 2)
    await chats.shooter.play(code, lambda table: is_annas_turn(table, 10, 1))
    yield "board", await chats.shoot("1")
    yield "hand", await chats.shoot("@1")
    await chats.shooter.play(code, lambda table: bool(table.game and table.game.deal_number > 1))
    yield "deal-result", await chats.shoot("1", "points in tricks")
    await chats.shooter.play(code, lambda _table: False)
    await chats.worker.wait_until_idle()
    yield "end-in-private", await chats.shoot("@1")
    await chats.worker.feature(AnalysisFeature).completion.wait()
    await chats.worker.delivery.answers.tasks.wait()
    yield "game-result", await chats.shoot("1")
    code = await chats.seat("tressette", 21, 4)
    await chats.shooter.play(code, lambda table: is_annas_turn(table, 3, 0))
    yield "hand-buttons", await chats.shoot("@1")


async def draw_day(chats: Chats) -> AsyncIterator[tuple[str, bytes]]:
    worker = chats.worker
    worker.host_time.today = lambda: DAY  # type: ignore[method-assign]
    await worker.store.client.set(CHAIN, Chain(bytes(32), DAY).to_text())
    await chats.do("@2", "/daily", "Play")
    await chats.open("@2")
    days = worker.feature(DailyFeature).days
    table = await days.table_in_play("playground:2", DAY)
    assert table
    with suppress(NoSuchTable):  # the table is removed once its result is shown
        while table.phase == "playing":
            await asyncio.sleep(0.05)  # robots play
            table = await chats.shooter.play(table.code, lambda table: not is_turn(table, "playground:2"))
    await days.wait_for_par()
    await chats.do("@2", "🏆 Today’s results")
    yield "daily", await chats.shoot("@2")


async def draw_all(browser: Browser, site: OpenPlayground) -> AsyncIterator[tuple[str, bytes]]:
    """Draw the messages as they are now, by name."""
    await site.worker.store.client.set(SECRET, bytes(32))  # fixed codes of tables
    for name in PEOPLE[2:]:
        await site.playground.chat_store.add_person(name)
    for number, name in enumerate(PEOPLE, 1):
        await site.worker.people.update_person(f"playground:{number}", language="en", name=name, pictures="0")
    await site.worker.people.update_chat(GROUP, language="en", pictures="0")
    await site.worker.people.update_person("playground:2", nickname="Re 587")
    chats = Chats(site, await open_chat(browser, site, scale=1))
    for draw in (draw_games, draw_day, draw_steps):
        async for name, after in draw(chats):
            yield name, after


def join(before: Path, after: bytes) -> bytes:
    """Put two messages side by side."""
    left, right = (Image.open(source).convert("RGB") for source in (before, io.BytesIO(after)))
    both = Image.new("RGB", (left.width + GAP + right.width, max(left.height, right.height)), "white")
    both.paste(left)
    both.paste(right, (left.width + GAP, 0))
    joined = io.BytesIO()
    both.save(joined, "PNG")
    return small_png(joined.getvalue())


async def main() -> None:
    async with open_product() as (browser, site):
        async for name, after in draw_all(browser, site):
            (TEXTS / f"{name}.png").write_bytes(join(TEXTS / "before" / f"{name}.png", after))


if __name__ == "__main__":
    asyncio.run(main())
