"""A tournament's card: one message in its chat that is kept up to date, and the message that announces the winner."""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from cachetools import LRUCache

from bot.delivery.announcer import Announcer
from bot.delivery.answer_queue import AnswerQueue
from bot.delivery.live_messages import Content, LiveMessages
from bot.features.tournaments import keys
from bot.features.tournaments.card_panel import card_panel, winner_panel
from bot.features.tournaments.current_names import with_current_names
from bot.features.tournaments.pictures import standings_sheet
from bot.features.tournaments.store import KEPT_SECONDS, TOURNAMENTS_REMEMBERED, Tournaments
from bot.features.tournaments.texts import time_left
from bot.features.tournaments.tournament import Tournament
from bot.identity.pseudonyms import localize_name
from bot.panel import Panel
from bot.people import People
from bot.pictures.lettering import are_drawable
from bot.platform import Adapter
from bot.store import Store
from bot.viewers import Viewers, with_picture


class TournamentCards:
    """The cards of one store's tournaments. Only one worker calls `update`."""

    def __init__(
        self,
        tournaments: Tournaments,
        viewers: Viewers,
        people: People,
        adapters: Mapping[str, Adapter],
        answers: AnswerQueue,
        announcer: Announcer,
        store: Store,
    ) -> None:
        self._store, self._tournaments, self._viewers = store, tournaments, viewers
        self._people, self._announcer = people, announcer
        self._panels: LRUCache[str, tuple[object, Panel]] = LRUCache(TOURNAMENTS_REMEMBERED)
        self._messages = LiveMessages(
            "tournament", store.client, adapters, answers, self._read, keys.card, keys.wish, KEPT_SECONDS
        )
        self.repost, self.back_in_chat = self._messages.repost, self._messages.back_in_chat

    async def update(self, tournament: Tournament) -> bool:
        """Queue what a card needs next. Return True if nothing is left to send, or if the card cannot be sent."""
        return await self._messages.update(tournament.code, await self._content(tournament))

    async def _read(self, code: str) -> Content:
        return await self._content(await self._tournaments.load(code))

    async def _content(self, tournament: Tournament) -> Content:
        announce = partial(self._announce, tournament) if tournament.phase == "over" else None
        return Content(tournament.place, await self._panel(tournament), announce=announce)

    async def _panel(self, tournament: Tournament) -> Panel:
        """Return a card's panel, from the cache unless its content has changed."""
        viewer = await self._viewers.viewer_at(tournament.place)
        seconds_left = await self._tournaments.seconds_left(tournament)
        tournament = await with_current_names(self._people, tournament)
        has_room, maintenance = not self._store.memory.is_full, self._store.levers.maintenance is not None
        time_text = None if seconds_left is None else time_left(viewer.language, seconds_left)
        content = tournament.entries, tournament.opener, tournament.players, viewer, time_text, has_room, maintenance
        cached_content, panel = self._panels.get(tournament.code, (None, Panel(())))
        if cached_content != content:
            panel = card_panel(viewer.language, tournament, seconds_left, has_room=has_room, maintenance=maintenance)
            self._panels[tournament.code] = content, panel
        return panel

    async def _announce(self, tournament: Tournament, adapter: Adapter) -> None:
        """Announce the winner, with the final standings as a picture."""
        viewer = await self._viewers.viewer_at(tournament.place)
        tournament = await with_current_names(self._people, tournament)
        panel = winner_panel(viewer.language, tournament)
        if viewer.deck:
            sheet = standings_sheet(viewer.language, tournament, viewer.group, int(time.time()))
            if not are_drawable([localize_name(chair.name, viewer.language) for chair in tournament.players if chair]):
                panel = replace(panel, fold=None)
            panel = with_picture(panel, sheet, viewer.language, is_lasting=True)
        await self._announcer.send(adapter, tournament.place, panel, f"tournament {tournament.code} won")
