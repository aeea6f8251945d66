"""Adapters use only `CardRoom` and a short list of modules of the bot."""

import ast
import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from adapters.discord import make as discord
from adapters.telegram import make as telegram
from adapters.web import make as web
from adapters.web.playground.adapter import Playground
from adapters.web.playground.requests import Say
from bot.card_room import CardRoom
from bot.command_names import ArgumentKind
from bot.feature import Feature
from bot.handlers.live_hands import LiveHands
from bot.handlers.lobby import Lobby
from bot.handlers.program_tables import ProgramTables
from bot.panel import Panel
from bot.panel_picture import Subject
from bot.platform import Adapter, Command, Offer, OfferList, Person, Press, Reply, Suggestion
from bot.presence import Presence
from bot.settings import Settings
from bot.site.game_reader import GameReader
from bot.site.mini_app import MiniApp
from bot.site.watching import Watching
from bot.site.what_if import WhatIf
from bot.store import Store
from tests.discord.players import Person as DiscordPerson
from tests.discord.server import BAR, CHANNEL, DiscordServer
from tests.discord.server import TOKEN as DISCORD_TOKEN
from tests.paths import DOCS, ROOT
from tests.telegram.players import GROUP, until
from tests.telegram.players import Person as TelegramPerson
from tests.telegram.server import TOKEN as TELEGRAM_TOKEN
from tests.telegram.server import TelegramServer

ALLOWED_IMPORTS = {
    "bot.http.addresses",
    "bot.concurrency.background",
    "bot.concurrency.backoff",
    "bot.card_room",
    "bot.command_names",
    "bot.http.connections",
    "bot.metrics",
    "bot.version",
    "engine.shuffle",
    "bot.tables.clock",
    "bot.features.daily.feature",
    "bot.features.find.feature",
    "bot.features.learn.feature",
    "bot.features.learn.lesson",
    "bot.features.puzzles.feature",
    "bot.features.ratings.feature",
    "bot.features.ratings.players",
    "bot.features.settings.feature",
    "bot.features.tournaments.feature",
    "bot.site.game_reader",
    "bot.site.host_link",
    "bot.site.idempotency",
    "bot.site.mini_app",
    "bot.identity.names",
    "bot.site.api_models",
    "bot.form",
    "bot.panel",
    "bot.words.rules",
    "bot.words.safety",
    "bot.words.wording",
    "bot.panel_picture",
    "bot.pictures.scene",
    "bot.pictures.app_icon",
    "bot.days.chosen_hours",
    "bot.features.web_push.feature",
    "bot.features.web_push.subscriptions",
    "bot.notification",
    "bot.pictures.cards",
    "bot.pictures.colours",
    "bot.pictures.links",
    "bot.actions",
    "bot.parsing.codes_and_links",
    "bot.parsing.plain_text",
    "bot.places",
    "bot.platform",
    "bot.identity.adapter_data",
    "bot.http.bodies",
    "bot.http.proxies",
    "bot.rate_limiter",
    "bot.robots.pace",
    "bot.http.server",
    "bot.site.sessions",
    "bot.settings",
    "bot.identity.pseudonyms",
    "bot.store",
    "bot.texts",
    "bot.identity.programs",
    "bot.features.duels.feature",
    "bot.features.duels.site",
    "bot.features.open_tables.feature",
    "bot.features.opponents.feature",
    "bot.site.watching",
    "bot.site.what_if",
    "bot.running.monitoring",
}
# docs/adapters.md describes each of these modules.

ALLOWED_STORE_NAMES = {"STORE_ERRORS", "WorkDropped", "WorkFailed"}


def list_imports(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the modules that a file imports, each with the imported name (empty for a whole module)."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                is_module = (ROOT / (node.module or "").replace(".", "/") / f"{alias.name}.py").exists()
                yield (f"{node.module}.{alias.name}", "") if is_module else (node.module or "", alias.name)


def test_adapters_import_only_allowed_modules() -> None:
    files = sorted((ROOT / "adapters").rglob("*.py"))
    assert len(files) > 30
    for file in files:
        imports = [(module, name) for module, name in list_imports(file) if module.split(".")[0] in ("bot", "engine")]
        path = file.relative_to(ROOT)
        forbidden = sorted({module for module, _ in imports} - ALLOWED_IMPORTS)
        assert not forbidden, (
            f"{path} imports {forbidden}: use CardRoom, or add them to ALLOWED here and to docs/adapters.md"
        )
        names = {name for module, name in imports if module == "bot.store"} - ALLOWED_STORE_NAMES
        assert not names, f"{path} imports {sorted(names)} from bot.store, which adapters must not use"


def test_docs_list_all_adapter_imports_and_card_room_methods() -> None:
    page = (DOCS / "adapters.md").read_text(encoding="utf-8")
    members = [name for name in vars(CardRoom) if not name.startswith("_")]
    assert len(members) > 10
    missing = [name for name in (*members, *sorted(ALLOWED_IMPORTS)) if f"`{name}`" not in page]
    assert not missing, f"docs/adapters.md does not describe {missing}"
    undocumented = [name for name in members if not getattr(CardRoom, name).__doc__]
    assert not undocumented, f"bot/card_room.py: CardRoom.{undocumented[0]} has no docstring"


F = TypeVar("F", bound=Feature)


class Parrot:
    """A card room without a bot: it echoes every command."""

    worker_count = 1

    def __init__(self, settings: Settings, redis: Any) -> None:
        self.settings, self.redis = settings, redis
        self.commands: list[Command] = []

    @property
    def games(self) -> GameReader:
        raise AssertionError("no game is finished")

    @property
    def what_if(self) -> WhatIf:
        raise AssertionError("no game is finished")

    def feature(self, kind: type[F]) -> F:
        raise AssertionError("there are no features")

    @property
    def lobby(self) -> Lobby:
        raise AssertionError("nobody plays on a page")

    @property
    def watching(self) -> Watching:
        raise AssertionError("nobody watches")

    @property
    def presence(self) -> Presence:
        raise AssertionError("it has no pages")

    @property
    def program_tables(self) -> ProgramTables:
        raise AssertionError("no program plays")

    @property
    def live_hands(self) -> LiveHands:
        raise AssertionError("nobody plays on a page")

    async def paint(self, subject: Subject) -> bytes:
        raise AssertionError("nobody shares a link")

    async def handle_command(self, command: Command) -> Reply:
        self.commands.append(command)
        return Reply(toast=f"You said {command.word}.")

    async def handle_press(self, press: Press) -> Reply:
        return Reply(toast=f"You pressed {press.payload}.")

    async def send_hands(self, person: Person, code: str = "") -> None:
        raise AssertionError("no hand is requested")

    async def send_missed_hands(self, person: Person) -> None:
        raise AssertionError("no hand was missed")

    async def suggestions(
        self, kind: ArgumentKind, typed: str, person: Person, place: str, game: str = ""
    ) -> list[Suggestion]:
        return [Suggestion(f"{kind.name} {typed} by {person.name}", "a table")]

    async def offers(self, person: Person, typed: str) -> OfferList:
        return OfferList([])

    async def answer_guest(self, person: Person, typed: str) -> Offer | None:
        return None

    async def note_offer_sent(self, person: Person, offer: str, typed: str, place: str = "") -> None:
        """There are no offers."""

    async def refresh_chat(self, chat: str) -> None:
        """There are no messages to refresh."""

    async def greet_chat(self, chat: str, language: str, name: str) -> Panel | None:
        return None

    async def move_chat(self, old_id: str, new_id: str) -> None:
        raise AssertionError("no chat has moved")

    @property
    def mini_apps(self) -> dict[str, MiniApp]:
        return {}

    async def chat_language(self, place: str) -> str:
        return "en"

    def queue_answer(
        self,
        place: str,
        send: Callable[[], Awaitable[object]],
        *,
        message: str = "",
        on_lost: Callable[[], object] | None = None,
    ) -> bool:
        self.answering = asyncio.ensure_future(send())
        return True

    def report_store_error(self, error: BaseException, language: str = "en") -> str:
        raise error

    def report_platform_outage(self, platform: str, reason: str) -> None:
        raise AssertionError(f"{platform}: {reason}")

    async def check_health(self) -> dict[str, Any]:
        return {"healthy": True}

    async def update_metrics(self) -> None:
        """There are no metrics."""


@asynccontextmanager
async def run_adapter(adapter: Adapter) -> AsyncIterator[None]:
    await adapter.start()
    task = asyncio.create_task(adapter.serve())
    try:
        await until(lambda: adapter.healthy or task.done())
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        await adapter.close()


async def test_telegram_needs_only_a_card_room(store: Store) -> None:
    server = TelegramServer()
    await server.start()
    settings = Settings(_env_file=None, telegram_token=TELEGRAM_TOKEN, telegram_api_url=server.url)
    parrot = Parrot(settings, store.client)
    adapter = telegram(parrot)
    assert adapter
    async with run_adapter(adapter):
        TelegramPerson(server, 1, "Anna").say("/sfida testa")
        await until(
            lambda: [message["text"] for message in server.group(GROUP).messages.values()][1:] == ["You said sfida."]
        )
    await server.stop()
    assert [(command.word, command.words, command.person.id) for command in parrot.commands] == [
        ("sfida", ("testa",), "telegram:1")
    ]


async def test_discord_needs_only_a_card_room(store: Store) -> None:
    server = DiscordServer()
    server.add_channel(CHANNEL, server.add_server(BAR))
    await server.start()
    settings = Settings(_env_file=None, discord_token=DISCORD_TOKEN, discord_api_url=server.url)
    parrot = Parrot(settings, store.client)
    adapter = discord(parrot)
    assert adapter
    async with run_adapter(adapter):
        anna = DiscordPerson(server, 1, "Anna")
        assert await anna.slash("challenge", game="testa", target=21) == "You said challenge."
        assert await anna.complete("join", "table", "k7") == ["OPEN_TABLE k7 by Anna"]
    await server.stop()
    assert [(command.word, command.words, command.person.id) for command in parrot.commands] == [
        ("challenge", ("testa", "21"), "discord:1")
    ]


async def test_playground_needs_only_a_card_room(store: Store) -> None:
    parrot = Parrot(Settings(_env_file=None, playground_port=0), store.client)
    [adapter] = (adapter for adapter in web(parrot) if isinstance(adapter, Playground))
    async with run_adapter(adapter):
        anna = adapter.chat_store.people["1"]
        assert (
            await adapter.server.requests.perform(anna, Say(n="abcd", do="say", chat="1", text="/mano"))
            == "You said mano."
        )
    assert [(command.word, command.person.name) for command in parrot.commands] == [("mano", "Anna")]
