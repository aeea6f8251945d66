"""The interface between the bot and its adapters."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar

from bot.command_names import ArgumentKind
from bot.feature import Feature
from bot.handlers.live_hands import EndedHand, LiveHand, LiveHands
from bot.handlers.lobby import Lobby
from bot.handlers.program_tables import ProgramTables
from bot.panel import Panel
from bot.panel_picture import Subject
from bot.platform import Command, Offer, OfferList, Person, Press, Reply, Suggestion
from bot.presence import Presence
from bot.settings import Settings
from bot.site.game_reader import GameReader
from bot.site.mini_app import MiniApp
from bot.site.watching import Watching
from bot.site.what_if import WhatIf

__all__ = ["CardRoom", "EndedHand", "LiveHand"]

F = TypeVar("F", bound=Feature)


class CardRoom(Protocol):
    """The bot as an adapter sees it. Adapters get one when they are created.

    Async methods and reads of games raise one of `bot.store.STORE_ERRORS` if the store is unavailable or refuses a
    command, unless they say otherwise. The adapter reports the error with `report_store_error`.
    """

    @property
    def settings(self) -> Settings:
        """The host's settings."""

    @property
    def redis(self) -> Any:
        """The store, as redis-py's asyncio client. An adapter uses only keys that start with ``<platform>:``."""

    @property
    def worker_count(self) -> int:
        """Number of live workers of this bot, including this one. They share the platform's limits."""

    @property
    def games(self) -> GameReader:
        """The finished games, for pages and programs."""

    @property
    def what_if(self) -> WhatIf:
        """Other continuations of finished games."""

    @property
    def watching(self) -> Watching:
        """The tables that are open to spectators."""

    @property
    def presence(self) -> Presence:
        """The people who have a page of the site open."""

    @property
    def program_tables(self) -> ProgramTables:
        """The tables at which other people's programs play."""

    @property
    def mini_apps(self) -> Mapping[str, MiniApp]:
        """Platforms with apps that open our pages, by name."""

    @property
    def lobby(self) -> Lobby:
        """The tables of people who play on pages."""

    @property
    def live_hands(self) -> LiveHands:
        """The live hands of people who play on pages."""

    def feature(self, kind: type[F]) -> F:
        """Return a feature of the bot, for pages that show it."""

    # Events from people

    async def handle_command(self, command: Command) -> Reply:
        """Answer a command. Never raises: a toast explains why something is not possible."""

    async def handle_press(self, press: Press) -> Reply:
        """Answer a press. Never raises: a toast explains why a move is not possible."""

    async def send_hands(self, person: Person, code: str = "") -> None:
        """Send a person the hand at the table ``code``, or all hands, after they opened their private chat."""

    async def send_missed_hands(self, person: Person) -> None:
        """Send a person the hands that could not be sent before, because they can be reached again. Safe to call twice.

        `handle_command` calls this itself, and so does `handle_press` for a page in a private chat.
        """

    async def suggestions(
        self, kind: ArgumentKind, typed_text: str, person: Person, place: str, game: str = ""
    ) -> list[Suggestion]:
        """Return completions for an argument that begins with ``typed_text``, likeliest first.

        ``game`` is the id of the game, if the person has chosen one. Open tables are suggested only in the topic or
        channel of their card. After too many requests the list is empty.
        """

    async def offers(self, person: Person, typed_text: str) -> OfferList:
        """Return offers that match ``typed_text``; none after too many queries. They are not stored."""

    async def answer_guest(self, person: Person, typed_text: str) -> Offer | None:
        """Return the message with which the bot answers in a chat without it, when a member writes its name.

        ``typed_text`` is the text after the name. The message is an offer, or a hint if the text asks for no challenge.
        Returns None after too many calls, and for banned people. Offers are not stored.
        """

    async def note_offer_sent(self, person: Person, offer: str, typed_text: str, place: str = "") -> None:
        """Note that a person sent the offer with this id, after typing ``typed_text``, as the message at ``place``.

        The place is inline, and its chat can be unknown. From now on the message belongs to this offer. If the platform
        does not report sent offers, the message belongs to the first offer that is accepted in it.
        """

    # Events of chats

    def refresh_chat(self, chat: str) -> Awaitable[None]:
        """Update a chat's messages, because the bot can write there (again).

        While the store is unavailable, this and `move_chat` wait. A killed bot forgets waiting calls. If the platform
        repeats events, await the method before you acknowledge the event. Both raise `bot.store.WorkFailed` after a
        logged failure, and `bot.store.WorkDropped` if too many calls wait. Then do not acknowledge the event.
        """

    async def greet_chat(self, chat: str, language: str, name: str) -> Panel | None:
        """Return the greeting for a chat that the bot has joined; None if the chat was greeted before or has a table.

        ``language`` is from a member's client, ``name`` is the chat's name.
        """

    def move_chat(self, old_id: str, new_id: str) -> Awaitable[None]:
        """Move a chat's tables, settings and leaderboards to its new id. Safe to call twice."""

    async def chat_language(self, place: str) -> str:
        """Return the language of a chat."""

    # Services

    async def paint(self, subject: Subject) -> bytes:
        """Return a picture as PNG; empty if that fails or takes too long. Never raises."""

    def queue_answer(
        self,
        place: str,
        send: Callable[[], Awaitable[object]],
        *,
        message: str = "",
        on_lost: Callable[[], object] | None = None,
    ) -> bool:
        """Queue an answer, which ``send`` sends when the rate limit of its place allows it.

        Answers get a third of the place's turns. The result is False if too many answers are queued for the place and
        this one is dropped. An answer that edits a ``message`` replaces a queued one for the same message. ``on_lost``
        is called if the answer cannot be sent.
        """

    def report_store_error(self, error: BaseException, language: str = "en") -> str:
        """Note that a request failed with a store error. Return the text for the person."""

    def report_platform_outage(self, platform: str, reason: str) -> None:
        """Log that a platform certainly cannot be reached.

        ``reason`` is short and has no secrets. Do not report failed calls of the adapter: delivery counts them.
        """

    async def check_health(self) -> dict[str, Any]:
        """Return the contents of /healthz. Its ``healthy`` says whether this worker is healthy."""

    async def update_metrics(self) -> None:
        """Update the gauges for /metrics."""
