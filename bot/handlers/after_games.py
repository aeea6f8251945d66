"""Facts about a finished game for its page: why it was not rated, and who wants a rematch."""

from bot.finished.archive import Archive, game_id
from bot.finished.ratings import Ratings
from bot.finished.unrated_games import unrated_reason
from bot.people import People
from bot.platform import private_place
from bot.store.outage import Outage
from bot.tables.challenges import Challenges
from bot.tables.table import Table


class AfterGames:
    """Looks up the rating and the rematch of finished games."""

    def __init__(
        self, archive: Archive, ratings: Ratings, challenges: Challenges, people: People, outage: Outage
    ) -> None:
        self._archive, self._ratings, self._challenges = archive, ratings, challenges
        self._people, self._outage = people, outage

    async def unrated_reason(self, table: Table) -> str | None:
        """Return why a game changed no ratings; None until it is rated, and while the store is away."""
        with self._outage.suppress_errors():
            game = await self._archive.get(game_id(table))
            if game is None:
                return None
            changes = await self._ratings.changes(game.id)
            return None if game.is_rated and not changes else unrated_reason(game, changes)
        return None

    async def find_rematch_opener(self, table: Table, person: str) -> str:
        """Return the name of a player who waits for this person's rematch of a game that no group saw.

        Empty if no player waits, and while the store is away. If a group saw the game, the challenge is visible there.
        """
        with self._outage.suppress_errors():
            again = await self._challenges.find_opened(f"again:{game_id(table)}")
            if again is None or again.phase != "open" or not again.matched or person in again.people:
                return ""
            # A blocked player's rematch offer is not announced.
            if private_place(person) not in again.hosts:
                return ""
            chairs = again.localize((await self._people.person(person)).language).chairs
            return next((chair.name for chair in chairs if chair and not chair.is_robot), "")
        return ""
