"""The bot as an adapter sees it: everything that an adapter may ask for."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar

from bot.commands import ArgumentKind
from bot.feature import Feature
from bot.handlers.hands import Hands
from bot.handlers.lobby import Lobby
from bot.handlers.playing import Playing
from bot.mini_app import MiniApp
from bot.platform import Command, OfferList, Person, Press, Reply, Suggestion
from bot.settings import Settings
from bot.site.reader import GameReader
from bot.site.watching import Watching

F = TypeVar("F", bound=Feature)


class CardRoom(Protocol):
    """The bot, as an adapter sees it. An adapter gets one when it is made.

    If the store refuses something or is away, methods raise one of `bot.store.STORE_ERRORS`. The adapter reports it by
    `store_away`.
    """

    @property
    def settings(self) -> Settings:
        """What the host has set."""

    @property
    def redis(self) -> Any:
        """The store, as redis-py's asyncio client. An adapter keeps its data under ``<platform>:``, nowhere else."""

    @property
    def worker_count(self) -> int:
        """Number of workers of this bot that are alive, with this one. They share the platform's limits."""

    @property
    def games(self) -> GameReader:
        """The finished games, for pages and programs. Reading may raise one of the store's errors."""

    @property
    def watching(self) -> Watching:
        """The tables that anybody with the link may watch."""

    @property
    def playing(self) -> Playing:
        """The tables at which other people's programs play."""

    @property
    def mini_apps(self) -> Mapping[str, MiniApp]:
        """The platforms, by name, whose own apps open our pages."""

    @property
    def lobby(self) -> Lobby:
        """The tables of people who play on pages."""

    @property
    def hands(self) -> Hands:
        """What people who play on pages see of their tables, live."""

    def feature(self, kind: type[F]) -> F:
        """Return a feature of the bot, for pages that show it."""

    # What people do

    async def handle_command(self, command: Command) -> Reply:
        """Answer a command. It raises nothing: a toast says why something cannot be done."""

    async def handle_press(self, press: Press) -> Reply:
        """Answer a press. It raises nothing: a toast says why a move cannot be made."""

    async def send_hands(self, person: Person, code: str = "") -> None:
        """Send a person their hands, because the bot can write to them now: that of the table ``code``, or all.

        Raises one of the store's errors.
        """

    async def send_missed_hands(self, person: Person) -> None:
        """Show a person the hands that could not be shown before, because they can be written to now. Twice is once.

        `command`, and a press on a page in a private chat, do so themselves. Raises one of the store's errors.
        """

    async def suggestions(
        self, kind: ArgumentKind, begun: str, person: Person, place: str, game: str = ""
    ) -> list[Suggestion]:
        """Return what a person may mean who has ``begun`` to write an argument of some kind, the likeliest first.

        ``game`` is the game's id if one was chosen already. Open tables are those of that very place, not of the whole
        chat. There are no suggestions for a person who asks too often. Raises one of the store's errors.
        """

    async def offers(self, person: Person, typed: str) -> OfferList:
        """Return what a person may send who has ``typed`` this; nothing if they ask too often.

        Nothing is stored: an offer carries all its terms. Raises one of the store's errors.
        """

    async def note_offer_sent(self, person: Person, offer: str, typed: str, place: str = "") -> None:
        """Note that somebody who had ``typed`` this has sent the offer of this id, which stands at ``place``.

        The place is an inline one, and its chat need not be known. From then on the message belongs to this offer. If
        the platform does not tell, it belongs to the first offer that is taken up there. Raises one of the store's
        errors.
        """

    # What happens to chats

    def refresh_chat(self, chat: str) -> Awaitable[None]:
        """Bring a chat's messages up to date: the bot can write there, perhaps again.

        While the store is away, this and `move_chat` wait until it is back. A killed bot forgets that they wait. So if
        the platform repeats events, await them before you acknowledge one. Both raise `bot.store.WorkFailed` after
        a logged failure, and `bot.store.WorkDropped` if too much waits: then do not acknowledge.
        """

    def move_chat(self, old: str, new: str) -> Awaitable[None]:
        """Move a chat's tables, settings and leaderboards to its new id. Twice is once."""

    async def chat_language(self, place: str) -> str:
        """Return the language of a chat. Raises one of the store's errors."""

    # What an adapter cannot do by itself

    def queue_answer(
        self,
        place: str,
        say: Callable[[], Awaitable[object]],
        *,
        message: str = "",
        on_lost: Callable[[], object] | None = None,
    ) -> bool:
        """Have ``say`` send an answer to a place when its rate limit allows; answers get a third of the place's turns.

        It returns at once: False if too many answers wait for the place, and this one is dropped. An answer that
        changes a ``message`` replaces one that waits to change it. ``on_lost`` is called if the answer cannot be sent.
        """

    def report_store_error(self, error: BaseException, language: str = "en") -> str:
        """Note that a request met one of the store's errors; return what to tell the person."""

    def report_platform_outage(self, platform: str, why: str) -> None:
        """Note for the host that a platform is certainly away. ``why`` says it in a few words, without secrets.

        Failed calls of the adapter need no such note: delivery sees them.
        """

    async def check_health(self) -> dict[str, Any]:
        """Return what /healthz says; its ``healthy`` is whether this worker is healthy."""

    def update_metrics(self) -> None:
        """Update the metrics that are measured, not counted, for /metrics."""
