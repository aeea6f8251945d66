"""Gathers what the pages of the core show: rules, and lists of tables."""

from bot.core import Core
from bot.panel import Panel
from bot.panels.rules import rules_page
from bot.panels.tables import Seated, free_chairs, open_tables_page, tables_page
from bot.people import Profile
from bot.pictures.rules import rules_sheet
from bot.platform import chat_of
from bot.tables.snapshot import isolated
from bot.viewers import pictured
from engine import GAMES

MOST_LISTED = 10
"""How many open challenges are listed, each with its button."""


class Pages:
    """Pages with what the store knows."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def language(self, place: str) -> str:
        """The person's in private, the chat's in a group."""
        return (await self._core.viewers.at(place)).language

    async def rules(self, place: str, about: str) -> Panel:
        """How a game is played, by its id; other pages on rules as `rules_page` knows them."""
        viewer = await self._core.viewers.at(place)
        panel = rules_page(viewer.language, about, viewer.suits)
        if not viewer.deck or about not in GAMES:
            return panel
        sheet = rules_sheet(about, viewer.language, viewer.suits, viewer.deck)
        return pictured(panel, sheet, viewer.language, is_lasting=True)

    async def tables(self, profile: Profile) -> Panel:
        lines = []
        for table in await self._core.tables_of(profile.id):
            seat = table.seat_of(profile.id)
            others = [isolated(chair.name) for chair in table.chairs if chair and chair.person != profile.id]
            mine = table.game is not None and table.game.turn == seat
            state = "open" if table.phase == "open" else "mine" if mine else "theirs"
            lines.append(Seated(table.code, table.game_id, ", ".join(others), state))
        return tables_page(profile.language, sorted(lines, key=lambda line: (line.state != "mine", line.code)))

    async def open_tables(self, place: str) -> Panel:
        """The challenges of a chat that anybody there may take up."""
        language = await self.language(place)
        # A server's channels are one chat, and not everybody sees all of them.
        there = [table for table in await self._core.tables_at(chat_of(place)) if table.is_shown_at(place)]
        tables = [one for one in there if one.phase == "open" and one.invited is None and free_chairs(one)]
        tables.sort(key=lambda table: table.code)
        notes = [note for feature in self._core.features if (note := await feature.note_on_open_tables(language))]
        return open_tables_page(language, tables[:MOST_LISTED], notes)
