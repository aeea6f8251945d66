"""Hands on pages: tables opened there, and what those who sit at one see of it, live."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, replace
from datetime import timedelta
from typing import NamedTuple

from bot import actions
from bot.actions import BadPayload, PageAction, TableAction
from bot.addresses import Visitor
from bot.features.daily.commands import Daily
from bot.features.daily.texts import DayTable, day_table
from bot.features.puzzles.commands import PuzzlePage, Puzzles, puzzle_with
from bot.features.settings.commands import choose_own
from bot.finished.archive import game_id
from bot.finished.rating_rules import why_unrated
from bot.handlers.limits import PRESSES_OF_PERSON, TooManyPresses
from bot.panel import Panel
from bot.panels.challenge import invited_panel
from bot.panels.drafts import NO_DRAFT, Draft
from bot.panels.hand_page import CHOOSING, HandPage, hand_page
from bot.panels.pages import Setting, look_settings
from bot.panels.snapshot import snapshot
from bot.people import People, Profile
from bot.platform import Person, Reply, private_place
from bot.ratelimit import RateLimiter
from bot.store.outage import begin_request
from bot.tables.chairs import ROBOT_NAMES
from bot.tables.checks import check_free_to_sit, free_chair
from bot.tables.errors import NoSuchTable, OldPanel, TableError, TableIsFull
from bot.tables.room import Room
from bot.tables.table import Table
from bot.texts import error_text, language_of, texts
from bot.worker import Worker
from engine import GAMES, game_kind
from engine.errors import EngineError

LOOK_AGAIN_SECONDS = 15.0
"""After so long a table is looked at though nobody told that it has changed."""

ELSEWHERE_SECONDS = 1.0
"""The same where another worker delivers the table: then only what is pressed here is told."""

REMATCH_SECONDS = 5.0
"""How often a page on which a game is over looks whether its reader is asked for a rematch, at whichever worker."""

MENUS = ("", "game", "rules")


class Opened(NamedTuple):
    """A table's ``code``, or ``why`` there is none, for whoever wanted it."""

    code: str
    why: str = ""


class DayPage(NamedTuple):
    """A day's deal, in words; whether it may be played, and where it may be looked at the game's id and all lines."""

    panel: Panel
    may_play: bool
    replay: str = ""
    lines: DayTable | None = None


class TableLine(NamedTuple):
    """A table where somebody sits, as a list has it: ``is_mine`` is whether it is their turn, ``score`` how the game
    stands, in words. ``watch_id`` is empty where nobody may watch.
    """

    code: str
    game: str
    others: str
    is_waiting: bool
    is_mine: bool
    score: str
    watch_id: str


class Invitation(NamedTuple):
    """What a table says to somebody who may sit down there, and the id of its game."""

    game: str
    panel: Panel


class FullTable(NamedTuple):
    """A table with no free chair; ``watch_id`` is empty if it may not be watched, or there is no game yet."""

    watch_id: str


class OpenHand:
    """A page that is open on somebody's hand. It keeps what its reader has chosen of a move."""

    def __init__(self, hands: "Hands", person: str, table: Table) -> None:
        self._hands, self._person = hands, person
        self.table = table
        self.is_gone = False
        """Whether there is nothing more to see: its reader does not sit there any more, or the table was removed."""
        self._draft, self._menu, self._again = NO_DRAFT, "", ""
        self._unrated: str | None = None
        """Why nobody's rating rose by the game, as `why_unrated`; None until that is known."""
        self._changed = asyncio.Event()
        self._is_behind = False
        self._payloads: set[str] = set()
        """What the page's buttons carry."""

    def show(self, table: Table) -> None:
        """The table has gone on."""
        self._keep(table)
        self._changed.set()

    def _keep(self, table: Table) -> None:
        if table.version >= self.table.version:
            self.table = table

    def look_again(self) -> None:
        """The table has gone on elsewhere."""
        self._is_behind = True
        self._changed.set()

    def has(self, payload: str) -> bool:
        """Whether the page as it was last shown has a button that carries this."""
        return payload in self._payloads

    def choose(self, payload: str, language: str) -> Reply | None:
        """Heed a press that makes no move, and only changes what this page shows; None for any other. It counts as a
        press all the same: each has the page drawn anew.

        Its toast says what is wrong, such as that the decision was made meanwhile.
        """
        try:
            action = actions.parse(payload)
            if not isinstance(action, TableAction) or action.verb not in CHOOSING or action.code != self.table.code:
                return None
            self._hands.count_choice(self._person)
            if action.verb == "menu":
                self._menu = _menu(action.words)
            else:
                self._draft = self._drafted(action.words)
        except EngineError as fault:
            return Reply(toast=error_text(fault, language))
        self._changed.set()
        return Reply()

    def _drafted(self, words: list[str]) -> Draft:
        seat = self.table.seat_of(self._person)
        if seat is None or not words or not words[0].isdecimal() or len(words) > 2:
            raise BadPayload()
        if words[0] != str(self.table.oldest_panel(seat)):
            raise OldPanel()
        draft = Draft(int(words[0]), *words[1:])
        if draft.repeats_itself:
            raise BadPayload()
        return draft

    async def states(self) -> AsyncIterator[str]:
        """What the page is to show, as JSON, and each later state, but for those that come while one is being taken.

        Where a clock runs, ``clock_left`` beside the page's fields says how many seconds are left for the move.
        After the game it goes on for who may be asked for a rematch; it ends when the reader does not sit there any
        more, or no game came of it. Raises one of the store's errors.
        """
        shown = ""
        async for _ in self._moments():
            page = await self._page()
            self._payloads = page.payloads
            state = json.dumps(asdict(page), ensure_ascii=False, separators=(",", ":"))
            if state != shown:
                shown = state
                left = await self._clock_left()
                yield state if left is None else f'{state[:-1]},"clock_left":{left:.1f}}}'

    async def _moments(self) -> AsyncIterator[None]:
        """Whenever there may be something else to be seen."""
        async for _table in self.tables():
            yield
        while self.table.phase == "over" and not (self.table.is_duplicate or self.table.is_practice):
            await asyncio.sleep(REMATCH_SECONDS)
            again = await self._hands.who_wants_rematch(self.table, self._person)
            unrated = self._unrated
            if unrated is None:
                unrated = await self._hands.why_unrated(self.table)
            is_new = again != self._again or (unrated or "") != (self._unrated or "")
            self._again, self._unrated = again, unrated
            if is_new:
                yield

    async def tables(self) -> AsyncIterator[Table]:
        """The table, and again whenever it may have changed, or what is shown of it. It ends with the game, or when the
        reader does not sit there any more.
        """
        while True:
            self._changed.clear()
            if self._is_behind:
                await self._catch_up()
            if self.is_gone or self._person not in self.table.people:
                self.is_gone = True
                return
            table = self.table
            yield table
            if table.phase in ("over", "closed"):
                return
            await self._wait()

    async def _clock_left(self) -> float | None:
        """Seconds that are left for the move, 0 once its time is up; None where no clock runs."""
        table = self.table
        if not table.clock or table.is_practice or table.phase != "playing":
            return None
        if table.alarm == "flagged":
            return 0.0
        rings_in = await self._hands.room.store.attendance.rings_in(table.code)
        if rings_in is None:
            return None
        return max(rings_in, 0.0) + (0 if table.alarm == "nudged" else table.clock / 2)

    async def _wait(self) -> None:
        """Until the table has changed, or is to be looked at in any case."""
        try:
            async with asyncio.timeout(self._hands.seconds_to_look_again(self.table.code)):
                await self._changed.wait()
        except TimeoutError:
            self._is_behind = True

    async def _catch_up(self) -> None:
        self._is_behind = False
        try:
            self._keep(await self._hands.room.followed(self.table.code))
        except NoSuchTable:
            self.is_gone = True

    async def _page(self) -> HandPage:
        profile = await self._hands.people.person(self._person)
        seat = self.table.seat_of(self._person)
        chosen = self._draft.choice_at(self.table.oldest_panel(seat)) if seat is not None and self.table.game else ""
        menu = self._menu if self.table.phase == "open" else ""
        is_late = await self._hands.is_late(self.table, self._person)
        return hand_page(
            self.table,
            self._person,
            profile,
            chosen,
            menu,
            again=self._again,
            unrated=self._unrated or "",
            is_late=is_late,
        )

    def close(self) -> None:
        self._hands.closed(self)


def _menu(words: list[str]) -> str:
    menu = words[0] if words else ""
    if menu not in MENUS:
        raise BadPayload()
    return menu


class Hands:
    """The tables of pages' readers."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self.room: Room = worker.room
        self.people: People = worker.people
        self._open: dict[str, set[OpenHand]] = {}
        self._choices = RateLimiter()
        self._daily = Daily(worker)
        self._puzzles = Puzzles(worker)
        worker.room.watchers.append(self._committed)
        worker.on_heard.append(self._heard)

    def seconds_to_look_again(self, code: str) -> float:
        return LOOK_AGAIN_SECONDS if self._worker.shards.owns(code) else ELSEWHERE_SECONDS

    def _heard(self, code: str) -> None:
        for hand in self._open.get(code, ()):
            hand.look_again()

    def _committed(self, code: str, _alarm: float | None, _about: object = None) -> None:
        table = self.room.remembered(code)
        if table is None:
            return
        for hand in self._open.get(code, ()):
            hand.show(table)

    def count_choice(self, person: str) -> None:
        """Somebody has a page of theirs drawn anew; TooManyPresses if they do that too fast."""
        wait = self._choices.take(person, PRESSES_OF_PERSON)
        if self._worker.settings.rate_limits and wait > 0:
            raise TooManyPresses()

    async def played(self, code: str, person: str) -> str:
        """The game that somebody played at a table, as `Archive.played_at`. Raises one of the store's errors."""
        return await self._worker.archive.played_at(code, person)

    async def language_of(self, person: str, spoken: str) -> str:
        """A person's language; what their browser speaks as long as none is known."""
        known = await self.people.person(person)
        return known.language if known.is_known else language_of(spoken)

    @staticmethod
    def games(language: str) -> dict[str, str]:
        """The games to choose from, by their ids: what each is called, and for how many it is."""
        _ = texts(language).gettext
        line = _("{game} · {count} players")
        return {kind.id: line.format(game=_(kind.name), count=kind.seats) for kind in GAMES.values()}

    async def open_table(
        self, person: Person, game: str, robot: str, update: str, visitor: Visitor | None = None
    ) -> Opened:
        """A table for a person, with robots of a level in all other chairs, or free ones if ``robot`` is empty.

        An update that comes twice opens one table, and none once that is no more. ``visitor`` is from where a guest
        comes. Raises one of the store's errors.
        """
        begin_request()
        profile = await self.people.meet(person)
        try:
            challenges, game = self._worker.challenges, game_kind(game).id
            if robot == "strong":
                self._worker.robot_pool.get_ready()
            if robot in ROBOT_NAMES:
                opened = await challenges.open_practice(game, person.id, person.name, robot, update, visitor=visitor)
            else:
                opened = await challenges.open_table(game, person.id, person.name, update, visitor=visitor)
        except NoSuchTable:
            _ = texts(profile.language).gettext
            return Opened(
                "", _("The table that this page has opened is no more: begin another one from the first page.")
            )
        except EngineError as fault:
            return Opened("", error_text(fault, profile.language))
        return Opened(opened.code)

    async def open_day(self, person: Person, visitor: Visitor | None = None) -> Opened:
        """The table at which a person plays today's deal; ``visitor`` is as for `open_table`.

        Raises one of the store's errors.
        """
        begin_request()
        profile = await self.people.meet(person)
        try:
            return Opened((await self._worker.days.open(person.id, person.name, visitor=visitor)).code)
        except EngineError as fault:
            return Opened("", error_text(fault, profile.language))

    async def day(self, person: str, language: str, *, yesterday: bool = False) -> DayPage:
        """Today's deal as a person sees it, or how the day before went; ``person`` is empty for a stranger, who speaks
        a language. Raises one of the store's errors.
        """
        profile = await self.people.person(person) if person else Profile("", language=language)
        if yesterday:
            own = await self._worker.days.results.line_of_play(self._worker.days.today() - timedelta(days=1), person)
            lines = day_table(profile.language, profile.suits, await self._daily.everywhere(profile))
            return DayPage(await self._daily.yesterday(profile), False, own.game if own else "", lines)
        return DayPage(await self._daily.own(profile), await self._worker.days.may_play(person))

    async def tables_of(self, person: str) -> list[TableLine]:
        """Where somebody sits, or asks for a chair, games under way first. Raises one of the store's errors."""
        profile = await self.people.person(person)
        found = []
        for table in await self._worker.tables_of(person):
            spoken = table.spoken(profile.language)
            others = " · ".join(chair.name for chair in spoken.chairs if chair and chair.person != person)
            watch_id = await self._worker.watching.watch_id(table)
            seen = snapshot(spoken, spoken.seat_of(person))
            found.append(
                TableLine(
                    code=table.code,
                    game=texts(profile.language).gettext(seen.kind.name),
                    others=others,
                    is_waiting=table.phase == "open",
                    is_mine=seen.my_turn,
                    score=seen.words(profile.language, profile.suits).points(seen.view.totals, seen.rules)
                    if seen.view
                    else "",
                    watch_id=watch_id,
                )
            )
        return sorted(found, key=lambda one: (not one.is_mine, one.is_waiting, one.code))

    async def puzzle(self, person: str, language: str, id_: str = "") -> PuzzlePage | None:
        """A puzzle for a page (`Puzzles.page`). Raises one of the store's errors."""
        profile = await self.people.person(person) if person else Profile("")
        return await self._puzzles.page(replace(profile, language=language), id_)

    def is_answer(self, id_: str, card: str) -> bool:
        """Whether there is such a puzzle, and the card may be played in it."""
        try:
            puzzle_with(id_, card)
        except TableError:
            return False
        return True

    async def answer_puzzle(self, person: Person, id_: str, card: str) -> None:
        """Take somebody's answer to a puzzle; see `is_answer`. Raises one of the store's errors."""
        await self.people.meet(person)
        await self._worker.puzzles.ladder.take(person.id, puzzle_with(id_, card), card)

    async def settings_of(self, person: str, language: str) -> tuple[Setting, ...]:
        """How somebody has their cards on our pages. Raises one of the store's errors."""
        return look_settings(await self.people.person(person), language)

    async def choose(self, person: Person, chosen: Mapping[str, str]) -> bool:
        """Set some of somebody's settings; returns whether there are such. Raises one of the store's errors."""
        await self.people.meet(person)
        try:
            await choose_own(self._worker, person.id, chosen)
        except BadPayload:
            return False
        return True

    async def invitation(self, code: str, person: str, language: str, handle: str = "") -> Invitation | None:
        """What a table says to somebody who has its code and may sit down there; None where there is nothing for them,
        whether or not there is such a table. Raises one of the store's errors.
        """
        try:
            table = await self.room.table(code)
            check_free_to_sit(table, person, handle)
            free_chair(table)
        except TableError:
            return None
        return Invitation(table.game_id, invited_panel(table.spoken(language), language))

    async def full_table(self, code: str) -> FullTable | None:
        """Return what may be told of a table that people were invited to and that is full; None for any other table.

        Tables that invited nobody by their code stay unknown: practice, named opponents, matched strangers and
        tournaments. Raises one of the store's errors.
        """
        try:
            table = await self.room.table(code)
            if table.is_practice or table.invited or table.matched or table.are_strangers or table.is_duplicate:
                return None
            if table.fixture or table.phase not in ("open", "playing"):
                return None
            if table.phase == "open":
                free_chair(table)
                return None
        except TableIsFull:
            return FullTable("")
        except TableError:
            return None
        return FullTable(await self._worker.watching.watch_id(table))

    async def at(self, code: str, person: str, *, or_ended: bool = False) -> OpenHand | None:
        """A page on somebody's hand at a table; None if they do not sit there and ask for no chair. Of a table that is
        set aside it says so. ``or_ended`` if it may be one that was removed a moment ago.

        Whoever was given one closes it. Raises one of the store's errors.
        """
        try:
            table = await (self.room.followed(code) if or_ended else self.room.load(code))
        except NoSuchTable:
            return None
        if person not in table.people:
            return None
        hand = OpenHand(self, person, table)
        self._open.setdefault(code, set()).add(hand)
        return hand

    def closed(self, hand: OpenHand) -> None:
        """A page is gone."""
        code = hand.table.code
        if hands := self._open.get(code):
            hands.discard(hand)
            if not hands:
                del self._open[code]

    async def rematch_of(self, payload: str) -> str:
        """Return the code of the table that a press for a rematch opened or found; empty for any other press.

        Raises a store's error.
        """
        action = actions.parse(payload)
        if not isinstance(action, PageAction) or action.page != "rematch":
            return ""
        table = await self._worker.challenges.opened_by(f"again:{' '.join(action.words)}")
        return table.code if table else ""

    async def is_late(self, table: Table, person: str) -> bool:
        """Whether it is a day's deal that somebody has finished when its day was over: then nothing of it counts."""
        days = self._worker.days
        if table.phase != "over" or table.day is None or table.day >= days.today():
            return False
        return await days.results.of(table.day, person) is None

    async def why_unrated(self, table: Table) -> str | None:
        """Return why nobody's rating rose by a finished game; None until it is rated, or while the store is away."""
        if table.day:
            return ""
        with self.room.store.outage.noted():
            game = await self._worker.archive.get(game_id(table))
            if game is None:
                return None
            changes = await self._worker.ratings.changes(game.id)
            return None if game.is_rated and not changes else why_unrated(game, changes)
        return None

    async def who_wants_rematch(self, table: Table, person: str) -> str:
        """Who waits for somebody with whom they played no game in a group, to play it again, as they are called; empty
        for nobody, and while the store is away. Where a group saw the game the challenge stands there.
        """
        with self.room.store.outage.noted():
            again = await self._worker.challenges.opened_by(f"again:{game_id(table)}")
            if again is None or again.phase != "open" or not again.matched or person in again.people:
                return ""
            # Of whom somebody has blocked nobody hears.
            if private_place(person) not in again.hosts:
                return ""
            chairs = again.spoken((await self.people.person(person)).language).chairs
            return next((chair.name for chair in chairs if chair and not chair.is_robot), "")
        return ""
