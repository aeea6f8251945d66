"""The topics of tables in private chats, on platforms that have them."""

from collections.abc import Mapping

from bot.delivery.surface_names import Hand, Result, SurfaceName
from bot.people import People
from bot.platform import Adapter, TopicAdapter, is_ephemeral, is_private, person_of, platform_of, private_place
from bot.tables.table import Table
from bot.texts import texts
from engine import GAMES


class TableTopics:
    """Keeps a table's hand and result together in a private chat."""

    def __init__(self, adapters: Mapping[str, Adapter], people: People) -> None:
        self._adapters, self._people = adapters, people

    async def place_to_send(self, table: Table, name: SurfaceName, place: str) -> str:
        """Return where a surface at ``place`` sends a new message: the table's topic, or the place itself.

        The message belongs to ``place`` wherever it is sent.
        """
        adapter = self._adapters[platform_of(place)]
        if not isinstance(name, Hand | Result) or not is_private(place) or is_ephemeral(place):
            return place
        if not isinstance(adapter, TopicAdapter) or not adapter.has_topics:
            return place
        person = person_of(place)
        return await adapter.find_topic(place, table.code, await self._name(table, person))

    async def close(self, table: Table) -> None:
        """Tell the platforms that a table's game is over. Safe to repeat."""
        for chair in table.chairs:
            if chair and isinstance(adapter := self._adapters.get(platform_of(chair.person)), TopicAdapter):
                await adapter.close_topic(private_place(chair.person), table.code)

    async def _name(self, table: Table, person: str) -> str:
        """Return a topic's name for a player: the game and the names of the others."""
        language = (await self._people.person(person)).language
        others = [chair.name for chair in table.localize(language).chairs if chair and chair.person != person]
        return " · ".join(filter(None, (texts(language).gettext(GAMES[table.game_id].name), ", ".join(others))))
