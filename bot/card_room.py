"""The bot as an adapter sees it: everything that an adapter may ask for."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar

from bot.commands import Kind
from bot.feature import Feature
from bot.handlers.hands import Hands
from bot.handlers.lobby import Lobby
from bot.handlers.playing import Playing
from bot.mini_app import MiniApp
from bot.platform import Command, Offered, Person, Press, Reply, Suggestion
from bot.settings import Settings
from bot.site.reader import GameReader
from bot.site.watching import Watching

F = TypeVar("F", bound=Feature)


class CardRoom(Protocol):
    """The bot, as an adapter sees it: all that it may ask for. It is given one when it is made.

    What the store refuses, or cannot do because it is away, is one of `bot.store.STORE_ERRORS`; whoever meets one says
    so by `store_away`.
    """

    @property
    def settings(self) -> Settings:
        """What the host has set."""

    @property
    def redis(self) -> Any:
        """The store, as redis-py's asyncio client, for what an adapter keeps: under ``<platform>:``, nowhere else."""

    @property
    def workers(self) -> int:
        """How many workers of this bot are alive, this one included: they share what a platform lets a bot do."""

    @property
    def games(self) -> GameReader:
        """The finished games, for pages and programs that show them. What it reads raises the store's errors."""

    @property
    def watching(self) -> Watching:
        """The tables that whoever has the link may watch."""

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

    async def command(self, command: Command) -> Reply:
        """Answer a command. No error comes of it: what cannot be done is a toast that says why."""

    async def press(self, press: Press) -> Reply:
        """Answer a press. No error comes of it: a move that cannot be made is a toast that says why."""

    async def opened_private_chat(self, person: Person, code: str = "") -> None:
        """A person can be written to from now on: their hands come, that of the table ``code`` or all of them.

        Raises one of the store's errors.
        """

    async def reached_again(self, person: Person) -> None:
        """Show a person the hands that could not be shown before, because they can be written to now. Twice is once.

        `command`, and a press on a page in a private chat, do so themselves. Raises one of the store's errors.
        """

    async def suggestions(self, kind: Kind, begun: str, person: Person, place: str, game: str = "") -> list[Suggestion]:
        """What somebody may mean who has ``begun`` to write an argument of some kind, the likeliest first.

        ``game`` is the game's id where one was chosen already. Open tables are those of that very place, not of the
        whole chat; who asks too often is suggested nothing. Raises one of the store's errors.
        """

    async def offers(self, person: Person, typed: str) -> Offered:
        """What somebody may send who has ``typed`` this; who asks too often is offered nothing.

        Nothing is written down for that: an offer carries all that it is about. Raises one of the store's errors.
        """

    async def offer_sent(self, person: Person, offer: str, typed: str, place: str = "") -> None:
        """Note that somebody who had ``typed`` this has sent the offer of this id, which stands at ``place``.

        The place is an inline one, and its chat need not be known. From then on the message belongs to this offer. If
        the platform does not tell, it belongs to the first offer that is taken up there. Raises one of the store's
        errors.
        """

    # What happens to chats

    def back_in_chat(self, chat: str) -> Awaitable[None]:
        """A chat can be written to, perhaps again: what should stand there is brought.

        This and `move_chat` are done though the store is away, when it is back. Await them for that, where the platform
        tells again what was not acknowledged; a bot that is killed meanwhile has forgotten it.
        Both raise `bot.store.WorkFailed` when it cannot be done, which has been logged, and `bot.store.WorkDropped`
        when too much waits: then it is not to be acknowledged.
        """

    def move_chat(self, old: str, new: str) -> Awaitable[None]:
        """A chat has another id from now on: its tables, settings and leaderboards move along. Twice is once."""

    async def language_in(self, place: str) -> str:
        """The language of a chat. Raises one of the store's errors."""

    # What an adapter cannot do by itself

    def answer_in_turn(
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

    def store_away(self, error: BaseException, language: str = "en") -> str:
        """Note that a request met one of the store's errors; returns what to tell the person whose it was."""

    def platform_away(self, platform: str, why: str) -> None:
        """Note that a platform is certainly away, for whoever runs the bot; ``why`` in a few words, without secrets.

        That calls of the adapter's fail need not be told: delivery sees it.
        """

    async def healthy(self) -> dict[str, Any]:
        """What /healthz says; ``healthy`` in it is whether this worker does well."""

    def measure(self) -> None:
        """Bring up to date what is measured rather than counted, for /metrics."""
