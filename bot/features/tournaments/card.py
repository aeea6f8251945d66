"""A tournament's card: one message in its chat, which is kept up to date, and the word of who has won.

Where the card stands, and what it shows, is noted in the store; a message that is sent is noted before and after, with
a key by which platforms know it again. So a crash can double a message only in between, and only where a platform
knows no keys.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial

import structlog
from cachetools import LRUCache

from bot.delivery.announcer import Announcer
from bot.delivery.answers import Answers
from bot.features.tournaments.naming import with_current_names
from bot.features.tournaments.panel import card_panel, winner_panel
from bot.features.tournaments.pictures import standings_sheet
from bot.features.tournaments.store import KEPT_SECONDS, TOURNAMENTS_REMEMBERED, Tournaments
from bot.features.tournaments.texts import time_left
from bot.features.tournaments.tournament import Tournament
from bot.panel import Panel
from bot.people import People
from bot.pictures.lettering import are_drawable
from bot.platform import (
    Adapter,
    ChatGone,
    MessageGone,
    MessageRefused,
    NotEditable,
    SentMessage,
    TooLong,
    Unreachable,
    platform_of,
)
from bot.pseudonyms import localize_name
from bot.store import keys
from bot.store.memory import Memory
from bot.viewers import Viewers, with_picture

RETRY_SECONDS = 10.0
"""After so long something is said anew that has waited for its chat's turn since: each time takes a turn of its own."""

REFUSED_SECONDS = 60.0
"""For how long nothing is said of a tournament after its chat's platform has refused that."""

REPOST, BACK = "repost", "back"
"""What may be wished of a card: that it comes anew, or is tried again."""

WISH_SECONDS = 86400

UNKNOWN_DIGEST = "?"
"""The digest of what was sent more than once, and not always as the same panel."""

log = structlog.get_logger()


@dataclass(frozen=True)
class CardState:
    """What is known of a card: where it stands and as what, the panel it shows, how many were sent; whether its chat
    cannot be written to, and whether the winner has been told.

    ``tried`` is the digest of what may have been sent since, under the key of the next message, empty if nothing was.
    """

    place: str = ""
    message: str = ""
    digest: str = ""
    sent: int = 0
    tried: str = ""
    outdated: str = ""
    is_dropped: bool = False
    is_announced: bool = False


class TournamentCards:
    """The cards of one store's tournaments. One worker keeps them, who calls `update`."""

    def __init__(
        self,
        tournaments: Tournaments,
        viewers: Viewers,
        people: People,
        adapters: Mapping[str, Adapter],
        answers: Answers,
        announcer: Announcer,
        memory: Memory,
    ) -> None:
        self._memory = memory
        self._client, self._tournaments, self._viewers = tournaments.client, tournaments, viewers
        self._people, self._adapters, self._answers, self._announcer = people, adapters, answers, announcer
        self._panels: LRUCache[str, tuple[object, Panel]] = LRUCache(TOURNAMENTS_REMEMBERED)
        self._silent_until: LRUCache[str, float] = LRUCache(TOURNAMENTS_REMEMBERED)

    async def update(self, tournament: Tournament) -> bool:
        """Have the card show a tournament; whether it does, or cannot, and nothing more is to be said."""
        if platform_of(tournament.place) not in self._adapters:
            # The host has taken this platform off; who plays elsewhere goes on.
            return True
        state, wish = (
            await self._load_state(tournament.code),
            await self._client.get(keys.tournament_wish(tournament.code)),
        )
        if not wish:
            if state.is_dropped and state.place == tournament.place:
                return True
            panel = await self._panel(tournament)
            if (
                self._is_shown(state, tournament, panel)
                and not state.outdated
                and self._is_winner_announced(state, tournament)
            ):
                return True
        if time.monotonic() < self._silent_until.get(tournament.code, 0.0):
            return False
        self._silent_until[tournament.code] = time.monotonic() + RETRY_SECONDS
        say = partial(self._deliver, tournament.code)
        self._answers.send(tournament.place, say, message=f"tournament {tournament.code}")
        return False

    async def repost(self, code: str) -> None:
        """Have the card come anew, as the lowest message of its chat; the one that stands there goes."""
        await self._client.set(keys.tournament_wish(code), REPOST, ex=WISH_SECONDS)

    async def back_in_chat(self, code: str) -> None:
        """Its chat can be written to again."""
        await self._client.set(keys.tournament_wish(code), BACK, ex=WISH_SECONDS, nx=True)

    @staticmethod
    def _is_shown(state: CardState, tournament: Tournament, panel: Panel) -> bool:
        return bool(state.message) and (state.place, state.digest) == (tournament.place, panel.digest)

    @staticmethod
    def _is_winner_announced(state: CardState, tournament: Tournament) -> bool:
        return tournament.phase != "over" or state.is_announced

    async def _panel(self, tournament: Tournament) -> Panel:
        """The panel of a card, drawn once for as long as nothing of it changes."""
        viewer, left = await self._viewers.viewer_at(tournament.place), await self._tournaments.seconds_left(tournament)
        tournament = await with_current_names(self._people, tournament)
        has_room = not self._memory.is_full
        about = (
            tournament.entries,
            tournament.opener,
            tournament.players,
            viewer,
            None if left is None else time_left(viewer.language, left),
            has_room,
        )
        known = self._panels.get(tournament.code)
        if known is None or known[0] != about:
            known = about, card_panel(viewer.language, tournament, left, viewer.pages_url, has_room=has_room)
            self._panels[tournament.code] = known
        return known[1]

    async def _deliver(self, code: str) -> None:
        """Do the next thing that is to be done about a card."""
        await self._apply_wish(code)
        tournament, state = await self._tournaments.load(code), await self._load_state(code)
        adapter = self._adapters[platform_of(tournament.place)]
        panel, silent = await self._panel(tournament), 0.0
        try:
            if state.outdated:
                await adapter.delete(state.place, state.outdated)
                await self._save_state(code, replace(state, outdated=""))
            elif not self._is_shown(state, tournament, panel):
                await self._show_panel(adapter, tournament, state, panel)
            elif not self._is_winner_announced(state, tournament):
                await self._announce(adapter, tournament)
                await self._save_state(code, replace(state, is_announced=True))
        except ChatGone:
            state = await self._load_state(code)
            if state.place != tournament.place:
                state = replace(state, place=tournament.place, message="", digest="", outdated="")
            await self._save_state(code, replace(state, is_dropped=True))
        except (MessageRefused, TooLong, Unreachable):
            silent = REFUSED_SECONDS
            raise
        finally:
            self._silent_until[code] = time.monotonic() + silent

    async def _show_panel(self, adapter: Adapter, tournament: Tournament, state: CardState, panel: Panel) -> None:
        code, place = tournament.code, tournament.place
        if state.message and state.place == place:
            try:
                sent = await adapter.edit(place, SentMessage(state.message), panel)
            except (MessageGone, NotEditable):
                state = replace(state, message="")
            else:
                await self._save_state(code, replace(state, message=sent.message, digest=panel.digest))
                return
        # A platform that knows the key keeps to what came under it first: where that may have been another panel it is
        # not known what the message shows, and an edit makes sure.
        tried = panel.digest if state.tried in ("", panel.digest) else UNKNOWN_DIGEST
        state = replace(state, place=place, message="", digest="", tried=tried)
        await self._save_state(code, state)
        number = state.sent + 1
        sent = await adapter.send(place, panel, f"tournament {code} {number}")
        digest = "" if tried == UNKNOWN_DIGEST else tried
        await self._save_state(code, replace(state, message=sent.message, digest=digest, sent=number, tried=""))

    async def _announce(self, adapter: Adapter, tournament: Tournament) -> None:
        """Tell who has won, with the table of results as a picture."""
        viewer = await self._viewers.viewer_at(tournament.place)
        tournament = await with_current_names(self._people, tournament)
        panel = winner_panel(viewer.language, tournament, viewer.pages_url)
        if viewer.deck:
            sheet = standings_sheet(viewer.language, tournament, viewer.group, int(time.time()))
            if not are_drawable([localize_name(chair.name, viewer.language) for chair in tournament.players if chair]):
                panel = replace(panel, fold=None)
            panel = with_picture(panel, sheet, viewer.language, is_lasting=True)
        key = f"tournament {tournament.code} won"
        await self._announcer.send(adapter, tournament.place, panel, key)

    async def _apply_wish(self, code: str) -> None:
        """Take up what was wished for; only here what is noted of a card is changed."""
        wish = await self._client.get(keys.tournament_wish(code))
        if wish:
            state = replace(await self._load_state(code), is_dropped=False)
            if wish.decode() == REPOST:
                state = replace(state, message="", outdated=state.message or state.outdated)
            await self._save_state(code, state)
            await self._client.delete(keys.tournament_wish(code))

    async def _load_state(self, code: str) -> CardState:
        found = await self._client.get(keys.tournament_card(code))
        return CardState(**json.loads(found)) if found else CardState()

    async def _save_state(self, code: str, state: CardState) -> None:
        await self._client.set(keys.tournament_card(code), json.dumps(asdict(state)), ex=KEPT_SECONDS)
