"""Blocking and reporting strangers."""

from bot.actions import BadPayload
from bot.features.find.errors import NobodyThere, ReportedAlready, TooManyBlocks, TooManyReports
from bot.features.find.finder import Finder
from bot.features.find.reports import REPORTS_A_DAY, Report, Reports
from bot.features.find.shared_game import SharedGame, find_shared_game
from bot.features.find.stranger_pages import blocks_page, confirm_page, done_page, not_done_page
from bot.finished.archive import Archive
from bot.finished.archive import game_id as id_in_archive
from bot.identity.pseudonyms import is_pseudonym
from bot.panels.replays import Replays
from bot.panels.strangers import Deed
from bot.people import People, Profile
from bot.platform import Reply
from bot.tables.blocks import MOST_BLOCKS
from bot.tables.chairs import Chair
from bot.tables.errors import NotAtThisTable
from bot.tables.table import Table


class Strangers:
    def __init__(
        self, finder: Finder, reports: Reports, archive: Archive, people: People, replays: Replays, host: str | None
    ) -> None:
        """``host`` is the person who can read reports in the chat, or None."""
        self._finder, self._blocks, self._reports = finder, finder.queue.blocks, reports
        self._archive, self._people, self._replays, self._host = archive, people, replays, host

    async def show_blocks(self, profile: Profile) -> Reply:
        return Reply(panel=blocks_page(profile.language, await self._blocks.blocks_of(profile.id)), private=True)

    async def block(self, profile: Profile, other: Profile) -> Reply:
        await self._block(profile.id, Chair(other.id, other.name))
        return Reply(panel=done_page(profile.language, "block", other.name), private=True)

    async def act_at_table(self, table: Table, person: str, deed: Deed, seat: int) -> None:
        own = table.seat_of(person)
        if own is None or not table.are_strangers or table.game is None:
            raise NotAtThisTable(code=table.code)
        chairs = [chair or Chair("", "?") for chair in table.chairs]
        shared = SharedGame(id_in_archive(table), table.game_id, table.code, chairs, own)
        await self._act(person, deed, shared, self._other_player(shared, seat))

    async def answer(self, place: str, profile: Profile, page: str, words: list[str]) -> Reply:
        match page, words:
            case "block", ["list"]:
                return Reply(panel=blocks_page(profile.language, await self._blocks.blocks_of(profile.id)))
            case "block", ["undo", token]:
                await self._blocks.remove(profile.id, token)
                return Reply(panel=blocks_page(profile.language, await self._blocks.blocks_of(profile.id)))
            case "report", ["show", report]:
                return await self._show_report(place, profile, report)
            case "block" | "report", ["no"]:
                return Reply(panel=not_done_page(profile.language))
            case "block" | "report" as deed, ["ask" | "yes" as word, game_id, seat] if seat.isdecimal():
                shared = await find_shared_game(self._archive, profile, game_id)
                other = self._other_player(shared, int(seat))
                if word == "ask":
                    # In a new message, so that the result stays.
                    return Reply(
                        panel=confirm_page(profile.language, deed, other.name, game_id, int(seat)), private=True
                    )
                await self._act(profile.id, deed, shared, other)
                return Reply(panel=done_page(profile.language, deed, other.name))
        raise BadPayload()

    async def _show_report(self, place: str, profile: Profile, id: str) -> Reply:  # noqa: A002
        report = await self._reports.get(id)
        if report is None or profile.id != self._host:
            raise BadPayload()
        return Reply(panel=await self._replays.replay(place, profile, report.game_id, "1"), private=True)

    async def _act(self, person: str, deed: Deed, shared: SharedGame, other: Chair) -> None:
        if deed == "block":
            await self._block(person, other)
            return
        own, now = shared.chairs[shared.seat], int(self._people.now())
        report = Report(shared.game_id, shared.game, shared.code, now, person, own.name, other.person, other.name)
        found = await self._reports.file(report, shared.seat)
        if found != "filed":
            raise ReportedAlready() if found == "again" else TooManyReports(most=REPORTS_A_DAY)

    async def _block(self, person: str, other: Chair) -> None:
        if person == other.person:
            raise NobodyThere()
        if not await self._finder.block(person, other.person, other.name):
            raise TooManyBlocks(most=MOST_BLOCKS)

    @staticmethod
    def _other_player(shared: SharedGame, seat: int) -> Chair:
        """Return the other player in a seat. Raise NobodyThere for robots and forgotten people."""
        if seat == shared.seat or seat >= len(shared.chairs):
            raise NobodyThere()
        other = shared.chairs[seat]
        if not other.person or other.is_robot or is_pseudonym(other.person):
            raise NobodyThere()
        return other
