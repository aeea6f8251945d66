"""Tables of people who play on web pages: opening, lists and invitations."""

from typing import NamedTuple

from bot import actions
from bot.actions import PageAction
from bot.finished.archive import Archive
from bot.finished.player_ids import player_id
from bot.handlers.names_at_tables import choose_nickname
from bot.http.addresses import Visitor
from bot.panel import Panel
from bot.panels.challenge import invitee_panel
from bot.people import People, Profile
from bot.platform import Person
from bot.robots.names import ROBOT_NAMES
from bot.site.watching import Watching
from bot.store.entries import CutOption, Rule, Setup
from bot.store.outage import begin_request
from bot.tables.challenges import Challenges
from bot.tables.checks import check_free_to_sit, check_not_banned, find_free_chair
from bot.tables.errors import Banned, NoNewTables, NoSuchTable, TableError, TableIsFull
from bot.tables.room import Room
from bot.tables.snapshot import isolate_name, take_snapshot
from bot.texts import error_text, language_of, texts
from bot.words.rules import GAME_LINES
from bot.words.table_lines import ordered_games, table_words
from bot.words.wording import target_choice
from engine import GAMES, GameKind, game_kind
from engine.errors import EngineError


def kind_targets(kind: GameKind) -> list[int]:
    return [int(target) for target in kind.rules.choices()["target"]]


def preset_target(kind: GameKind, *, has_played: bool = True) -> int:
    """Return the points to suggest for a game: the usual ones, or for a person's first game the lowest."""
    return int(kind.rules.model_fields["target"].default) if has_played else min(kind_targets(kind))


class Opened(NamedTuple):
    """The ``code`` of an opened table, or the ``refusal`` to show instead."""

    code: str
    refusal: str = ""


class TableLine(NamedTuple):
    """A table in the list of a person's tables.

    ``is_open``: it waits for players. ``score`` is in words. ``watch_id`` is empty if the table allows no spectators.
    """

    code: str
    game: str
    others: str
    is_open: bool
    is_my_turn: bool
    score: str
    watch_id: str


class Invitation(NamedTuple):
    """The panel for a person who can sit down at a table.

    ``game`` is an id. ``opener`` is the name of the person who opened the table. ``is_asked``: it was opened for this
    person by name.
    """

    game: str
    panel: Panel
    is_asked: bool
    opener: str


class Lobby:
    """The tables of people who play on web pages. Its coroutines can raise store errors."""

    def __init__(
        self, room: Room, people: People, challenges: Challenges, archive: Archive, watching: Watching
    ) -> None:
        self._room, self._people, self._challenges = room, people, challenges
        self._archive, self._watching = archive, watching

    async def profile(self, person: str) -> Profile:
        return await self._people.person(person)

    async def meet(self, person: Person) -> None:
        await self._people.meet(person)

    def notice(self, language: str) -> str:
        """Return the notice on all pages; empty for none.

        It is the host's announcement, otherwise that no new tables can be opened.
        """
        if announcement := self._room.store.levers.announcement:
            return announcement.text
        try:
            self._challenges.check_no_maintenance()
        except NoNewTables as error:
            return error_text(error, language)
        return ""

    def ban_text(self, person: str, language: str) -> str:
        """Return the sentence for a person whom the host has banned; empty for all others."""
        try:
            check_not_banned(self._room.store.levers, person)
        except Banned as error:
            return error_text(error, language)
        return ""

    async def player_id(self, person: str) -> str:
        """Return the id in the address of the person's page."""
        return player_id(person, await self._room.store.secret())

    async def find_latest_game_id(self, code: str, person: str) -> str:
        return await self._archive.find_latest_game_id(code, person)

    async def language_of(self, person: str, browser_language: str) -> str:
        """Return a person's language. If the bot does not know them, it is the browser's."""
        profile = await self._people.person(person)
        return profile.language if profile.is_known else language_of(browser_language)

    async def has_played(self, person: str) -> bool:
        """Return whether a person has finished a game."""
        return await self._archive.has_games(person)

    @staticmethod
    def games(language: str) -> dict[str, tuple[str, str]]:
        """Return the name of each game by its id, and a line about it.

        Games for newcomers come first, in Italian those that Italians know best.
        """
        _ = texts(language).gettext
        kinds = sorted(ordered_games(language), key=lambda kind: language != "it" and not kind.is_suggested)
        return {kind.id: (_(kind.name), _(GAME_LINES[kind.id])) for kind in kinds}

    @staticmethod
    def diagrams() -> dict[str, str]:
        """Return the diagram of each game by id.

        It is "trump" if the game has trumps, otherwise "four" if it seats four, otherwise its `GameKind.layout`.
        """
        kinds = GAMES.values()
        return {kind.id: "trump" if kind.trump else "four" if kind.seats == 4 else kind.layout for kind in kinds}

    @staticmethod
    def targets(language: str, *, has_played: bool = True) -> dict[str, dict[int, str]]:
        """Return the points that can win each game, each in words. The preset ones (`preset_target`) come first."""
        targets_by_game = {}
        for kind in GAMES.values():
            preset = preset_target(kind, has_played=has_played)
            targets = sorted(kind_targets(kind), key=lambda target: (target != preset, target))
            targets_by_game[kind.id] = {target: target_choice(language, kind, target) for target in targets}
        return targets_by_game

    async def open_table(
        self,
        person: Person,
        game: str,
        robot: str,
        update: str,
        visitor: Visitor | None = None,
        *,
        target: int | None = None,
    ) -> Opened:
        """Open a table for a person. ``robot`` is the level of the robots in all other chairs; empty for free chairs.

        ``target`` is the number of points that wins. By default it is the usual one, or in a newcomer's game against
        robots the lowest. Packs are cut unless all opponents are robots. ``update`` identifies the request: a repeated
        one opens no second table, even if the first is gone. ``visitor`` is the address of a guest.
        """
        begin_request()
        profile = await self._people.meet(person)
        try:
            kind = game_kind(game)
            game, usual_target = kind.id, preset_target(kind)
            if target is None and robot in ROBOT_NAMES:
                target = preset_target(kind, has_played=await self.has_played(person.id))
            setup: list[Setup] = [] if target in (None, usual_target) else [Rule("target", target)]
            if robot in ROBOT_NAMES:
                table = await self._challenges.open_practice(
                    game, person.id, person.name, robot, update, setup=setup, visitor=visitor
                )
            else:
                table = await self._challenges.open_table(
                    game, person.id, person.name, update, setup=[*setup, CutOption(True)], visitor=visitor
                )
        except NoSuchTable:
            _ = texts(profile.language).gettext
            return Opened("", _("This page’s table is closed: open another one from the first page."))
        except EngineError as error:
            return Opened("", error_text(error, profile.language))
        return Opened(table.code)

    async def tables_of(self, person: str) -> list[TableLine]:
        """Return the tables at which a person sits or asks for a chair.

        Those where it is their turn come first, then other running games.
        """
        profile = await self._people.person(person)
        lines = []
        for table in await self._room.lists.tables_of(person):
            localized = table.localize(profile.language)
            snapshot = take_snapshot(localized, localized.seat_of(person))
            words = table_words(snapshot, profile.language, profile.suits)
            lines.append(
                TableLine(
                    code=table.code,
                    game=words.text(snapshot.kind.name),
                    others=" · ".join(chair.name for chair in localized.chairs if chair and chair.person != person),
                    is_open=table.phase == "open",
                    is_my_turn=snapshot.is_my_turn,
                    score=words.points(snapshot.view.totals, snapshot.rules) if snapshot.view else "",
                    watch_id=await self._watching.watch_id(table),
                )
            )
        return sorted(lines, key=lambda line: (not line.is_my_turn, line.is_open, line.code))

    async def invitation(self, code: str, person: str, language: str, handle: str = "") -> Invitation | None:
        """Return the invitation that a code gives a person; None if they cannot sit there or the code is unknown."""
        try:
            table = await self._room.table(code)
            check_free_to_sit(table, person, handle)
            find_free_chair(table)
        except TableError:
            return None
        localized_table = table.localize(language)
        is_asked, opener = table.invites(person, handle), isolate_name(localized_table.opener.name)
        nickname = await choose_nickname(self._people, table, person)
        return Invitation(table.game_id, invitee_panel(localized_table, language, nickname), is_asked, opener)

    async def find_page(self, person: Person, code: str, place: str) -> str:
        """Return the page of the table that a person opens from a chat, or "/" if they have no table.

        The table is the one with the ``code``, if it still exists, otherwise one that the chat shows at ``place``:
        first one where the person has a seat, then one where they can sit down, then one that they can watch. Without
        such a table, it is the person's only one.
        """
        try:
            tables = [await self._room.table(code)] if code else []
        except TableError:
            tables = []
        if place and not tables:
            tables = [table for table in await self._room.lists.tables_at(place) if table.is_shown_at(place)]
        for table in tables:
            if person.id in table.people:
                return f"/t/{table.code}"
        for table in tables:
            if await self.invitation(table.code, person.id, person.language, person.handle):
                return f"/t/{table.code}"
        for table in tables:
            if watch_id := await self._watching.watch_id(table):
                return f"/t/{watch_id}"
        own_tables = await self._room.lists.tables_of(person.id)
        return f"/t/{own_tables[0].code}" if len(own_tables) == 1 else "/"

    async def watch_id_of_full_table(self, code: str) -> str | None:
        """Return the watch id of a full table whose code was an invitation; None for any other table.

        The id is empty if the table has no game yet or allows no spectators. Other tables stay secret: practice
        tables, and those for named opponents, matched strangers and tournaments.
        """
        try:
            table = await self._room.table(code)
            if table.is_practice or table.invited or table.matched or table.is_duplicate:
                return None
            if table.fixture or table.phase not in ("open", "playing"):
                return None
            if table.phase == "open" and not table.awaits_cut:
                find_free_chair(table)
                return None
        except TableIsFull:
            return ""
        except TableError:
            return None
        return await self._watching.watch_id(table)

    async def rematch_to_watch(self, watch_id: str, game: str) -> str:
        """Return the watch id of a finished game's rematch, for spectators of that game; empty for none."""
        code = watch_id.partition("-")[0]
        if game.partition("-")[0] != code or not await self._watching.is_valid(watch_id):
            return ""
        table = await self._challenges.find_opened_table(f"again:{game}")
        return await self._watching.watch_id(table) if table and table.phase in ("open", "playing") else ""

    async def rematch_of(self, payload: str) -> str:
        """Return the code of the table that a press for a rematch opened or found; empty for any other press."""
        action = actions.parse_payload(payload)
        if not isinstance(action, PageAction) or action.page != "rematch":
            return ""
        table = await self._challenges.find_opened_table(f"again:{' '.join(action.words)}")
        return table.code if table else ""
