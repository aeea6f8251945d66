"""The feature object of the search for opponents, and the policy of the tables that it opens."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from bot.core import Core
from bot.feature import Feature, Forgetting, Step
from bot.features.find import keys
from bot.features.find.blocks_site import BlocksSite
from bot.features.find.commands import FindCommands
from bot.features.find.farewells import Farewells
from bot.features.find.finder import Finder
from bot.features.find.leavers import find_leavers
from bot.features.find.pages import ready_panel
from bot.features.find.report_messages import ReportSender
from bot.features.find.reports import Reports
from bot.features.find.site import FindSite
from bot.features.find.strangers import Strangers
from bot.panel import Panel
from bot.panels.strangers import DEEDS
from bot.table_policy import TablePolicy
from bot.tables.snapshot import TableSnapshot
from bot.tables.table import Table
from bot.texts import texts

POLL_SECONDS = 1.0  # pause between rounds of the search
REPORT_SECONDS = 10.0  # interval at which the leader sends new reports, and retries


class FindPolicy(TablePolicy):
    """Makes tables of matched people ask each of them in private whether they are ready."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder

    async def on_archived(self, table: Table, game: Any) -> None:
        await self._finder.add_leavers(find_leavers(table), table)

    async def decline(self, table: Table, person: str, update: str) -> bool:
        if table.matched:
            await self._finder.decline(table.code, person, update)
        return bool(table.matched)

    async def before_removal(self, table: Table) -> None:
        await self._finder.before_removal(table)

    def card_panel(self, table: Table, snapshot: TableSnapshot, reader: str, language: str) -> Panel:
        return ready_panel(table, snapshot, reader, language)


class FindFeature(Feature):
    name = "find"

    def __init__(self, core: Core) -> None:
        self._client, reports_to, answers = core.store.client, core.settings.reports_to, core.delivery.answers
        self._reports = Reports(self._client)
        self.finder = Finder(
            core.room, core.people, core.ratings, core.challenges, core.adapters, answers, core.is_in_trouble
        )
        self.report_sender = ReportSender(self._reports, core.people, core.adapters)
        people, room, updates = core.people, core.room, core.updates
        self._strangers = Strangers(
            self.finder, self._reports, core.archive, people, core.replays, room, updates, core.meetings, reports_to
        )
        self.blocks = BlocksSite(self._strangers, core.blocks, core.people)
        self.site = FindSite(self.finder, core.people, core.challenges)
        find = FindCommands(self.finder, core.people, core.challenges)
        farewells = Farewells(self._client, core.archive, core.blocks, core.people, core.adapters, answers)
        self.commands = {"find": find.find, "nickname": find.set_nickname, "block": self._strangers.block}
        self.pages = {"find": find.answer, "say": farewells.answer}
        self.pages |= {deed: partial(self._strangers.answer, deed) for deed in DEEDS}
        self.verbs = {deed: partial(self._strangers.act_at_table, deed) for deed in DEEDS}
        self.verbs["find"] = find.find_instead
        self.start_words = {"find": find.start}
        self.policy = FindPolicy(self.finder)
        self.loops = {"finding": partial(core.shards.while_leader, POLL_SECONDS, self.finder.run_round)}
        if reports_to:
            send_reports = partial(self.report_sender.send_unsent, reports_to)
            self.loops["reports"] = partial(core.shards.while_leader, REPORT_SECONDS, send_reports)

    async def remove_banned(self, person: str, update: str) -> None:
        await self.finder.queue.withdraw(person)

    def steps_before_leaving(self, forgetting: Forgetting) -> Iterator[Step]:
        # The people matched with this person return to the queue.
        yield partial(self.finder.queue.forget, forgetting.person)
        yield partial(self._reports.forget, forgetting.person, forgetting.pseudonym)

    def steps_at_the_end(self, forgetting: Forgetting) -> Iterator[Step]:
        yield partial(self._client.delete, keys.left_games(forgetting.person))
        yield partial(self.finder.queue.forget, forgetting.person)

    async def mydata(self, person: str, now: float) -> dict[str, Any]:
        search = await self._client.hget(keys.WAITING, person) or await self._client.hget(keys.ASKED, person)
        return {
            "looking_for": search.decode() if search else None,
            "blocked": [block.name for block in await self.finder.queue.blocks.blocks_of(person)],
            "left": [int(left_at) for left_at in await self.finder.leavers.times(person, now)],
            # Reports about the person are left out: only their authors and the host can read them.
            "reports": [
                {"at": report.at, "code": report.code, "game": report.game, "about": report.about_name}
                async for _id, report in self._reports.all_reports()
                if report.by == person
            ],
        }

    async def note_on_open_tables(self, language: str) -> str:
        searchers = await self.finder.queue.count()
        _, ngettext = texts(language)
        if not searchers:
            return _("Nobody is looking for an opponent right now.")
        text = ngettext(
            "{count} player is looking for an opponent.", "{count} players are looking for an opponent.", searchers
        )
        return text.format(count=searchers)
