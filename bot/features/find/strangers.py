"""Blocking and reporting strangers."""

from collections.abc import Sequence

from bot.actions import BadPayload, TableAction, parse_number
from bot.delivery.surface import Change
from bot.delivery.surface_names import Hand
from bot.delivery.updates import Updates
from bot.features.find.errors import NobodyThere, ReportedAlready, TooManyBlocks, TooManyReports
from bot.features.find.finder import Finder
from bot.features.find.pages import blocks_page, confirm_page, done_page
from bot.features.find.reports import REPORTS_A_DAY, Report, Reports
from bot.features.find.shared_game import SharedGame, find_shared_game
from bot.finished.archive import Archive
from bot.finished.archive import game_id as id_in_archive
from bot.identity.names import plain_name
from bot.identity.pseudonyms import is_pseudonym, localize_name
from bot.meetings import Meetings
from bot.panel import Panel, Span
from bot.panels.drafts import NO_DRAFT
from bot.panels.replays import Replays
from bot.panels.strangers import Deed
from bot.parsing.mentions import NoSuchPerson, find_mentioned
from bot.people import People, Profile
from bot.platform import Command, Press, Reply
from bot.tables.chairs import Chair
from bot.tables.errors import NoSuchTable, NotAtThisTable, OldPanel
from bot.tables.limits import MAX_BLOCKS
from bot.tables.room import Room
from bot.texts import texts


class Strangers:
    def __init__(
        self,
        finder: Finder,
        reports: Reports,
        archive: Archive,
        people: People,
        replays: Replays,
        room: Room,
        updates: Updates,
        meetings: Meetings,
        host: str | None,
    ) -> None:
        """``host`` is the person who can read reports in the chat, or None."""
        self._meetings = meetings
        meetings.add("game", self._find_in_game)
        meetings.add("table", self._find_challenger)
        self._finder, self._blocks, self._reports = finder, finder.queue.blocks, reports
        self._archive, self._people, self._replays = archive, people, replays
        self._room, self._updates, self._host = room, updates, host

    async def block(self, command: Command, profile: Profile) -> Reply:
        if not (command.words or command.about):
            return Reply(panel=await self._blocks_page(profile), private=True)
        other = await find_mentioned(self._people, command)
        if other is None:
            raise NoSuchPerson(name=plain_name(command.words[0])[:32])
        await self._block(profile.id, Chair(other.id, other.name))
        return Reply(panel=done_page(profile.language, "block", other.name), private=True)

    async def act_at_table(self, deed: Deed, press: Press, profile: Profile, action: TableAction) -> Reply:
        if len(action.words) != 1:
            raise BadPayload()
        table = await self._room.table(action.code)
        seat, own_seat = parse_number(action.words), table.seat_of(press.person.id)
        if own_seat is None:
            raise NotAtThisTable(code=table.code)
        if not table.are_strangers or table.game is None:
            raise OldPanel()
        chairs = [chair or Chair("", "?") for chair in table.chairs]
        shared_game = SharedGame(id_in_archive(table), table.game_id, table.code, chairs, own_seat)
        await self._act(press.person.id, deed, shared_game, self._other_player(shared_game, seat))
        await self._updates.send_change(table.code, Hand(own_seat), Change(draft=NO_DRAFT))
        _ = texts(profile.language).gettext
        if deed == "report":
            return Reply(_("The bot’s host can read your report. Use /block to never meet them again."))
        return Reply(_("I won’t match you again. Unblock with /block."))

    async def answer(self, page: str, press: Press, profile: Profile, words: list[str]) -> Reply:
        match page, words:
            case "block", ["list"]:
                return Reply(panel=await self._blocks_page(profile))
            case "block", ["undo", token]:
                await self._blocks.remove(profile.id, token)
                return Reply(panel=await self._blocks_page(profile))
            case "report", ["show", report_id]:
                report = await self._reports.get(report_id)
                if report is None or profile.id != self._host:
                    raise BadPayload()
                replay = await self._replays.replay(press.place, profile, report.game_id, "1")
                return Reply(panel=replay, private=True)
            case "block" | "report", ["no"]:
                text = texts(profile.language).gettext("OK, everything stays as it is.")
                return Reply(panel=Panel((Span(text),)))
            case "block", ["ask" | "yes" as word, *place] if place:
                if len(place) == 2 and place[0] not in self._meetings.kinds:
                    place = ["game", *place]
                if word == "yes":
                    return Reply(panel=done_page(profile.language, "block", await self.block_met(profile, place)))
                name = (await self._find_met(profile, place)).name
                return Reply(panel=confirm_page(profile.language, "block", name, *place), private=True)
            case "report" as deed, ["ask" | "yes" as word, game_id, seat] if seat.isdecimal():
                shared_game = await find_shared_game(self._archive, profile, game_id)
                other = self._other_player(shared_game, int(seat))
                if word == "ask":
                    # Answer in a new message, so that the result stays.
                    question = confirm_page(profile.language, deed, other.name, game_id, seat)
                    return Reply(panel=question, private=True)
                await self._act(profile.id, deed, shared_game, other)
                return Reply(panel=done_page(profile.language, deed, other.name))
        raise BadPayload()

    async def block_met(self, profile: Profile, place: Sequence[str]) -> str:
        """Block the person met in a place, and return their name. Raises NobodyThere or TooManyBlocks."""
        other = await self._find_met(profile, place)
        await self._block(profile.id, other)
        return other.name

    async def _find_met(self, profile: Profile, place: Sequence[str]) -> Chair:
        other = await self._meetings.find(profile, place)
        if other is None or is_pseudonym(other.person):
            raise NobodyThere()
        return other._replace(name=localize_name(other.name, profile.language))

    async def _find_in_game(self, profile: Profile, words: Sequence[str]) -> Chair | None:
        """Return the player in a seat of a finished game of this person."""
        match words:
            case [game_id, seat] if seat.isascii() and seat.isdecimal():
                shared_game = await find_shared_game(self._archive, profile, game_id)
                return self._other_player(shared_game, int(seat))
        return None

    async def _find_challenger(self, profile: Profile, words: Sequence[str]) -> Chair | None:
        """Return who opened a table that challenges this person by name."""
        try:
            table = await self._room.load_cached(" ".join(words))
        except NoSuchTable:
            return None
        is_challenged = table.invited is not None and table.invites(profile.id, profile.handle)
        return table.opener if is_challenged and table.opener.person != profile.id else None

    async def _blocks_page(self, profile: Profile) -> Panel:
        return blocks_page(profile.language, await self._blocks.blocks_of(profile.id))

    async def _act(self, person: str, deed: Deed, shared_game: SharedGame, other: Chair) -> None:
        if deed == "block":
            await self._block(person, other)
            return
        game_id, game, code, chairs, own_seat = shared_game
        now = int(self._people.now())
        report = Report(game_id, game, code, now, person, chairs[own_seat].name, other.person, other.name)
        outcome = await self._reports.file(report, own_seat)
        if outcome != "filed":
            raise ReportedAlready() if outcome == "again" else TooManyReports(most=REPORTS_A_DAY)

    async def _block(self, person: str, other: Chair) -> None:
        if person == other.person:
            raise NobodyThere()
        if not await self._finder.block(person, other.person, other.name):
            raise TooManyBlocks(most=MAX_BLOCKS)

    @staticmethod
    def _other_player(shared_game: SharedGame, seat: int) -> Chair:
        """Return the other player in a seat. Raise NobodyThere for robots and forgotten people."""
        if seat == shared_game.seat or seat >= len(shared_game.chairs):
            raise NobodyThere()
        other = shared_game.chairs[seat]
        if not other.person or other.is_robot or is_pseudonym(other.person):
            raise NobodyThere()
        return other
