"""What people do about strangers whom they were matched with: block and report them."""

from bot.actions import BadPayload
from bot.features.find.errors import NobodyThere, ReportedAlready, TooManyBlocks, TooManyReports
from bot.features.find.finder import Finder
from bot.features.find.met import SharedGame, find_shared_game
from bot.features.find.reports import REPORTS_A_DAY, Report, Reports
from bot.features.find.stranger_pages import blocks_page, confirm_page, done_page, not_done_page
from bot.finished.archive import Archive
from bot.finished.archive import game_id as id_in_archive
from bot.panels.strangers import Deed
from bot.people import People, Profile
from bot.platform import Reply
from bot.pseudonyms import is_pseudonym
from bot.replays import Replays
from bot.tables.blocks import MOST_BLOCKS
from bot.tables.chairs import Chair
from bot.tables.errors import NotAtThisTable
from bot.tables.table import Table


class Strangers:
    """People who want nothing to do with somebody."""

    def __init__(
        self,
        finder: Finder,
        reports: Reports,
        archive: Archive,
        people: People,
        replays: Replays,
        host: str | None,
    ) -> None:
        """``host`` is the person who may read reports, if anybody."""
        self._finder, self._blocks, self._reports = finder, finder.queue.blocks, reports
        self._archive, self._people, self._replays, self._host = archive, people, replays, host

    async def show_blocks(self, profile: Profile) -> Reply:
        """Whom somebody has blocked."""
        return Reply(panel=blocks_page(profile.language, await self._blocks.of(profile.id)), private=True)

    async def block(self, profile: Profile, other: Profile) -> Reply:
        """Somebody blocks another, whom they know by name."""
        await self._block(profile.id, Chair(other.id, other.name))
        return Reply(panel=done_page(profile.language, "block", other.name), private=True)

    async def act_at_table(self, table: Table, person: str, deed: Deed, seat: int) -> None:
        """Who sits at a table of strangers blocks or reports another who does."""
        own = table.seat_of(person)
        if own is None or not table.are_strangers or table.game is None:
            raise NotAtThisTable(code=table.code)
        chairs = [chair or Chair("", "?") for chair in table.chairs]
        met = SharedGame(id_in_archive(table), table.game_id, table.code, chairs, own)
        await self._act(person, deed, met, self._other_player(met, seat))

    async def answer(self, place: str, profile: Profile, page: str, words: list[str]) -> Reply:
        """A press on a page about who is blocked or reported, or on the result of a game."""
        match page, words:
            case "block", ["list"]:
                return Reply(panel=blocks_page(profile.language, await self._blocks.of(profile.id)))
            case "block", ["undo", token]:
                await self._blocks.remove(profile.id, token)
                return Reply(panel=blocks_page(profile.language, await self._blocks.of(profile.id)))
            case "report", ["show", report]:
                return await self._show_report(place, profile, report)
            case "block" | "report", ["no"]:
                return Reply(panel=not_done_page(profile.language))
            case "block" | "report" as deed, ["ask" | "yes" as word, game_id, seat] if seat.isdecimal():
                met = await find_shared_game(self._archive, profile, game_id)
                other = self._other_player(met, int(seat))
                if word == "ask":
                    # A message of its own: the result stays.
                    return Reply(
                        panel=confirm_page(profile.language, deed, other.name, game_id, int(seat)), private=True
                    )
                await self._act(profile.id, deed, met, other)
                return Reply(panel=done_page(profile.language, deed, other.name))
        raise BadPayload()

    async def _show_report(self, place: str, profile: Profile, id: str) -> Reply:  # noqa: A002
        """The game that a report is about, for the host alone."""
        report = await self._reports.get(id)
        if report is None or profile.id != self._host:
            raise BadPayload()
        return Reply(panel=await self._replays.replay(place, profile, report.game_id, "1"), private=True)

    async def _act(self, person: str, deed: Deed, met: SharedGame, other: Chair) -> None:
        if deed == "block":
            await self._block(person, other)
            return
        own, now = met.chairs[met.seat], int(self._people.now())
        report = Report(met.game_id, met.game, met.code, now, person, own.name, other.person, other.name)
        found = await self._reports.file(report, met.seat)
        if found != "filed":
            raise ReportedAlready() if found == "again" else TooManyReports(most=REPORTS_A_DAY)

    async def _block(self, person: str, other: Chair) -> None:
        if person == other.person:
            raise NobodyThere()
        if not await self._finder.block(person, other.person, other.name):
            raise TooManyBlocks(most=MOST_BLOCKS)

    @staticmethod
    def _other_player(met: SharedGame, seat: int) -> Chair:
        """Who else sits or sat there; NobodyThere for a robot, and for who was forgotten."""
        if seat == met.seat or seat >= len(met.chairs):
            raise NobodyThere()
        other = met.chairs[seat]
        if not other.person or other.is_robot or is_pseudonym(other.person):
            raise NobodyThere()
        return other
