"""The feature of the search for opponents."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from bot.actions import BadPayload, TableAction, parse_number
from bot.core import Core
from bot.delivery.names import Hand
from bot.delivery.surface import Change
from bot.feature import Feature, Forgetting, Step
from bot.features.find import keys
from bot.features.find.commands import FindCommands
from bot.features.find.farewells import Farewells
from bot.features.find.finder import Finder
from bot.features.find.loop import ReportSender
from bot.features.find.pages import ready_panel
from bot.features.find.reports import Reports
from bot.features.find.strangers import Strangers
from bot.identity.names import plain_name
from bot.panel import Panel
from bot.panels.drafts import NO_DRAFT
from bot.panels.strangers import DEEDS, Deed
from bot.parsing.games import find_game
from bot.parsing.mentions import NoSuchPerson, find_mentioned
from bot.people import Profile
from bot.platform import Command, Press, Reply
from bot.table_policy import TablePolicy
from bot.tables.snapshot import TableSnapshot
from bot.tables.table import Table
from bot.texts import texts
from bot.words.wording import Wording


class FindPolicy(TablePolicy):
    """Tables of matched people, which ask each of them in private whether they are ready."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder

    async def on_archived(self, table: Table, game: Any) -> None:
        await self._finder.note_leavers(table)

    async def decline(self, table: Table, person: str, update: str) -> bool:
        if table.matched:
            await self._finder.decline(table.code, person, update)
        return bool(table.matched)

    async def before_removal(self, table: Table) -> None:
        await self._finder.before_removal(table)

    def card_panel(self, table: Table, seen: TableSnapshot, reader: str, language: str) -> Panel:
        return ready_panel(table, seen, reader, language)


class FindFeature(Feature):
    name = "find"

    def __init__(self, core: Core) -> None:
        self._client = core.store.client
        self._reports = Reports(self._client)
        answers = core.delivery.answers
        self.finder = Finder(
            core.room,
            core.people,
            core.ratings,
            core.challenges,
            core.shards,
            core.adapters,
            answers,
            core.is_in_trouble,
        )
        self.report_sender = ReportSender(core.store, core.shards, core.people, core.adapters, core.settings.reports_to)
        self._room, self._people, self._updates = core.room, core.people, core.updates
        self._finding = FindCommands(self.finder, core.people, core.challenges, core.robot_pool)
        self._strangers = Strangers(
            self.finder, self._reports, core.archive, core.people, core.replays, core.settings.reports_to
        )
        farewells = Farewells(self._client, core.archive, core.blocks, core.people, core.adapters, answers)
        self.commands = {"find": self._find, "nickname": self._nickname, "block": self._block}
        self.pages = {"find": self._page, "say": farewells.answer}
        self.pages |= {deed: partial(self._strangers_page, deed) for deed in DEEDS}
        self.verbs = {deed: partial(self._act_on_stranger, deed) for deed in DEEDS}
        self.start_words = {"find": self._start}
        self.policy = FindPolicy(self.finder)
        self.loops = {"finding": self.finder.run, "reports": self.report_sender.run}

    def steps_before_leaving(self, forgetting: Forgetting) -> Iterator[Step]:
        # Matched people return to the queue.
        yield partial(self.finder.queue.forget, forgetting.person)
        yield partial(self._reports.forget, forgetting.person, forgetting.pseudonym)

    def steps_at_the_end(self, forgetting: Forgetting) -> Iterator[Step]:
        yield partial(self._client.delete, keys.left(forgetting.person))
        yield partial(self.finder.queue.forget, forgetting.person)

    async def mydata(self, person: str, now: float) -> dict[str, Any]:
        return {
            "looking_for": await self._stored_search(person),
            "blocked": [block.name for block in await self.finder.queue.blocks.blocks_of(person)],
            "left": [int(at) for at in await self.finder.leavers.times(person, now)],
            # Reports about the person are between their authors and the host.
            "reports": [
                {"at": report.at, "code": report.code, "game": report.game, "about": report.about_name}
                async for _id, report in self._reports.all()
                if report.by == person
            ],
        }

    async def _stored_search(self, person: str) -> str | None:
        for key in (keys.WAITING, keys.ASKED):
            if found := await self._client.hget(key, person):
                return str(found.decode())
        return None

    async def note_on_open_tables(self, language: str) -> str:
        looking = await self.finder.queue.count()
        words = Wording(language, ())
        if not looking:
            _ = words.text
            return _("Nobody looks for an opponent just now.")
        text = words.ngettext("{count} player looks for an opponent.", "{count} players look for an opponent.", looking)
        return text.format(count=looking)

    async def _find(self, command: Command, profile: Profile) -> Reply:
        game = find_game(" ".join(command.words)) if command.words else ""
        return await self._finding.start_search(command.place, profile, command.key, game)

    async def _start(self, command: Command, profile: Profile) -> Reply:
        return await self._finding.start_search(command.place, profile, command.key)

    async def _page(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        return await self._finding.answer(press.place, profile, words, press.key)

    async def _nickname(self, command: Command, profile: Profile) -> Reply:
        return await self._finding.set_nickname(command.place, profile, " ".join(command.words))

    async def _block(self, command: Command, profile: Profile) -> Reply:
        if not (command.words or command.about):
            return await self._strangers.show_blocks(profile)
        about = await find_mentioned(self._people, command)
        if about is None:
            raise NoSuchPerson(name=plain_name(command.words[0])[:32])
        return await self._strangers.block(profile, about)

    async def _strangers_page(self, page: str, press: Press, profile: Profile, words: list[str]) -> Reply:
        return await self._strangers.answer(press.place, profile, page, words)

    async def _act_on_stranger(self, deed: Deed, press: Press, profile: Profile, action: TableAction) -> Reply:
        if len(action.words) != 1:
            raise BadPayload()
        table = await self._room.table(action.code)
        await self._strangers.act_at_table(table, press.person.id, deed, parse_number(action.words))
        seat = table.seat_of(press.person.id)
        assert seat is not None
        await self._updates.send_change(table.code, Hand(seat), Change(draft=NO_DRAFT))
        _ = texts(profile.language).gettext
        if deed == "report":
            return Reply(
                _("Your report is filed: the host of this bot can read it. To avoid meeting them again: /block.")
            )
        return Reply(_("You are matched with them no more. /block lets you unblock them."))
