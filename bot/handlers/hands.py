"""Hands on pages: what people who sit at a table see of it, live."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict

from bot import actions
from bot.actions import BadPayload, TableAction
from bot.cluster.shards import Shards
from bot.handlers.after_games import AfterGames
from bot.handlers.limits import PRESSES_OF_PERSON, TooManyPresses
from bot.panels.drafts import NO_DRAFT, Draft
from bot.people import People
from bot.platform import Reply
from bot.ratelimit import RateLimiter
from bot.site.hand_page import LOCAL_ACTIONS, HandPage, hand_page
from bot.table_policy import Policies
from bot.tables.errors import NoSuchTable, OldPanel
from bot.tables.room import Commit, Room
from bot.tables.table import Table
from bot.texts import error_text
from engine.errors import EngineError

RELOAD_SECONDS = 15.0
"""Seconds after which a page looks at its table again, without word of a change."""

RELOAD_ELSEWHERE_SECONDS = 1.0
"""The same if another worker delivers the table: then only presses at this worker are told."""

REMATCH_SECONDS = 5.0
"""Seconds between looks for a rematch, on the page of a finished game."""

MENUS = ("", "game", "rules")


class OpenHand:
    """A page that is open on somebody's hand. It keeps what its reader has chosen of a move."""

    def __init__(self, hands: "Hands", person: str, table: Table) -> None:
        self._hands, self._person = hands, person
        self.table = table
        self.has_ended = False
        """Whether the page is at its end: its reader has left the table, or the table was removed."""
        self._draft, self._menu, self._again = NO_DRAFT, "", ""
        self._unrated: str | None = None
        """Why nobody's rating rose by the game (`AfterGames.unrated_reason`); None until that is known."""
        self._changed = asyncio.Event()
        self._needs_reload = False
        self._payloads: set[str] = set()
        """The payloads of the page's buttons."""

    def show(self, table: Table) -> None:
        """Show a later version of the table."""
        self._keep_newer(table)
        self._changed.set()

    def _keep_newer(self, table: Table) -> None:
        if table.version >= self.table.version:
            self.table = table

    def reload(self) -> None:
        """Load the table: another worker has changed it."""
        self._needs_reload = True
        self._changed.set()

    def has_button(self, payload: str) -> bool:
        """Return whether the page, as it was last shown, has a button with this payload."""
        return payload in self._payloads

    def handle_choice(self, payload: str, language: str) -> Reply | None:
        """Answer a press that only changes what this page shows; return None for any other press.

        It counts as a press, because it has the page drawn again. The toast says what is wrong, such as a decision that
        was made meanwhile.
        """
        try:
            action = actions.parse_payload(payload)
            if (
                not isinstance(action, TableAction)
                or action.verb not in LOCAL_ACTIONS
                or action.code != self.table.code
            ):
                return None
            self._hands.count_choice(self._person)
            if action.verb == "menu":
                self._menu = _parse_menu(action.words)
            else:
                self._draft = self._parse_draft(action.words)
        except EngineError as fault:
            return Reply(toast=error_text(fault, language))
        self._changed.set()
        return Reply()

    def _parse_draft(self, words: list[str]) -> Draft:
        seat = self.table.seat_of(self._person)
        if seat is None or not words or not words[0].isdecimal() or len(words) > 2:
            raise BadPayload()
        if words[0] != str(self.table.oldest_panel(seat)):
            raise OldPanel()
        draft = Draft(int(words[0]), *words[1:])
        if draft.has_duplicates:
            raise BadPayload()
        return draft

    async def states(self) -> AsyncIterator[str]:
        """Yield what the page should show, as JSON, and each later state. States that come too fast are skipped.

        If a clock runs, ``clock_left`` is the number of seconds left for the move. After the game the states go on,
        because the reader may be asked for a rematch. They end if the reader leaves or no game began. Raises one of the
        store's errors.
        """
        shown = ""
        async for _ in self._changes():
            page = await self._page()
            self._payloads = page.payloads
            state = json.dumps(asdict(page), ensure_ascii=False, separators=(",", ":"))
            if state != shown:
                shown = state
                left = await self._clock_left()
                yield state if left is None else f'{state[:-1]},"clock_left":{left:.1f}}}'

    async def _changes(self) -> AsyncIterator[None]:
        """Yield whenever the page may look different."""
        async for _table in self.tables():
            yield
        while self.table.phase == "over" and not (self.table.is_duplicate or self.table.is_practice):
            await asyncio.sleep(REMATCH_SECONDS)
            again = await self._hands.after_games.find_rematch_opener(self.table, self._person)
            unrated = self._unrated
            if unrated is None:
                unrated = await self._hands.after_games.unrated_reason(self.table)
            is_new = again != self._again or (unrated or "") != (self._unrated or "")
            self._again, self._unrated = again, unrated
            if is_new:
                yield

    async def tables(self) -> AsyncIterator[Table]:
        """Yield the table, and again whenever the page may look different, until the game or the seat is over."""
        while True:
            self._changed.clear()
            if self._needs_reload:
                await self._catch_up()
            if self.has_ended or self._person not in self.table.people:
                self.has_ended = True
                return
            table = self.table
            yield table
            if table.phase in ("over", "closed"):
                return
            await self._wait()

    async def _clock_left(self) -> float | None:
        """Return the seconds left for the move, 0 if its time is up; None if no clock runs."""
        table = self.table
        if not table.clock or table.is_practice or table.phase != "playing":
            return None
        if table.alarm == "flagged":
            return 0.0
        rings_in = await self._hands.room.store.attendance.clock_rings_in(table.code)
        if rings_in is None:
            return None
        return max(rings_in, 0.0) + (0 if table.alarm == "nudged" else table.clock / 2)

    async def _wait(self) -> None:
        """Wait until the table has changed, or it is time to look again."""
        try:
            async with asyncio.timeout(self._hands.reload_seconds(self.table.code)):
                await self._changed.wait()
        except TimeoutError:
            self._needs_reload = True

    async def _catch_up(self) -> None:
        self._needs_reload = False
        try:
            self._keep_newer(await self._hands.room.load_recent(self.table.code))
        except NoSuchTable:
            self.has_ended = True

    async def _page(self) -> HandPage:
        profile = await self._hands.people.person(self._person)
        seat = self.table.seat_of(self._person)
        chosen = self._draft.choice_at(self.table.oldest_panel(seat)) if seat is not None and self.table.game else ""
        menu = self._menu if self.table.phase == "open" else ""
        policy = self._hands.policies.policy_of(self.table)
        return hand_page(
            self.table,
            self._person,
            profile,
            chosen,
            menu,
            again=self._again,
            unrated=self._unrated or "",
            policy=policy,
            outcome=await policy.outcome_for(self.table, self._person),
        )

    def close(self) -> None:
        self._hands.remove(self)


def _parse_menu(words: list[str]) -> str:
    menu = words[0] if words else ""
    if menu not in MENUS:
        raise BadPayload()
    return menu


class Hands:
    """The pages that are open on somebody's hand."""

    def __init__(
        self,
        room: Room,
        shards: Shards,
        people: People,
        policies: Policies,
        after_games: AfterGames,
        *,
        is_limited: bool,
    ) -> None:
        """``is_limited`` is whether people may have their pages drawn only so often."""
        self.room, self.people, self.policies, self.after_games = room, people, policies, after_games
        self._shards, self._is_limited = shards, is_limited
        self._open: dict[str, set[OpenHand]] = {}
        self._choices = RateLimiter()
        room.watchers.append(self._handle_commit)

    def reload_seconds(self, code: str) -> float:
        return RELOAD_SECONDS if self._shards.owns(code) else RELOAD_ELSEWHERE_SECONDS

    def _handle_commit(self, commit: Commit) -> None:
        table = self.room.cached_table(commit.code) if commit.is_known else None
        for hand in self._open.get(commit.code, ()):
            if table:
                hand.show(table)
            else:
                hand.reload()

    def count_choice(self, person: str) -> None:
        """Count a press that draws a page again; TooManyPresses if they come too fast."""
        wait = self._choices.take(person, PRESSES_OF_PERSON)
        if self._is_limited and wait > 0:
            raise TooManyPresses()

    async def open_hand(self, code: str, person: str, *, or_ended: bool = False) -> OpenHand | None:
        """Open a page on a person's hand; None if they neither sit at the table nor ask for a chair.

        ``or_ended`` also finds a table that was removed a moment ago. The caller must close the page. Raises one of the
        store's errors.
        """
        try:
            table = await (self.room.load_recent(code) if or_ended else self.room.load(code))
        except NoSuchTable:
            return None
        if person not in table.people:
            return None
        hand = OpenHand(self, person, table)
        self._open.setdefault(code, set()).add(hand)
        return hand

    def remove(self, hand: OpenHand) -> None:
        """Forget a page that was closed."""
        code = hand.table.code
        if hands := self._open.get(code):
            hands.discard(hand)
            if not hands:
                del self._open[code]
