"""Tables as spectators see them, live.

Spectators need a table's *watch id*: its code, and letters that follow from the store's secret. The code alone is not
enough. The board in a group has the link, and so has each player's list of tables. Players of a table that no chat
shows, for example one opened on a page, can forward the link.

Tables of strangers, tables in private chats and challenges by name outside groups cannot be watched. Neither can deals
that others still have to play, nor tables of chats that forbid it. For a tournament's tables, the chat that opened the
tournament decides.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import suppress

import structlog

from bot.cluster.shards import Shards
from bot.concurrency.background import TaskSet
from bot.people import People
from bot.platform import is_inline, is_private
from bot.site.api_models import PublicTable, public_table
from bot.site.deal_log import DealLog, watched_log
from bot.store.outage import STORE_ERRORS
from bot.tables.codes import watch_letters
from bot.tables.errors import NoSuchTable
from bot.tables.room import Room
from bot.tables.table import Table
from bot.tables.table_memory import Commit
from bot.words.table_lines import capitalize
from bot.words.wording import Wording, card_faces
from engine.cards import FRENCH, ITALIAN
from engine.declarations import COMBINATIONS

RECHECK_SECONDS = 10.0  # interval at which a watched table is read even without a notification
REMOTE_RECHECK_SECONDS = 1.0  # the interval if another worker delivers the table: that worker does not notify this one
KEEP_ALIVE_SECONDS = 10.0  # interval of the empty states that keep a spectator's connection open

log = structlog.get_logger()


def card_names() -> dict[str, dict[str, str]]:
    """Return the cards' names, by faces and code."""
    packs = {"italian": ITALIAN, "french": ITALIAN, "french_pack": FRENCH}
    return {faces: {code: card_faces(faces).card(code) for code in pack.codes} for faces, pack in packs.items()}


def combination_texts(language: str) -> dict[str, dict[str, tuple[str, tuple[str, ...]]]]:
    """Return each declaration as its player says it, and its cards, by suits and by its move."""
    texts_by_suits = {}
    for suits in ("italian", "french"):
        words = Wording(language, (), suits)
        texts_by_suits[suits] = {
            move: (f"{capitalize(words.combination_name(move))}!", ITALIAN.names(combination.cards))
            for move, combination in COMBINATIONS.items()
        }
    return texts_by_suits


class _WatchedTable:
    """A watched table: its latest state as JSON, and an event for the next one."""

    def __init__(self) -> None:
        self.state = b""
        self.is_over = False
        self.watchers = 0
        self.changed = asyncio.Event()  # set when the table should be read again
        self._news = asyncio.Event()
        self._published_at = 0.0

    def update(self, state: bytes) -> None:
        """Publish a state if it is new, or if none was published for `KEEP_ALIVE_SECONDS`."""
        now = asyncio.get_running_loop().time()
        if state != self.state or now - self._published_at >= KEEP_ALIVE_SECONDS:
            self.state, self._published_at = state, now
            self._wake()

    def end(self) -> None:
        self.is_over = True
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def states(self) -> AsyncGenerator[bytes]:
        """Yield the latest state, and then later ones, until the table is over.

        It skips states that come while the reader is busy. Without a new state it yields empty ones from time to time.
        """
        last_state = b""
        while True:
            news = self._news
            if self.state != last_state:
                last_state = self.state
                yield last_state
            elif self.is_over:
                return
            else:
                await news.wait()
                if self.state == last_state and not self.is_over:
                    yield b""


class Watching:
    """Shows live tables to everyone who has a table's link."""

    def __init__(self, room: Room, people: People, shards: Shards) -> None:
        self._room, self._people, self._shards = room, people, shards
        self._watched: dict[str, _WatchedTable] = {}
        self._tasks = TaskSet()
        room.watchers.append(self._handle_commit)

    def _handle_commit(self, commit: Commit) -> None:
        if watched_table := self._watched.get(commit.code):
            watched_table.changed.set()

    async def watch_id(self, table: Table) -> str:
        """Return a table's watch id, or "" if it cannot be watched."""
        return await self._watch_id(table.code) if await self._is_watchable(table) else ""

    async def get_table(self, watch_id: str) -> PublicTable | None:
        """Return a table, or None if the id is unknown or the table cannot be watched."""
        table = await self._find_table(watch_id)
        return public_table(table) if table else None

    async def get_log(self, watch_id: str, language: str, suits: str) -> DealLog | None:
        """Return the log of a table's deal; None before the first deal, and if the table cannot be watched."""
        table = await self._find_table(watch_id)
        return watched_log(table, language, suits) if table else None

    async def stream(self, watch_id: str) -> AsyncGenerator[bytes] | None:
        """Stream a table's states as JSON until its game is over or it can no longer be watched.

        A slow reader gets only the latest state. An empty state means no change. Returns None as `get_table` does. Can
        raise a store error.
        """
        table = await self._find_table(watch_id)
        return None if table is None else self._stream(table.code)

    async def _stream(self, code: str) -> AsyncGenerator[bytes]:
        watched_table = self._watched.get(code)
        if watched_table is None:
            watched_table = self._watched[code] = _WatchedTable()
            self._tasks.start(self._follow(code, watched_table))
        watched_table.watchers += 1
        try:
            async for state in watched_table.states():
                yield state
        finally:
            watched_table.watchers -= 1
            watched_table.changed.set()

    def stop(self) -> None:
        self._tasks.cancel()

    async def _follow(self, code: str, watched_table: _WatchedTable) -> None:
        """Read a table after each change, and at intervals, as long as it has spectators."""
        try:
            while not watched_table.is_over:
                watched_table.changed.clear()
                await self._refresh(code, watched_table)
                seconds = RECHECK_SECONDS if self._shards.owns(code) else REMOTE_RECHECK_SECONDS
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await watched_table.changed.wait()
                if not watched_table.watchers:
                    return
        except Exception:
            log.exception("watching_failed", table=code)
        finally:
            del self._watched[code]
            watched_table.end()

    async def _refresh(self, code: str, watched_table: _WatchedTable) -> None:
        try:
            table = await self._load_watchable(code)
        except STORE_ERRORS as error:
            # Spectators keep the old state until the store is back.
            log.info("watched_table_not_read", table=code, why=type(error).__name__)
            watched_table.update(watched_table.state)
            return
        if table:
            watched_table.update(public_table(table).model_dump_json().encode())
        if table is None or table.phase in ("over", "closed"):
            watched_table.end()

    async def _find_table(self, watch_id: str) -> Table | None:
        # Check this before any lookup, so that a wrong link does not reveal which codes exist.
        if not await self.is_valid(watch_id):
            return None
        return await self._load_watchable(watch_id.partition("-")[0])

    async def is_valid(self, watch_id: str) -> bool:
        """Return whether the bot made this watch id. Its table can be gone."""
        valid_id = await self._watch_id(watch_id.partition("-")[0])
        return secrets.compare_digest(valid_id.encode(), watch_id.encode())

    async def _load_watchable(self, code: str) -> Table | None:
        try:
            table = await self._room.load_recent(code)
        except NoSuchTable:
            return None
        return table if await self._is_watchable(table) else None

    async def _watch_id(self, code: str) -> str:
        return f"{code}-{watch_letters(code, await self._room.store.secret())}"

    async def _is_watchable(self, table: Table) -> bool:
        hosts = [table.fixture.place] if table.fixture else table.hosts
        groups = [place for place in hosts if not is_private(place) and not is_inline(place)]
        if table.invited and not groups:
            # Only an invited person who is not blocked sees the table, and no one may learn of a block.
            return False
        # A rematch of a table opened on a page is offered in private chats.
        is_private_only = bool(hosts) and not groups and table.origin != "page"
        if table.are_strangers or table.is_duplicate or is_private_only:
            return False
        return all([(await self._people.chat(place)).can_be_watched for place in groups])
