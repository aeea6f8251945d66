"""The interface of a feature: one object through which the rest of the bot reaches it.

A feature lives in a folder of `bot.features`. The wiring (`bot.registry`, `bot.worker`, `bot.handlers`) names no
feature. Features use the core (`bot.core`), never each other.
"""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from bot.actions import TableAction
from bot.concurrency.background import Loop
from bot.delivery.surface_names import Result
from bot.hints import UnaskedHints
from bot.panel import Button
from bot.people import Profile
from bot.platform import Command, Offer, Press, Reply, SentMessage
from bot.table_policy import Outcome, TablePolicy
from bot.tables.table import Table
from engine import GameKind

# Handlers raise errors for players as `engine.errors.EngineError`.
CommandHandler = Callable[[Command, Profile], Awaitable[Reply]]
PageHandler = Callable[[Press, Profile, list[str]], Awaitable[Reply]]  # gets the words after the page's name
VerbHandler = Callable[[Press, Profile, TableAction], Awaitable[Reply]]  # answers a press of a table's button
Step = Callable[[], Awaitable[object]]  # deletes some of a person's data with a few store commands; safe to repeat


class Lesson(NamedTuple):
    """A lesson: its button's label and payload in chats, and its path on the pages."""

    label: str
    payload: str
    path: str


def verb_handler(act: Callable[[str, str, str], Awaitable[object]]) -> VerbHandler:
    """Return a handler that calls ``act`` with the table's code, the presser and the press's key."""

    async def handle(press: Press, _profile: Profile, action: TableAction) -> Reply:
        await act(action.code, press.person.id, press.key)
        return Reply()

    return handle


class Forgetting(NamedTuple):
    """A person being forgotten, the ``pseudonym`` that replaces their id, and the current day in UTC."""

    person: str
    pseudonym: str
    today: date


class Handlers:
    """Handlers of commands and presses. Subclasses fill these mappings."""

    commands: Mapping[str, CommandHandler] = {}  # by the command's name in `bot.command_names`
    pages: Mapping[str, PageHandler] = {}  # by the page's name, the first word of its payload (`bot.actions.page`)

    # Pages that do not change the pressed message, so they also work in chats without the bot.
    private_pages: Collection[str] = ()

    verbs: Mapping[str, VerbHandler] = {}  # by the verb of a table's payload (`bot.actions.table`)

    # By the word after /start, for links to the private chat. An argument can follow the word and a hyphen.
    start_words: Mapping[str, CommandHandler] = {}


class Feature(Handlers):
    """An empty feature, with hooks for subclasses to override."""

    name = ""  # name of the feature's folder, and the `Table.feature` of the tables that it opened

    loops: Mapping[str, Loop] = {}  # by their name in /healthz and the log; a worker runs them until cancelled

    policy: TablePolicy | None = None  # decides about tables that this feature opened

    def stop(self) -> None:
        """Free resources when the worker stops, after the loops have ended."""

    async def move_chat(self, old_id: str, new_id: str) -> None:
        """Move a chat's data to its new id. Safe to call twice."""

    async def remove_banned(self, person: str, update: str) -> None:
        """Remove a banned person from the feature's searches and tournaments, not from tables. Safe to call twice."""

    def on_results_shown(self, table: Table, outcome: Outcome, messages: Mapping[Result, SentMessage]) -> None:
        """Continue after all messages of a finished game show its result."""

    async def refresh_chat(self, chat: str) -> None:
        """Update the feature's messages in a chat that the bot can write to again."""

    def steps_before_leaving(self, forgetting: Forgetting) -> Iterator[Step]:
        """Yield the steps of a forgetting that must come before the person leaves their tables."""
        yield from ()

    def steps_after_games(self, forgetting: Forgetting) -> Iterator[Step]:
        """Yield the steps of a forgetting that must come after the person's finished games have the pseudonym."""
        yield from ()

    def steps_at_the_end(self, forgetting: Forgetting) -> Iterator[Step]:
        """Yield the steps that delete data about this person only."""
        yield from ()

    async def mydata(self, person: str, now: float) -> dict[str, Any]:
        """Return a person's data, as fields of the /mydata file. ``now`` is in Unix seconds."""
        return {}

    async def is_first_game(self, table: Table, seat: int) -> bool:
        """Return whether a seat's player plays this kind of game for the first time. Their hand then explains more."""
        return False

    async def unasked_hints(self, table: Table, seat: int) -> UnaskedHints:
        """Return whether a seat's hand shows a hint that its player did not ask for. Called only if they can ask."""
        return UnaskedHints.NONE

    async def lessons(self, person: str, kind: GameKind, language: str) -> Sequence[Lesson]:
        """Return lessons about a game, if a person does not know the game yet. ``person`` is empty for a stranger."""
        return ()

    def first_contact_buttons(self, language: str) -> Sequence[Button]:
        """Return buttons for the greeting, which private chats and groups get."""
        return ()

    async def note_on_open_tables(self, language: str) -> str:
        """Return a sentence for the list of a chat's open challenges; empty for none."""
        return ""

    async def offers(self, profile: Profile) -> list[Offer]:
        """Return offers that a person can send into any chat, besides challenges."""
        return []
