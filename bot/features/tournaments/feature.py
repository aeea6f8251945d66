"""The tournaments feature."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from bot.core import Core
from bot.feature import Feature, Forgetting, Step
from bot.features.tournaments import keys
from bot.features.tournaments.card import TournamentCards
from bot.features.tournaments.commands import TournamentCommands
from bot.features.tournaments.director import Director
from bot.features.tournaments.forgetting import export, forget
from bot.features.tournaments.match_tables import MatchTables
from bot.features.tournaments.registration import Registration
from bot.features.tournaments.reminders import Reminders
from bot.features.tournaments.site import TournamentSite
from bot.features.tournaments.store import Tournaments
from bot.finished.archive import Archive
from bot.metrics import GAMES
from bot.people import Profile
from bot.platform import Command, Reply
from bot.store import Store
from bot.table_policy import Outcome, TablePolicy
from bot.tables.table import Table

POLL_SECONDS = 1.0  # interval of checks for changed tournaments


class TournamentPolicy(TablePolicy):
    """Reports results to the director. Duplicate games are not rated, and stay hidden until their round is over."""

    def __init__(self, store: Store, archive: Archive, director: Director) -> None:
        self._store, self._archive, self._director = store, archive, director

    async def finish(self, table: Table) -> Outcome | None:
        if not table.is_duplicate:
            return None
        assert table.fixture
        game = await self._archive.build_game(table, time.time())
        await self._director.record_game(table, game)
        await self._store.confirm(keys.games(table.fixture.tournament))
        GAMES.labels(table.game_id, "duplicate").inc()
        return Outcome(game.id, (), game.ended)

    async def on_archived(self, table: Table, game: Any) -> None:
        await self._director.record_game(table, game)


class TournamentsFeature(Feature):
    """Knock-outs, Swiss tournaments, round robins, duplicates and leagues."""

    name = "tournaments"

    def __init__(self, core: Core) -> None:
        self._store = core.store
        answers, announcer = core.delivery.answers, core.delivery.announcer
        self._tournaments = Tournaments(core.store)
        self._cards = TournamentCards(
            self._tournaments, core.viewers, core.people, core.adapters, answers, announcer, core.store
        )
        self.registration = Registration(core.store, self._tournaments, core.ratings)
        match_tables = MatchTables(core.room, core.challenges, core.archive, core.people)
        reminders = Reminders(self._tournaments, core.people, core.adapters, answers)
        self.director = Director(self._tournaments, match_tables, self._cards, reminders, core.archive)
        viewers, people, hands = core.viewers, core.people, core.private_hands
        self.tournaments = TournamentCommands(
            self._tournaments, self.registration, self._cards, viewers, people, hands, core.archive
        )
        self.site = TournamentSite(
            self._tournaments, self.registration, core.people, core.archive, core.room, core.watching
        )
        self.commands = {
            "tournament": partial(self.tournaments.open_or_show, "knockout"),
            "league": partial(self.tournaments.open_or_show, "league"),
        }
        self.pages = {"tournament": self.tournaments.answer}
        self.start_words = {"tournament": self._start}
        self.policy = TournamentPolicy(core.store, core.archive, self.director)
        self.loops = {"tournaments": partial(core.shards.while_leader, POLL_SECONDS, self.director.check_all)}

    async def move_chat(self, old_id: str, new_id: str) -> None:
        await self._tournaments.move_chat(old_id, new_id)

    async def refresh_chat(self, chat: str) -> None:
        for tournament in await self._tournaments.in_chat(chat):
            await self._cards.back_in_chat(tournament.code)

    async def remove_banned(self, person: str, update: str) -> None:
        await self.registration.withdraw_everywhere(person, update)

    def steps_before_leaving(self, forgetting: Forgetting) -> Iterator[Step]:
        yield partial(forget, self._store, forgetting.person, forgetting.pseudonym)

    async def mydata(self, person: str, now: float) -> dict[str, Any]:
        return {"tournaments": await export(self._store.client, person)}

    async def _start(self, command: Command, profile: Profile) -> Reply:
        return Reply(panel=await self.tournaments.list_own(profile), private=True)
