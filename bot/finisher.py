"""Storing and rating finished games."""

import time

from bot.finished.archive import Archive
from bot.finished.ratings import MIN_GAMES, Ratings, Scope
from bot.finished.unrated_games import unrated_reason
from bot.metrics import GAMES
from bot.panels.board import RatingChange
from bot.store import Store, keys
from bot.table_policy import Outcome, Policies
from bot.tables.table import Table


class Finisher:
    def __init__(self, store: Store, archive: Archive, ratings: Ratings, policies: Policies) -> None:
        self._store, self._archive, self._ratings, self._policies = store, archive, ratings, policies

    async def finish(self, table: Table) -> Outcome:
        """Archive and rate a finished game, or follow the table's policy. Safe to call twice."""
        assert table.game
        policy = self._policies.policy_of(table)
        if outcome := await policy.finish(table):
            return outcome
        # A duplicate must not come here: the archive is public, and other tables still have to play its cards.
        assert not table.is_duplicate
        game = await self._archive.add(table, time.time())
        # Replicas must have the game before the table is removed, because game and table can be on different nodes.
        await self._store.confirm(keys.game(game.id), keys.GAMES_ORDER)
        await self._ratings.catch_up()
        await policy.on_archived(table, game)
        GAMES.labels(table.game_id, table.game.ending or "").inc()
        names = {chair.person: chair.name for chair in table.chairs if chair}
        changes = await self._ratings.changes(game.id)
        scope = Scope(game=table.game_id)
        rating_changes = []
        for person, old_rating, new_rating in changes:
            is_provisional = (await self._ratings.standing(scope, person)).games < MIN_GAMES
            rating_changes.append(RatingChange(names.get(person, "?"), old_rating, new_rating, is_provisional))
        return Outcome(game.id, rating_changes, game.ended, unrated=unrated_reason(game, changes))

    async def catch_up(self) -> None:
        """Rate all unrated games: after an interrupted rebuild that can be all of them."""
        while True:
            with self._store.outage.suppress_errors():
                await self._ratings.catch_up()
                return
            await self._store.outage.wait_until_over()
