"""Take screenshots of every game in the playground: `python -m tests.e2e.shots --into FOLDER`.

The files are `LANGUAGE-WINDOW-THEME/GAME-MOMENT.png`. The folder `messages/` next to them has the last message of each.
`--games`, `--languages`, `--windows`, `--themes` and `--moments` select fewer screenshots. `--join FILES` puts pictures
side by side.
"""

import asyncio
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from random import Random

from PIL import Image
from playwright.async_api import Browser, Page

from bot.features.analysis.feature import AnalysisFeature
from bot.store.entries import Rule
from bot.tables.errors import NoSuchTable
from bot.tables.table import Table
from engine import GAMES
from tests.browser import expose_chat, launch_browser
from tests.open_playground import OpenPlayground

GROUP = "playground:1"
WINDOWS = {"phone": (360, 640, 2), "desktop": (1280, 800, 1)}  # width, height and pixels per point

THEMES = ("light", "dark")
LANGUAGES = ("it", "en")
PEOPLE = {1: "Anna", 3: "Maximiliane-Friederike Hohenstein", 4: "Ελένη Παπαδοπούλου", 5: "王小明"}
"""Players by their numbers in the playground, where number 2 is another person.

One name is short and one long. One is in letters of the pictures' font, and one in letters that the font lacks.
"""

TALL_HEIGHT = 2400
MAX_MOVES = 3000
PICTURES_PER_ROW, GAP = 3, 12

Moment = tuple[str, Callable[[Table], bool]]


def has_move(prefix: str) -> Callable[[Table], bool]:
    """Return a condition: a legal move starts with ``prefix``."""
    return lambda table: any(move.startswith(prefix) for move in legal_moves(table))


def legal_moves(table: Table) -> list[str]:
    game = table.game
    return list(game.view(game.turn).moves) if game and game.turn is not None else []


def view_deal(table: Table):  # type: ignore[no-untyped-def]
    assert table.game
    return table.game.view(None).deal


def is_in_play(tricks: int, cards: int) -> Callable[[Table], bool]:
    """Return a condition: at least ``tricks`` tricks were taken, and ``cards`` cards are on the table."""

    def check(table: Table) -> bool:
        deal = view_deal(table)
        return deal.phase == "play" and sum(deal.tricks) >= tricks and len(deal.trick) == cards

    return check


def is_in_phase(name: str) -> Callable[[Table], bool]:
    return lambda table: view_deal(table).phase == name


def moments(game: str) -> list[Moment]:
    """Return the moments of a game in the order of the screenshots."""
    seats = 4 if game in ("tressette", "tavolo") else 2
    before: list[Moment] = {
        "pizzichino": [("take", is_in_phase("take")), ("hold", is_in_phase("hold"))],
        "spizzichino": [("take", is_in_phase("take")), ("hold", is_in_phase("hold"))],
        "spades": [("draft", is_in_phase("draft")), ("drawn", has_move("keep")), ("bid", is_in_phase("bid"))],
    }.get(game, [])
    early: list[Moment] = [("begin", is_in_play(0, 0)), ("answer", is_in_play(2, 1))]
    late: list[Moment] = (
        [("four-lie", is_in_play(3, 3)), ("end", is_in_play(8, 1))] if seats == 4 else [("end", is_in_play(10, 1))]
    )
    declarations: list[Moment] = [] if game == "spades" else [("declare", has_move("declare"))]
    return [*before, *early, *declarations, *late]


class Shooter:
    """A page on which games are played in one language, for screenshots."""

    def __init__(self, playground: OpenPlayground, page: Page, language: str, options: Namespace) -> None:
        self.playground, self.page, self.language, self.options = playground, page, language, options
        self.worker = playground.worker
        self.random = Random(17)
        # All runs show the same cards.
        self.worker.room.new_secret = Random(18).randbytes
        self._updates = count()

    def make_update_id(self) -> str:
        return f"shots:{next(self._updates)}"

    async def set_languages(self) -> None:
        people = self.worker.people
        await people.update_chat(GROUP, language=self.language)
        for number, name in PEOPLE.items():
            await people.update_person(f"playground:{number}", language=self.language, name=name)

    async def wait_until_drawn(self) -> None:
        """Wait until the page shows all messages and pictures."""
        for _ in range(400):
            await asyncio.sleep(0.05)
            if not self.worker.delivery.busy_tables:
                break
        await self.page.wait_for_timeout(150)
        # A picture loads when it scrolls into view.
        await self.page.evaluate(
            "() => document.querySelectorAll('.message img.picture').forEach(i => i.scrollIntoView())"
        )
        for image in await self.page.locator(".message:last-child img.picture").all():
            await image.scroll_into_view_if_needed()
        await self.page.wait_for_function(
            "() => [...document.querySelectorAll('.message:last-child img.picture')].every(i => i.naturalWidth > 1)",
            timeout=20_000,
        )

    async def take_screenshots(self, name: str, person: int | None = None) -> None:
        """Take screenshots of the group, or of a person's private chat, in the chosen windows and themes."""
        if self.options.moments and not any(moment in name for moment in self.options.moments):
            return
        await self.page.evaluate(
            "person => { if (person) { state.me = person; state.chat = '@' + person; } else { state.me = '1'; state.chat = '1'; } draw(); }",
            str(person) if person else None,
        )
        await self.wait_until_drawn()
        for window in self.options.windows:
            width, height, _pixels = WINDOWS[window]
            await self.page.set_viewport_size({"width": width, "height": height})
            for theme in self.options.themes:
                await self.page.emulate_media(color_scheme=theme)
                await self.page.evaluate("() => { drawHeads(); toBottom(); }")
                await self.page.wait_for_timeout(60)
                folder = self.options.into / f"{self.language}-{window}-{theme}"
                (folder / "messages").mkdir(parents=True, exist_ok=True)
                await self.page.screenshot(path=str(folder / f"{name}.png"))
                last = self.page.locator(".message").last
                if await last.count():
                    # Make the window high enough for the whole message.
                    await self.page.set_viewport_size({"width": width, "height": TALL_HEIGHT})
                    await last.screenshot(path=str(folder / "messages" / f"{name}.png"))
                    await self.page.set_viewport_size({"width": width, "height": height})

    # Playing

    async def load_table(self, code: str) -> Table:
        return await self.worker.room.table(code)

    async def play(self, code: str, is_done: Callable[[Table], bool]) -> Table:
        """Play random moves until the condition holds or the game is over."""
        for _ in range(MAX_MOVES):
            table = await self.load_table(code)
            if table.phase != "playing" or not table.game or is_done(table):
                return table
            seat = table.game.turn
            assert seat is not None
            chair = table.chairs[seat]
            assert chair
            moves = [move for move in legal_moves(table) if move not in ("claim", "blind", "resign")]
            bids = [move for move in moves if move in ("bid 4", "bid 5")]
            declared = [move for move in moves if move.startswith("declare")]
            plain = [move for move in moves if not move.endswith(("busso", "volo"))]
            move = self.random.choice(bids or (declared if self.random.random() < 0.7 else []) or plain)
            await self.worker.room.make_move(code, chair.person, table.oldest_panel(seat), move, self.make_update_id())
        raise AssertionError(f"the game did not end in {MAX_MOVES} moves")

    async def shoot_game(self, game: str) -> None:
        seats = 4 if game in ("tressette", "tavolo") else 2
        target = {"metamazzo": 11, "testa": 11, "tavolo": 11, "pizzichino": 21, "spades": 200}.get(game)
        choices = GAMES[game].rules.choices()["target"]
        setup = [Rule("target", target if target in choices else min(choices, key=int))]
        challenges = self.worker.challenges
        table = await challenges.open_table(
            game, "playground:1", PEOPLE[1], self.make_update_id(), host=GROUP, setup=setup
        )
        code = table.code
        await self.take_screenshots(f"{game}-challenge")
        for person in list(PEOPLE)[1:seats]:
            await challenges.sit(code, f"playground:{person}", PEOPLE[person], self.make_update_id())
            table = await self.load_table(code)
            for seat in list(table.asking):
                ruler = table.ruler_of(seat)
                chair = table.chairs[ruler] if ruler is not None else None
                assert chair
                await challenges.answer(code, chair.person, seat, True, self.make_update_id())
        for name, is_reached in moments(game):
            table = await self.play(code, is_reached)
            if table.phase != "playing" or not table.game or table.game.turn is None:
                break
            chair = table.chairs[table.game.turn]
            assert chair
            await self.take_screenshots(f"{game}-{name}", int(chair.person.split(":")[1]))
            if name in ("begin", "answer", "end", "take", "bid"):
                waiting_chair = table.chairs[(table.game.turn + 1) % seats]
                assert waiting_chair
                await self.take_screenshots(f"{game}-{name}-waiting", int(waiting_chair.person.split(":")[1]))
                await self.take_screenshots(f"{game}-{name}-board")
        first = table.game.deal_number if table.game else 1
        table = await self.play(
            code, lambda table: bool(table.game and table.game.deal_number > first and table.game.turn is not None)
        )
        await self.take_screenshots(f"{game}-deal-over-board")
        if table.phase == "playing" and table.game:
            chair = table.chairs[table.game.turn or 0]
            assert chair
            await self.take_screenshots(f"{game}-second-deal", int(chair.person.split(":")[1]))
        with suppress(NoSuchTable):
            # The table is removed as soon as its result is shown.
            await self.play(code, lambda _table: False)
        await self.take_screenshots(f"{game}-result")
        await self.take_screenshots(f"{game}-over", 1)
        if f"{game}-accuracy" in self.options.moments:
            await self.worker.wait_until_idle()
            await self.worker.feature(AnalysisFeature).completion.wait()
            await self.worker.delivery.answers.tasks.wait()
            await self.take_screenshots(f"{game}-accuracy")

    async def say(self, name: str, text: str, person: int | None = None) -> None:
        await self.page.evaluate(
            "([me, chat, text]) => { state.me = me; state.chat = chat; return ask({ do: 'say', chat, text, reply_to: null }); }",
            [str(person or 1), f"@{person}" if person else "1", text],
        )
        await self.take_screenshots(name, person)

    async def shoot_pages(self) -> None:
        for game in self.options.games:
            await self.say(f"page-rules-{game}", f"/rules {game}")
        for command in ("help", "settings", "leaderboard", "stats", "tables", "rules", "rules fair"):
            await self.say(f"page-{command.replace(' ', '-')}", f"/{command}")
        for command in (
            "settings",
            "tables",
            "stats",
            "help",
            "nonsense",
            "challenge briscola",
            "join ABCDEF",
            "resign",
            "mydata",
            "forget",
            "analyse",
        ):
            await self.say(f"private-{command.replace(' ', '-')}", f"/{command}", 1)


@asynccontextmanager
async def open_shooter(browser: Browser, folder: Path, language: str, options: Namespace) -> AsyncIterator[Shooter]:
    """Open a playground with all people, and a page that can act as each of them."""
    playground = OpenPlayground(folder)
    await playground.start()
    store = playground.playground.chat_store
    for name in list(PEOPLE.values())[1:]:
        await store.add_person(name)
    context = await browser.new_context(locale={"it": "it-IT", "en": "en-GB"}[language], device_scale_factor=2)
    page = await context.new_page()
    await expose_chat(page)
    await page.goto(playground.chat_url)
    await page.wait_for_function("() => state.me")
    shooter = Shooter(playground, page, language, options)
    await shooter.set_languages()
    yield shooter
    await context.close()
    await playground.stop()


def join_pictures(files: Sequence[Path], into: Path) -> None:
    """Put pictures side by side, a few in each file."""
    images = [Image.open(path).convert("RGB") for path in files]
    for number, start in enumerate(range(0, len(images), PICTURES_PER_ROW)):
        row = images[start : start + PICTURES_PER_ROW]
        size = sum(image.width + GAP for image in row), max(image.height for image in row)
        joined, x = Image.new("RGB", size, "#888888"), 0
        for image in row:
            joined.paste(image, (x, 0))
            x += image.width + GAP
        joined.save(into / f"sheet-{number:02}.png")


async def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--join", nargs="*", type=Path, help="put these pictures side by side, and take none")
    parser.add_argument("--games", nargs="*", default=list(GAMES))
    parser.add_argument("--languages", nargs="*", default=LANGUAGES)
    parser.add_argument("--windows", nargs="*", default=list(WINDOWS))
    parser.add_argument("--themes", nargs="*", default=THEMES)
    parser.add_argument("--moments", nargs="*", default=[])
    parser.add_argument("--pages", action="store_true", help="also take the pages of commands")
    options = parser.parse_args()
    if options.join:
        join_pictures(options.join, options.into)
        return
    async with launch_browser() as browser:
        for language in options.languages:
            with tempfile.TemporaryDirectory() as folder:
                async with open_shooter(browser, Path(folder), language, options) as shooter:
                    for game in options.games:
                        await shooter.shoot_game(game)
                    if options.pages:
                        await shooter.shoot_pages()


if __name__ == "__main__":
    asyncio.run(main())
