"""A tournament's card: one message in its chat that is kept up to date, and the message that announces the winner.

The card's state is stored before and after each message is sent. Messages carry a key by which a platform recognizes a
repetition. A crash can double a message only on platforms without such keys.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial

import structlog
from cachetools import LRUCache

from bot.delivery.announcer import Announcer
from bot.delivery.answer_queue import AnswerQueue
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
from bot.store import Store
from bot.viewers import Viewers, with_picture

RETRY_SECONDS = 10.0  # time after which an update that still waits for its chat's turn is queued again
REFUSED_SECONDS = 60.0  # pause after the platform has refused a message about a tournament
# Stored wishes: send the card again as the lowest message, or retry a chat that could not be written to.
REPOST, BACK = "repost", "back"
WISH_SECONDS = 86400

UNKNOWN_DIGEST = "?"  # digest of a message that was sent more than once, with different panels

log = structlog.get_logger()


@dataclass(frozen=True)
class CardState:
    """The stored state of a card.

    ``digest`` is the digest of the panel that the card shows, ``sent`` the number of messages so far. ``tried`` is the
    digest of a panel that might have been sent as the next message, or empty. ``outdated`` is a message to delete.
    ``is_dropped``: the bot cannot write to the chat. ``is_announced``: the winner was announced there.
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
        self._store = store
        self._client, self._tournaments, self._viewers = tournaments.client, tournaments, viewers
        self._people, self._adapters, self._answers, self._announcer = people, adapters, answers, announcer
        self._panels: LRUCache[str, tuple[object, Panel]] = LRUCache(TOURNAMENTS_REMEMBERED)
        self._paused_until: LRUCache[str, float] = LRUCache(TOURNAMENTS_REMEMBERED)

    async def update(self, tournament: Tournament) -> bool:
        """Queue what a card needs next. Return True if nothing is left to send, or if the card cannot be sent."""
        if platform_of(tournament.place) not in self._adapters:
            # The host has removed this platform. Players on other platforms continue.
            return True
        state = await self._load_state(tournament.code)
        if not await self._client.get(keys.wish(tournament.code)):
            if state.is_dropped and state.place == tournament.place:
                return True
            is_announced = tournament.phase != "over" or state.is_announced
            panel = await self._panel(tournament)
            if not state.outdated and is_announced and _is_shown(state, tournament, panel):
                return True
        if time.monotonic() < self._paused_until.get(tournament.code, 0.0):
            return False
        self._paused_until[tournament.code] = time.monotonic() + RETRY_SECONDS
        deliver = partial(self._deliver, tournament.code)
        self._answers.send(tournament.place, deliver, message=f"tournament {tournament.code}")
        return False

    async def repost(self, code: str) -> None:
        """Ask the director to send the card again as the lowest message of its chat, and to delete the old one."""
        await self._client.set(keys.wish(code), REPOST, ex=WISH_SECONDS)

    async def back_in_chat(self, code: str) -> None:
        """Note that the bot can write to the chat again."""
        await self._client.set(keys.wish(code), BACK, ex=WISH_SECONDS, nx=True)

    async def _panel(self, tournament: Tournament) -> Panel:
        """Return a card's panel, from the cache unless its content has changed."""
        viewer, left = await self._viewers.viewer_at(tournament.place), await self._tournaments.seconds_left(tournament)
        tournament = await with_current_names(self._people, tournament)
        has_room, maintenance = not self._store.memory.is_full, self._store.levers.maintenance is not None
        time_text = None if left is None else time_left(viewer.language, left)
        content = tournament.entries, tournament.opener, tournament.players, viewer, time_text, has_room, maintenance
        known = self._panels.get(tournament.code)
        if known is None or known[0] != content:
            known = content, card_panel(viewer.language, tournament, left, has_room=has_room, maintenance=maintenance)
            self._panels[tournament.code] = known
        return known[1]

    async def _deliver(self, code: str) -> None:
        """Send the next message, edit or deletion that a card needs."""
        await self._apply_wish(code)
        tournament, state = await self._tournaments.load(code), await self._load_state(code)
        adapter = self._adapters[platform_of(tournament.place)]
        panel, pause = await self._panel(tournament), 0.0
        try:
            if state.outdated:
                await adapter.delete(state.place, state.outdated)
                await self._save_state(code, replace(state, outdated=""))
            elif not _is_shown(state, tournament, panel):
                await self._show_panel(adapter, tournament, state, panel)
            elif tournament.phase == "over" and not state.is_announced:
                await self._announce(adapter, tournament)
                await self._save_state(code, replace(state, is_announced=True))
        except ChatGone:
            state = await self._load_state(code)
            if state.place != tournament.place:
                state = replace(state, place=tournament.place, message="", digest="", outdated="")
            await self._save_state(code, replace(state, is_dropped=True))
        except (MessageRefused, TooLong, Unreachable):
            pause = REFUSED_SECONDS
            raise
        finally:
            self._paused_until[code] = time.monotonic() + pause

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
        # A platform with keys keeps the first message sent under a key. That message can have a different panel.
        # Then the digest is unknown, and the next update edits the message.
        tried = panel.digest if state.tried in ("", panel.digest) else UNKNOWN_DIGEST
        state = replace(state, place=place, message="", digest="", tried=tried)
        await self._save_state(code, state)
        number = state.sent + 1
        sent = await adapter.send(place, panel, f"tournament {code} {number}")
        digest = "" if tried == UNKNOWN_DIGEST else tried
        await self._save_state(code, replace(state, message=sent.message, digest=digest, sent=number, tried=""))

    async def _announce(self, adapter: Adapter, tournament: Tournament) -> None:
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

    async def _apply_wish(self, code: str) -> None:
        wish = await self._client.get(keys.wish(code))
        if wish:
            state = replace(await self._load_state(code), is_dropped=False)
            if wish.decode() == REPOST:
                state = replace(state, message="", outdated=state.message or state.outdated)
            await self._save_state(code, state)
            await self._client.delete(keys.wish(code))

    async def _load_state(self, code: str) -> CardState:
        found = await self._client.get(keys.card(code))
        return CardState(**json.loads(found)) if found else CardState()

    async def _save_state(self, code: str, state: CardState) -> None:
        await self._client.set(keys.card(code), json.dumps(asdict(state)), ex=KEPT_SECONDS)


def _is_shown(state: CardState, tournament: Tournament, panel: Panel) -> bool:
    return bool(state.message) and (state.place, state.digest) == (tournament.place, panel.digest)
