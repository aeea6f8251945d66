"""Tables as those see them who do not sit there: what everybody may see, as it comes to be.

A table is watched by its *watch id*: its code, and letters that follow from the store's secret. The board in a group
has the link, and so has each player's own list of tables; whoever has it may watch, and the code alone is not enough.
A table that no chat shows, such as one that was opened on a page, is watched by whom its players give the link. Tables
in private chats cannot be watched, nor those of strangers, nor deals that others have yet to play, nor those that are
shown in a chat which does not want it. A tournament's are as those of the chat where it was opened.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import suppress

import structlog
from pydantic import BaseModel, ConfigDict, Field

from bot.background import TaskSet
from bot.cluster.shards import Shards
from bot.finished.archive import game_id
from bot.people import People
from bot.platform import is_inline, is_private
from bot.programs import is_program
from bot.site.replayed import OpenView
from bot.store.outage import STORE_ERRORS
from bot.tables.codes import watch_letters
from bot.tables.errors import NoSuchTable
from bot.tables.room import Commit, Room
from bot.tables.table import Table
from bot.words.wording import card_faces
from engine import game_kind
from engine.cards import FRENCH, ITALIAN

RECHECK_SECONDS = 10.0
"""After so long a watched table is looked at though nobody told that it has changed."""

REMOTE_RECHECK_SECONDS = 1.0
"""The same where another worker delivers the table: then only what is pressed here is told."""

KEEP_ALIVE_SECONDS = 10.0
"""After so long without news those who watch are told that there is none, so that nobody takes them for gone."""

log = structlog.get_logger()


class PublicSeat(BaseModel):
    """Somebody at a table."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    is_robot: bool = Field(description="Whether a robot of ours or somebody's program sits there.")


class PublicTable(BaseModel):
    """A table as everybody may see it. The version grows with everything that happens there."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    code: str
    version: int
    game: str
    rules: dict[str, int | str | bool]
    is_french: bool = Field(description="Whether it is played with a French pack.")
    phase: str = Field(
        description="open while chairs are being taken, closed if no game came of it, playing, over; or unreadable."
    )
    seats: list[PublicSeat | None] = Field(description="By seat; null where nobody sits. Seats 0 and 2 are side 0.")
    clock: int = Field(description="Seconds that a move may take; 0 without a clock.")
    is_late: bool = Field(description="Whether the time is up of whoever is to move.")
    deal: int = Field(description="The number of the deal on the table, from 1; 0 before the first.")
    seal: str | None = Field(description="The commitment to the running deal's shuffle.")
    view: OpenView | None
    turn: int | None
    totals: tuple[int, int] = Field(description="Whole points by side: people are shown them times `score_unit`.")
    bags: tuple[int, int]
    winner: list[int] | None
    ending: str | None
    replay: str | None = Field(
        description="The id of the finished game, once it is over; null of a deal that others have yet to play."
    )


def public_table(table: Table) -> PublicTable:
    """What everybody may see of a table, by nothing but the public's view."""
    view = table.view(None)
    deal = view.deal if view else None
    return PublicTable.model_construct(
        code=table.code,
        version=table.version,
        game=table.game_id,
        is_french=game_kind(table.game_id).pack.is_french,
        rules=view.rules if view else table.rules,
        phase=table.phase,
        seats=[
            chair and PublicSeat(name=chair.name, is_robot=chair.is_robot or is_program(chair.person))
            for chair in table.chairs
        ],
        clock=table.clock,
        is_late=table.alarm == "flagged",
        deal=view.deal_number if view else 0,
        seal=view.commitment if view else None,
        view=deal,
        turn=view.turn if view else None,
        totals=view.totals if view else (0, 0),
        bags=view.bags if view else (0, 0),
        winner=list(view.winner) if view and view.winner is not None else None,
        ending=view.ending if view else None,
        replay=game_id(table) if table.phase == "over" and not table.is_duplicate else None,
    )


def card_names() -> dict[str, dict[str, str]]:
    """What cards are called, by faces and code."""
    packs = {"italian": ITALIAN, "french": ITALIAN, "french_pack": FRENCH}
    return {faces: {code: card_faces(faces)[code] for code in pack.codes} for faces, pack in packs.items()}


class _WatchedTable:
    """A table that is being watched: its latest state as JSON, and who waits for the next."""

    def __init__(self) -> None:
        self.state = b""
        self.is_over = False
        self.watchers = 0
        self.changed = asyncio.Event()
        """Set when the table is to be looked at."""
        self._news = asyncio.Event()
        self._told_at = 0.0

    def update(self, state: bytes) -> None:
        """Tell what the table is like now, if that is news, or if there has been none for a while."""
        now = asyncio.get_running_loop().time()
        if state != self.state or now - self._told_at >= KEEP_ALIVE_SECONDS:
            self.state, self._told_at = state, now
            self._wake()

    def end(self) -> None:
        self.is_over = True
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def states(self) -> AsyncGenerator[bytes]:
        """The latest state, and each later one, but for those that come while another is being taken; nothing where
        there is no news for a while.
        """
        shown = b""
        while True:
            news = self._news
            if self.state != shown:
                shown = self.state
                yield shown
            elif self.is_over:
                return
            else:
                await news.wait()
                if self.state == shown and not self.is_over:
                    yield b""


class Watching:
    """Shows tables to whoever has the link to watch them."""

    def __init__(self, room: Room, people: People, shards: Shards) -> None:
        self._room, self._people, self._shards = room, people, shards
        self._watched: dict[str, _WatchedTable] = {}
        self._tasks = TaskSet()
        room.watchers.append(self._handle_commit)

    def _handle_commit(self, commit: Commit) -> None:
        if watched := self._watched.get(commit.code):
            watched.changed.set()

    async def watch_id(self, table: Table) -> str:
        """By what a table is watched; empty if it may not be."""
        return await self._watch_id(table.code) if await self._is_watchable(table) else ""

    async def get_table(self, watch_id: str) -> PublicTable | None:
        """A table as it stands; None where there is none of this id, or it may not be watched."""
        found = await self._find_table(watch_id)
        return public_table(found) if found else None

    async def stream(self, watch_id: str) -> AsyncGenerator[bytes] | None:
        """A table as it stands and as it comes to be, as JSON, until its game is over or it may not be watched.

        Whoever takes them slowly gets the latest; empty ones say that there is no news. None as for `table`; raises one
        of the store's errors.
        """
        table = await self._find_table(watch_id)
        return None if table is None else self._stream(table.code)

    async def _stream(self, code: str) -> AsyncGenerator[bytes]:
        watched = self._watched.get(code)
        if watched is None:
            watched = self._watched[code] = _WatchedTable()
            self._tasks.start(self._follow(code, watched))
        watched.watchers += 1
        try:
            async for state in watched.states():
                yield state
        finally:
            watched.watchers -= 1
            watched.changed.set()

    def stop(self) -> None:
        self._tasks.cancel()

    async def _follow(self, code: str, watched: _WatchedTable) -> None:
        """Look at a table whenever it may have changed, for as long as anybody watches it."""
        try:
            while not watched.is_over:
                watched.changed.clear()
                await self._refresh(code, watched)
                seconds = RECHECK_SECONDS if self._shards.owns(code) else REMOTE_RECHECK_SECONDS
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await watched.changed.wait()
                if not watched.watchers:
                    return
        except Exception:
            log.exception("watching_failed", table=code)
        finally:
            del self._watched[code]
            watched.end()

    async def _refresh(self, code: str, watched: _WatchedTable) -> None:
        try:
            table = await self._room.followed(code)
            if not await self._is_watchable(table):
                watched.end()
                return
        except NoSuchTable:
            watched.end()
            return
        except STORE_ERRORS as error:
            # Whoever watches sees it as it was, and what has changed when the store is back.
            log.info("watched_table_not_read", table=code, why=type(error).__name__)
            watched.update(watched.state)
            return
        watched.update(public_table(table).model_dump_json().encode())
        if table.phase in ("over", "closed"):
            watched.end()

    async def _find_table(self, watch_id: str) -> Table | None:
        code = watch_id.partition("-")[0]
        # Before anything is looked up: who does not have the link learns nothing of which codes there are.
        if not secrets.compare_digest((await self._watch_id(code)).encode(), watch_id.encode()):
            return None
        try:
            table = await self._room.followed(code)
        except NoSuchTable:
            return None
        return table if await self._is_watchable(table) else None

    async def _watch_id(self, code: str) -> str:
        return f"{code}-{watch_letters(code, await self._room.store.secret())}"

    async def _is_watchable(self, table: Table) -> bool:
        hosts = [table.fixture.place] if table.fixture else table.hosts
        groups = [place for place in hosts if not is_private(place) and not is_inline(place)]
        # Who plays again what was opened on a page is asked in private chats.
        is_private_only = bool(hosts) and not groups and table.origin != "page"
        if table.are_strangers or table.is_duplicate or is_private_only:
            return False
        return all([(await self._people.chat(place)).can_be_watched for place in groups])
