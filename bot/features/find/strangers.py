"""What people do about strangers whom they were matched with: block and report them."""

from functools import partial
from typing import NamedTuple

from bot.actions import BadPayload
from bot.core import Core
from bot.features.find.errors import NobodyThere, ReportedAlready, SaidFarewell, TooManyBlocks, TooManyReports
from bot.features.find.finder import Finder
from bot.features.find.reports import REPORTS_A_DAY, Report, Reports
from bot.features.find.stranger_pages import blocks_page, done_page, heard_panel, not_done_page, question
from bot.finished.archive import game_id as id_in_archive
from bot.panels.strangers import Deed, spoken
from bot.people import Profile
from bot.platform import Reply, platform_of, private_place
from bot.somebody import is_somebody
from bot.store import keys
from bot.tables.blocks import MOST_BLOCKS
from bot.tables.chairs import Chair
from bot.tables.errors import GameNotKept, NotAtThisTable
from bot.tables.table import FAREWELLS, Table

FAREWELL_KEPT_SECONDS = 86400
"""For how long it is known that somebody has said something after a game."""


class Met(NamedTuple):
    """A game in which people met, under way or over, and who sits or sat where; ``seat`` is theirs who asks."""

    game_id: str
    game: str
    code: str
    chairs: list[Chair]
    seat: int


class Strangers:
    """People who want nothing to do with somebody."""

    def __init__(self, core: Core, finder: Finder) -> None:
        self.core, self._finder = core, finder
        self.blocks, self.reports = finder.queue.blocks, Reports(core.store.client)

    async def list_of_blocks(self, profile: Profile) -> Reply:
        """Whom somebody has blocked."""
        return Reply(panel=blocks_page(profile.language, await self.blocks.of(profile.id)), private=True)

    async def block(self, profile: Profile, other: Profile) -> Reply:
        """Somebody blocks another, whom they know by name."""
        await self._block(profile.id, Chair(other.id, other.name))
        return Reply(panel=done_page(profile.language, "block", other.name), private=True)

    async def at_table(self, table: Table, person: str, deed: Deed, seat: int) -> None:
        """Who sits at a table of strangers blocks or reports another who does."""
        own = table.seat_of(person)
        if own is None or not table.are_strangers or table.game is None:
            raise NotAtThisTable(code=table.code)
        chairs = [chair or Chair("", "?") for chair in table.chairs]
        met = Met(id_in_archive(table), table.game_id, table.code, chairs, own)
        await self._do(person, deed, met, self._other(met, seat))

    async def answer(self, place: str, profile: Profile, page: str, words: list[str]) -> Reply:
        """A press on a page about who is blocked or reported, or on the result of a game."""
        match page, words:
            case "block", ["list"]:
                return Reply(panel=blocks_page(profile.language, await self.blocks.of(profile.id)))
            case "block", ["undo", token]:
                await self.blocks.remove(profile.id, token)
                return Reply(panel=blocks_page(profile.language, await self.blocks.of(profile.id)))
            case "report", ["show", report]:
                return await self._show(place, profile, report)
            case "say", [game_id, phrase] if phrase in FAREWELLS:
                return await self._say_farewell(profile, game_id, phrase)
            case "block" | "report", ["no"]:
                return Reply(panel=not_done_page(profile.language))
            case "block" | "report" as deed, ["ask" | "yes" as word, game_id, seat] if seat.isdecimal():
                met = await self._met(profile, game_id)
                other = self._other(met, int(seat))
                if word == "ask":
                    # A message of its own: the result stays.
                    return Reply(panel=question(profile.language, deed, other.name, game_id, int(seat)), private=True)
                await self._do(profile.id, deed, met, other)
                return Reply(panel=done_page(profile.language, deed, other.name))
        raise BadPayload()

    async def _say_farewell(self, profile: Profile, game_id: str, phrase: str) -> Reply:
        """Somebody says something to those they have played with: once a game, and it may be lost.

        Who has blocked them, or does not want to hear strangers, hears nothing; who speaks does not learn of it.
        """
        met, core = await self._met(profile, game_id), self.core
        key = keys.farewell(game_id, met.seat)
        if not await core.store.client.set(key, 1, nx=True, ex=FAREWELL_KEPT_SECONDS):
            raise SaidFarewell()
        for other in met.chairs:
            place, adapter = private_place(other.person), core.adapters.get(platform_of(other.person))
            if other.person == profile.id or adapter is None or await self.blocks.has(other.person, profile.id):
                continue
            reader = await core.people.person(other.person)
            if reader.wants_phrases:
                panel = heard_panel(reader.language, met.chairs[met.seat].name, phrase)
                say = partial(adapter.send, place, panel, f"{key} {other.person}", silent=True)
                core.delivery.answers.send(place, say)
        return Reply(f"💬 {spoken(profile.language, phrase)}")

    async def _show(self, place: str, profile: Profile, id: str) -> Reply:  # noqa: A002
        """The game that a report is about, for the host alone."""
        report = await self.reports.get(id)
        if report is None or profile.id != self.core.settings.reports_to:
            raise BadPayload()
        return Reply(panel=await self.core.replays.replay(place, profile, report.game_id, "1"), private=True)

    async def _do(self, person: str, deed: Deed, met: Met, other: Chair) -> None:
        if deed == "block":
            await self._block(person, other)
            return
        own, now = met.chairs[met.seat], int(self.core.people.now())
        report = Report(met.game_id, met.game, met.code, now, person, own.name, other.person, other.name)
        found = await self.reports.file(report, met.seat)
        if found != "filed":
            raise ReportedAlready() if found == "again" else TooManyReports(most=REPORTS_A_DAY)

    async def _block(self, person: str, other: Chair) -> None:
        if person == other.person:
            raise NobodyThere()
        if not await self._finder.block(person, other.person, other.name):
            raise TooManyBlocks(most=MOST_BLOCKS)

    @staticmethod
    def _other(met: Met, seat: int) -> Chair:
        """Who else sits or sat there; NobodyThere for a robot, and for who was forgotten."""
        if seat == met.seat or seat >= len(met.chairs):
            raise NobodyThere()
        other = met.chairs[seat]
        if not other.person or other.is_robot or is_somebody(other.person):
            raise NobodyThere()
        return other

    async def _met(self, profile: Profile, game_id: str) -> Met:
        """A finished game that somebody played."""
        game = await self.core.archive.get(game_id)
        if game is None:
            raise GameNotKept()
        if profile.id not in game.people:
            raise NotAtThisTable(code=game.code)
        chairs = [Chair(person, name) for person, name in zip(game.people, game.record.seats, strict=True)]
        return Met(game_id, game.record.game, game.code, chairs, game.people.index(profile.id))
