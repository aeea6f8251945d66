"""The feature object of duels and of matches of groups, and the policy of their tables."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any, cast

from bot.core import Core
from bot.feature import Feature, Forgetting, Step
from bot.features.duels import keys
from bot.features.duels.commands import DuelCommands
from bot.features.duels.duel import Duel, Player
from bot.features.duels.duels import Duels
from bot.features.duels.matches.boards import Boards
from bot.features.duels.matches.commands import MatchCommands
from bot.features.duels.matches.matches import Matches
from bot.features.duels.matches.pages import PAGE as MATCH_PAGE
from bot.features.duels.matches.site import MatchSite
from bot.features.duels.matches.store import MatchStore
from bot.features.duels.messages import Messages
from bot.features.duels.pages import PAGE, played_panel
from bot.features.duels.site import DuelSite
from bot.features.duels.store import DuelStore
from bot.finished.archive import Archive
from bot.identity.pseudonyms import NAME
from bot.metrics import GAMES
from bot.panel import Panel
from bot.solo_deals.results import result_of, seed_for_move
from bot.store import Store
from bot.table_policy import Outcome, TablePolicy
from bot.tables.snapshot import OwnTexts
from bot.tables.table import Table
from bot.texts import gettext_noop as _
from bot.texts import texts

CLOSE_SECONDS = 5.0  # interval at which the leader closes duels
MESSAGE_SECONDS = 5.0  # interval at which the leader sends messages
MATCH_SECONDS = 1.0  # interval at which the leader checks for changed matches


class DuelPolicy(TablePolicy):
    """Makes a duel's tables unrated, their robots deterministic, and their records secret until both have played."""

    own_texts = OwnTexts(confirm_resign=_("Give up this deal? You can play it only once."), target=_("duel"))

    def __init__(self, store: Store, archive: Archive, duels: Duels) -> None:
        self._store, self._archive, self._duels = store, archive, duels

    def results_link(self, table: Table, language: str) -> tuple[str, str]:
        assert table.duel
        return f"/duel/{table.duel.code}", texts(language).gettext("⚔️ Duel")

    async def finish(self, table: Table) -> Outcome:
        assert table.duel
        game = await self._archive.build_game(table, time.time())
        duel = await self._duels.finish(game, table.duel)
        await self._store.confirm(keys.duel(table.duel.code))
        GAMES.labels(table.game_id, "duel").inc()
        return Outcome(game.id, (), game.ended, details=duel)

    def result_panel(self, table: Table, outcome: Outcome, language: str) -> Panel:
        assert table.duel
        assert table.game
        result, duel = result_of(table.game.record(live=False)), cast(Duel | None, outcome.details)
        return played_panel(duel, table.duel.side, table.duel.deal, result, language, table.game_id)

    async def outcome_for(self, table: Table, person: str) -> Outcome | None:
        if table.phase != "over" or table.duel is None:
            return None
        duel = await self._duels.store.find(table.duel.code)
        # The result might not be stored yet.
        is_known = duel is not None and (table.duel.side, table.duel.deal) in duel.played_deals
        return Outcome("", (), details=duel if is_known else None)

    def robot_seed(self, table: Table) -> int:
        assert table.game
        return seed_for_move(table.secret, len(table.game.moves))


class DuelsFeature(Feature):
    name = "duels"

    def __init__(self, core: Core) -> None:
        store = DuelStore(core.store.client)
        self.messages = Messages(store, core.viewers, core.adapters)
        self.duels = Duels(
            store, self.messages, core.room, core.challenges, core.archive, core.blocks, core.people, core.host_time
        )
        core.meetings.add(PAGE, self.duels.find_met)
        commands = DuelCommands(
            self.duels, core.people, core.archive, core.viewers, core.private_hands, core.updates, core.code_guard
        )
        self.site = DuelSite(core.people, self.duels, commands)
        self.policy = DuelPolicy(core.store, core.archive, self.duels)
        self.matches = Matches(MatchStore(core.store.client), self.duels, core.store, core.blocks)
        self.boards = Boards(self.matches, core.people, core.viewers, core.adapters, core.delivery.answers)
        self.match_site = MatchSite(self.matches, core.people)
        match_commands = MatchCommands(self.matches, self.boards, commands, core.people, core.code_guard)
        self.commands = {"duel": commands.ask, "match": match_commands.ask}
        self.pages = {PAGE: commands.answer, MATCH_PAGE: match_commands.answer}
        self.start_words = {PAGE: commands.start}
        self.loops = {
            "duels": partial(core.shards.while_leader, CLOSE_SECONDS, self.duels.close_due),
            "duel messages": partial(
                core.shards.while_leader, MESSAGE_SECONDS, partial(self.messages.send_due, self.duels.now)
            ),
            "matches": partial(core.shards.while_leader, MATCH_SECONDS, self.boards.update_due),
        }

    async def move_chat(self, old_id: str, new_id: str) -> None:
        await self.duels.store.move_chat(old_id, new_id)
        await self.matches.store.move_chat(old_id, new_id)

    async def refresh_chat(self, chat: str) -> None:
        if match := await self.matches.live_in(chat):
            await self.boards.back_in_chat(match, chat)

    async def remove_banned(self, person: str, update: str) -> None:
        await self.matches.leave_all(person)
        await self.duels.leave_all(person)

    def steps_before_leaving(self, forgetting: Forgetting) -> Iterator[Step]:
        # A match opens the duels of its players, so they leave it first.
        pseudonym = Player(forgetting.pseudonym, NAME)
        yield partial(self.matches.forget, forgetting.person, pseudonym)
        yield partial(self.duels.forget, forgetting.person, pseudonym)

    def steps_at_the_end(self, forgetting: Forgetting) -> Iterator[Step]:
        pseudonym = Player(forgetting.pseudonym, NAME)
        yield partial(self.matches.forget_list, forgetting.person, pseudonym)
        yield partial(self.duels.forget_list, forgetting.person, pseudonym)

    async def mydata(self, person: str, now: float) -> dict[str, Any]:
        return {
            "duels": [duel.export(person) for duel in await self.duels.naming(person)],
            "matches": await self.matches.export(person),
        }
