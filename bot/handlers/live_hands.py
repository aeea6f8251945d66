"""Live hands: tables on pages, as their players see them."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from dataclasses import asdict
from typing import Any

from bot import actions
from bot.actions import BadPayload, TableAction
from bot.cluster.shards import Shards
from bot.finished.archive import Archive, game_id
from bot.finished.ratings import Ratings
from bot.finished.unrated_games import unrated_reason
from bot.handlers.press_limits import PRESSES_OF_PERSON, TooManyPresses
from bot.hints import Hints
from bot.identity.programs import is_web_guest
from bot.panels.challenge import MENUS
from bot.panels.drafts import NO_DRAFT, parse_draft
from bot.panels.hand_buttons import HINT
from bot.people import People
from bot.platform import Reply, private_place
from bot.presence import Presence
from bot.rate_limiter import RateLimiter
from bot.robots.pace import Pace
from bot.site.game_end import NOT_RATED, Rated
from bot.site.hand_page import LOCAL_ACTIONS, hand_page
from bot.site.page_models import HandPage
from bot.table_policy import Policies
from bot.tables.challenges import Challenges
from bot.tables.clock import seconds_left
from bot.tables.errors import NoSuchTable
from bot.tables.room import Room
from bot.tables.table import Table
from bot.tables.table_memory import Commit
from bot.texts import error_text
from bot.words.verdicts import NO_HINT
from engine.errors import EngineError

RELOAD_SECONDS = 15.0  # interval at which a page reloads its table, even without a notification of a change
# the interval if another worker delivers the table, because that worker does not notify this one
RELOAD_ELSEWHERE_SECONDS = 1.0
REMATCH_SECONDS = 5.0  # interval of checks for a rematch, on the page of a finished game


class LiveHand:
    """An open page with a person's hand. It keeps the part of a move that its reader has chosen."""

    def __init__(self, hands: "LiveHands", person: str, table: Table) -> None:
        self._hands, self._person = hands, person
        self.table = table
        self.has_ended = False  # the reader left the table, or the table was removed
        self._draft, self._menu, self._rematch_opener = NO_DRAFT, "", ""
        self._rated: Rated | None = None  # see `LiveHands.find_rating`; None until known
        # `bot.feature.Feature.is_first_game` when the cards were first shown; None before
        self._is_beginner: bool | None = None
        self._changed = asyncio.Event()
        self._needs_reload = False
        self._payloads: set[str] = set()  # payloads of the page's buttons

    def show(self, table: Table) -> None:
        self._keep_newer(table)
        self._changed.set()

    def _keep_newer(self, table: Table) -> None:
        if table.version >= self.table.version:
            self.table = table

    def reload(self) -> None:
        """Load the table soon, because another worker has changed it."""
        self._needs_reload = True
        self._changed.set()

    def set_pace(self, pace: Pace) -> None:
        """Let robots move at the reader's pace while this page is open, unless other people play."""
        self._hands.room.set_pace(self.table.code, pace)

    def has_button(self, payload: str) -> bool:
        """Return whether the last page that was shown has a button with this payload."""
        return payload in self._payloads

    def handle_choice(self, payload: str, language: str) -> Reply | None:
        """Answer a press that only changes what this page shows; return None for any other press.

        Such a press counts towards the limit of presses, because the page is drawn again. A toast is an error, such as
        an outdated decision.
        """
        try:
            action = actions.parse_payload(payload)
            if not isinstance(action, TableAction) or action.code != self.table.code:
                return None
            if action.verb not in LOCAL_ACTIONS:
                return None
            self._hands.count_choice(self._person)
            self._choose(action)
        except EngineError as error:
            return Reply(toast=error_text(error, language))
        self._changed.set()
        return Reply()

    def _choose(self, action: TableAction) -> None:
        if action.verb == "menu":
            menu = action.words[0] if action.words else ""
            if menu not in ("", *MENUS):
                raise BadPayload()
            self._menu = menu
            return
        seat = self.table.seat_of(self._person)
        if seat is None:
            raise BadPayload()
        self._draft = parse_draft(action.words, self.table.oldest_panel(seat))

    async def states(self) -> AsyncIterator[str]:
        """Yield the page's contents as JSON, now and after each change. States that come too fast are skipped.

        If a clock runs, ``clock_left`` is the number of seconds left for the move. After the game the states continue,
        because the reader can be asked for a rematch. They end if the reader leaves or no game began. Can raise a store
        error.
        """
        last_state = ""
        async for _ in self._changes():
            page = await self._page()
            self._payloads = page.payloads
            state = json.dumps(asdict(page), ensure_ascii=False, separators=(",", ":"))
            if state != last_state:
                last_state = state
                seconds_left = await self._clock_left()
                yield state if seconds_left is None else f'{state[:-1]},"clock_left":{seconds_left:.1f}}}'

    async def first_state(self) -> dict[str, Any]:
        """Return the page's contents now, as the first of `states`. Can raise a store error."""
        state, seconds_left = asdict(await self._page()), await self._clock_left()
        return state if seconds_left is None else state | {"clock_left": round(seconds_left, 1)}

    async def _changes(self) -> AsyncIterator[None]:
        """Yield each time the page might have changed."""
        async for _table in self.tables():
            yield
        while self.table.phase == "over" and not (self.table.is_duplicate or self.table.is_practice):
            await asyncio.sleep(REMATCH_SECONDS)
            rematch_opener = await self._hands.find_rematch_opener(self.table, self._person)
            rating = self._rated or await self._hands.find_rating(self.table, self._person)
            is_new = rematch_opener != self._rematch_opener or (rating or NOT_RATED) != (self._rated or NOT_RATED)
            self._rematch_opener, self._rated = rematch_opener, rating
            if is_new:
                yield

    async def tables(self) -> AsyncIterator[Table]:
        """Yield the table, now and each time the page might have changed, until the game ends or the person leaves."""
        while True:
            self._changed.clear()
            if self._needs_reload:
                self._needs_reload = False
                try:
                    self._keep_newer(await self._hands.room.load_recent(self.table.code))
                except NoSuchTable:
                    self.has_ended = True
            if self.has_ended or self._person not in self.table.people:
                self.has_ended = True
                return
            table = self.table
            yield table
            if table.phase in ("over", "closed"):
                return
            try:
                async with asyncio.timeout(self._hands.reload_seconds(table.code)):
                    await self._changed.wait()
            except TimeoutError:
                self._needs_reload = True

    async def _clock_left(self) -> float | None:
        return seconds_left(self.table, await self._hands.room.store.leases.clock_rings_in(self.table.code))

    async def _page(self) -> HandPage:
        profile = await self._hands.people.person(self._person)
        seat = self.table.seat_of(self._person)
        choice = self._draft.choice_at(self.table.oldest_panel(seat)) if seat is not None and self.table.game else ""
        menu = self._menu if self.table.phase == "open" else ""
        policy = self._hands.policies.policy_of(self.table)
        if self._is_beginner is None and seat is not None and self.table.game:
            self._is_beginner = await self._hands.is_first_game(self.table, seat)
        hint = NO_HINT
        if seat is not None:
            hint = await self._hands.hints.hint_to_show(self.table, seat, is_asked=choice == HINT)
        return hand_page(
            self.table,
            self._person,
            profile,
            choice,
            menu,
            rematch_opener=self._rematch_opener,
            rated=self._rated or NOT_RATED,
            policy=policy,
            hint=hint,
            outcome=await policy.outcome_for(self.table, self._person),
            is_beginner=self._is_beginner or False,
            away=self._hands.away_people(self.table),
        )

    def close(self) -> None:
        self._hands.remove(self)


class EndedHand:
    """The page of a finished game whose table was removed. It still shows the result, and offers the rematch."""

    has_ended = False

    def __init__(self, game_id: str) -> None:
        self._rematch = actions.page("rematch", game_id)

    def has_button(self, payload: str) -> bool:
        return payload == self._rematch

    def handle_choice(self, payload: str, language: str) -> None:
        """Return None: no press on this page changes only what the page shows."""

    def set_pace(self, pace: Pace) -> None:
        """Do nothing: the game has ended, so no robot moves."""

    async def states(self) -> AsyncIterator[str]:
        """Yield nothing: the page has kept the result."""
        return
        yield

    def close(self) -> None:
        """Do nothing: unlike `LiveHand`, this page follows no table."""


class LiveHands:
    def __init__(
        self,
        room: Room,
        shards: Shards,
        people: People,
        policies: Policies,
        archive: Archive,
        ratings: Ratings,
        challenges: Challenges,
        hints: Hints,
        is_first_game: Callable[[Table, int], Awaitable[bool]],
        *,
        presence: Presence,
        is_limited: bool,
    ) -> None:
        """``is_limited``: limit the presses that draw a page again."""
        self.room, self.people, self.policies = room, people, policies
        self._archive, self._ratings, self._challenges = archive, ratings, challenges
        self._shards, self._is_limited = shards, is_limited
        self._open: dict[str, set[LiveHand]] = {}
        self._choices = RateLimiter()
        self.hints, self.is_first_game = hints, is_first_game
        room.watchers.append(self._handle_commit)
        hints.watchers.append(self._redraw)
        self._presence = presence
        presence.followed_sources.append(self._people_with_pages)
        presence.watchers.append(self._show_presence)

    def reload_seconds(self, code: str) -> float:
        return RELOAD_SECONDS if self._shards.owns(code) else RELOAD_ELSEWHERE_SECONDS

    def _handle_commit(self, commit: Commit) -> None:
        table = self.room.cached_table(commit.code) if commit.is_known else None
        for hand in self._open.get(commit.code, ()):
            if table:
                hand.show(table)
            else:
                hand.reload()

    def _redraw(self, code: str) -> None:
        for hand in self._open.get(code, ()):
            hand.show(hand.table)

    def _people_with_pages(self) -> Iterator[str]:
        """Yield the guests at the tables of open pages. Other people also play in chats, so they are not followed."""
        for hands in self._open.values():
            for hand in hands:
                yield from filter(is_web_guest, hand.table.people)

    def _show_presence(self, changed_people: Collection[str]) -> None:
        for code, hands in self._open.items():
            if any(not hand.table.people.isdisjoint(changed_people) for hand in hands):
                self._redraw(code)

    def away_people(self, table: Table) -> frozenset[str]:
        """Return the players of a table who have left all pages."""
        return frozenset(filter(self._presence.is_away, table.people))

    def count_choice(self, person: str) -> None:
        """Count a press that draws a page again. Raises TooManyPresses if they come too fast."""
        wait = self._choices.take(person, PRESSES_OF_PERSON)
        if self._is_limited and wait > 0:
            raise TooManyPresses()

    async def open_hand(self, code: str, person: str, *, or_ended: bool = False) -> LiveHand | None:
        """Open a page of a person's hand; None unless they sit at the table or ask for a chair.

        ``or_ended`` also finds a table that was removed a moment ago. The caller must close the page. Can raise a store
        error.
        """
        try:
            table = await (self.room.load_recent(code) if or_ended else self.room.load(code))
        except NoSuchTable:
            return None
        if person not in table.people:
            return None
        hand = LiveHand(self, person, table)
        self._open.setdefault(code, set()).add(hand)
        return hand

    def remove(self, hand: LiveHand) -> None:
        code = hand.table.code
        if hands := self._open.get(code):
            hands.discard(hand)
            if not hands:
                del self._open[code]
                self.room.set_pace(code, "normal")

    async def find_rating(self, table: Table, person: str) -> Rated | None:
        """Return a person's rating after a game; None until it is rated, and while the store is unavailable."""
        with self.room.store.outage.suppress_errors():
            game = await self._archive.get(game_id(table))
            if game is None:
                return None
            changes = await self._ratings.changes(game.id)
            if game.is_rated and not changes:
                return None
            change = next((change for change in changes if change.person == person), None)
            return Rated(unrated_reason(game, changes), change)
        return None

    async def find_rematch_opener(self, table: Table, person: str) -> str:
        """Return the name of a player who has opened a rematch of a game that no group saw, and waits for this person.

        Empty if no player waits, and while the store is unavailable. If a group saw the game, the group has the offer.
        """
        with self.room.store.outage.suppress_errors():
            rematch = await self._challenges.find_opened_table(f"again:{game_id(table)}")
            if rematch is None or rematch.phase != "open" or not rematch.matched or person in rematch.people:
                return ""
            # A blocked player's rematch offer is not announced.
            if private_place(person) not in rematch.hosts:
                return ""
            chairs = rematch.localize((await self.people.person(person)).language).chairs
            return next((chair.name for chair in chairs if chair and not chair.is_robot), "")
        return ""
