"""What a feature is to the rest of the bot: one object, which the wiring asks for everything it has.

A feature lives in a folder of `bot.features`. The wiring (`bot.registry`, `bot.worker`, `bot.handlers`) goes through
the features and names none of them. Features use the core (`bot.core`), never each other.
"""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

from bot.actions import TableAction
from bot.background import Loop
from bot.delivery.names import Result
from bot.people import Profile
from bot.platform import Command, Offer, Press, Reply, SentMessage
from bot.table_policy import Outcome, TablePolicy
from bot.tables.table import Table

CommandHandler = Callable[[Command, Profile], Awaitable[Reply]]
"""Answers a command. Raises what a player should read (`engine.errors.EngineError`)."""

PageHandler = Callable[[Press, Profile, list[str]], Awaitable[Reply]]
"""Answers a press on a page, by the words after the page's name. Raises as a command."""

VerbHandler = Callable[[Press, Profile, TableAction], Awaitable[Reply]]
"""Answers a press that does something at a table. Raises as a command."""

Step = Callable[[], Awaitable[object]]
"""Deletes something of a person, in few commands of the store. Twice is the same as once."""


class Forgetting(NamedTuple):
    """A person who is being forgotten: ``somebody`` is the id that takes their place, ``today`` the day of UTC."""

    person: str
    pseudonym: str
    today: date


class Handlers:
    """What answers people. A subclass sets what it has."""

    commands: Mapping[str, CommandHandler] = {}
    """By the command's name in `bot.commands`."""

    pages: Mapping[str, PageHandler] = {}
    """By the page's name, the first word of a page's payload (`bot.actions.page`)."""

    private_pages: Collection[str] = ()
    """Pages that leave the pressed message alone, so that they also work in chats where the bot is no member."""

    verbs: Mapping[str, VerbHandler] = {}
    """By the verb of a table's payload (`bot.actions.table`)."""

    start_words: Mapping[str, CommandHandler] = {}
    """By the word after /start, for links that lead to the private chat."""


class Feature(Handlers):
    """A feature with nothing in it. Each feature overrides what it has."""

    name = ""
    """The feature's folder. Tables that it opened carry it too (`bot.tables.table.Table.feature`)."""

    loops: Mapping[str, Loop] = {}
    """Background work, by its name in /healthz and the log. A worker runs it until cancelled."""

    policy: TablePolicy | None = None
    """Decides about the tables that this feature opened."""

    def stop(self) -> None:
        """Free what the feature holds when the worker stops. Its loops have ended by then."""

    async def move_chat(self, old: str, new: str) -> None:
        """Move a chat's data to its new id. Twice is the same as once."""

    def on_results_shown(self, table: Table, outcome: Outcome, messages: Mapping[Result, SentMessage]) -> None:
        """Go on from a finished game whose result all its messages show."""

    async def refresh_chat(self, chat: str) -> None:
        """Bring the feature's messages in a chat up to date: the bot can write there again."""

    def steps_before_leaving(self, forgetting: Forgetting) -> Iterator[Step]:
        """Yield the steps that forget a person before they leave their tables."""
        yield from ()

    def steps_after_games(self, forgetting: Forgetting) -> Iterator[Step]:
        """Yield the steps that forget a person once their finished games name somebody else."""
        yield from ()

    def steps_at_the_end(self, forgetting: Forgetting) -> Iterator[Step]:
        """Yield the steps that delete what is kept of a person alone."""
        yield from ()

    async def mydata(self, person: str, now: float) -> dict[str, Any]:
        """Return what is kept of a person, as fields of the file of /mydata. ``now`` is in Unix seconds."""
        return {}

    async def note_on_open_tables(self, language: str) -> str:
        """Return a sentence for the list of a chat's open challenges; empty for none."""
        return ""

    async def offers(self, profile: Profile) -> list[Offer]:
        """Return what a person may send into any chat, besides challenges."""
        return []
