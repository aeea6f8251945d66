"""The messages of matches: one in each group, edited as people enter and results come in.

When the match begins and when it is over, a new message replaces the last one, so that the group sees it. Only one
worker calls `update_due`. It queues each message with the group's other answers, so that the group's rate limit holds
and changes that come together make one edit. The state is stored before and after each message is sent, and messages
carry a key by which a platform recognizes a repetition. A crash can double a message only on platforms without such
keys.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial

import structlog

from bot.delivery.answer_queue import AnswerQueue
from bot.features.duels import keys
from bot.features.duels.duel import DAY
from bot.features.duels.matches.match import Match
from bot.features.duels.matches.matches import Matches
from bot.features.duels.matches.pages import board_panel
from bot.panel import Panel
from bot.people import People
from bot.platform import (
    Adapter,
    ChatGone,
    DeliveryError,
    MessageGone,
    NotEditable,
    SentMessage,
    is_retryable,
    platform_of,
)
from bot.viewers import Viewers

CHECK_SECONDS = 60  # interval of checks without a change, and of attempts after a failure
GIVE_UP_SECONDS = DAY  # time after the end in which a failed message is sent again
UNKNOWN_DIGEST = "?"  # digest of a message that was sent more than once, with different panels

log = structlog.get_logger()


@dataclass(frozen=True)
class BoardState:
    """The stored state of a group's message.

    ``digest`` is the digest of the panel shown, ``sent`` the number of messages so far. ``tried`` is the digest of a
    panel that might have been sent as the next message, or empty. ``outdated`` is a message to delete. ``is_dropped``:
    the bot cannot write to the group.
    """

    place: str = ""
    phase: str = ""
    message: str = ""
    digest: str = ""
    sent: int = 0
    tried: str = ""
    outdated: str = ""
    is_dropped: bool = False


def _phase(match: Match) -> str:
    """Return a match's phase; each phase has its own message.

    A match that was called off, or that no group accepted, keeps its last message.
    """
    if match.closed in ("over", "few"):
        return "over"
    return "playing" if match.begun else "open"


def _wish(side: int) -> str:
    """Return the field that is set if a group wants its message again as the lowest one."""
    return f"repost:{side}"


class Boards:
    def __init__(
        self,
        matches: Matches,
        people: People,
        viewers: Viewers,
        adapters: Mapping[str, Adapter],
        answers: AnswerQueue,
    ) -> None:
        self._matches, self._store, self._client = matches, matches.store, matches.store.client
        self._people, self._viewers, self._adapters, self._answers = people, viewers, adapters, answers

    async def update_due(self) -> None:
        """Advance the matches that have changed or whose time has come, and queue updates of their messages."""
        for code in await self._store.due(self._matches.now()):
            # A change from now on makes it due again.
            await self._store.set_due(code, self._matches.now() + CHECK_SECONDS)
            match = await self._store.find(code)
            if match is None:
                await self._store.remove_due(code)
                continue
            match = await self._matches.advance(match)
            are_shown = [await self._update(match, side) for side in range(len(match.sides))]
            is_late = self._matches.now() > match.ends + GIVE_UP_SECONDS
            if match.closed and (all(are_shown) or is_late):
                await self._store.remove_due(code)

    async def repost(self, match: Match, place: str) -> None:
        """Let the loop send a group's message again as the lowest one, unless the match is closed.

        The loop then tries a group again in which the bot could not write.
        """
        side = match.side_at(place)
        if side is not None:
            await self._store.change(match.code, {_wish(side): 1}, unless=("closed",))

    async def _update(self, match: Match, side: int) -> bool:
        """Queue an update of a group's message if needed. Return True if it is up to date or cannot be sent."""
        place = match.sides[side].place
        if platform_of(place) not in self._adapters:
            # The host has removed this platform. The other group continues.
            return True
        state, is_wanted = await self._next_state(match, side)
        if state.is_dropped:
            return True
        if (
            not is_wanted
            and state.message
            and not state.outdated
            and state.digest == (await self._panel(match, side)).digest
        ):
            return True
        self._answers.send(place, partial(self._show, match.code, side), message=f"match {match.code}")
        return False

    async def _panel(self, match: Match, side: int) -> Panel:
        duels = await self._matches.duels_of(match)
        groups = [(await self._people.chat(group.place)).name for group in match.sides]
        language = (await self._viewers.viewer_at(match.sides[side].place)).language
        return board_panel(match, duels, groups, language, self._matches.now())

    async def _show(self, code: str, side: int) -> None:
        """Bring a group's message up to date."""
        match = await self._store.find(code)
        if match is None:
            return
        place, (state, is_wanted) = match.sides[side].place, await self._next_state(match, side)
        await self._save(code, side, state)
        if is_wanted:
            await self._client.hdel(keys.match(code), _wish(side))
        try:
            await self._deliver(self._adapters[platform_of(place)], code, side, state, await self._panel(match, side))
        except ChatGone:
            current = await self._load(code, side)
            await self._save(code, side, replace(current, place=place, is_dropped=True))
        # Check the match again now: if it is over and up to date, this is the last check.
        await self._store.touch(code)

    async def _next_state(self, match: Match, side: int) -> tuple[BoardState, bool]:
        """Return the state without messages of another place or phase, and whether the group wants its message again.

        Only `_show` stores the state, because its calls for a group never overlap.
        """
        state, place = await self._load(match.code, side), match.sides[side].place
        if state.place != place:
            state = BoardState(place, _phase(match), sent=state.sent)
        if is_wanted := bool(await self._client.hexists(keys.match(match.code), _wish(side))):
            state = replace(state, is_dropped=False)
        if is_wanted or state.phase != _phase(match):
            outdated = state.message or state.outdated
            state = replace(state, phase=_phase(match), message="", digest="", tried="", outdated=outdated)
        return state, is_wanted

    async def _deliver(self, adapter: Adapter, code: str, side: int, state: BoardState, panel: Panel) -> None:
        place = state.place
        if not state.message:
            # A platform with keys keeps the first message sent under a key, which can have a different panel. Then the
            # digest is unknown, and the message is edited.
            tried = panel.digest if state.tried in ("", panel.digest) else UNKNOWN_DIGEST
            await self._save(code, side, replace(state, tried=tried))
            number = state.sent + 1
            try:
                sent = await adapter.send(place, panel, f"match {code} {side} {number}")
            except DeliveryError as error:
                if is_retryable(error):
                    await self._save(code, side, state)
                raise
            digest = "" if tried == UNKNOWN_DIGEST else tried
            state = replace(state, message=sent.message, digest=digest, sent=number, tried="")
            await self._save(code, side, state)
        if state.digest != panel.digest:
            try:
                sent = await adapter.edit(place, SentMessage(state.message), panel)
            except (MessageGone, NotEditable):
                await self._save(code, side, replace(state, message="", digest=""))
                await self._store.touch(code)
                return
            state = replace(state, message=sent.message, digest=panel.digest)
            await self._save(code, side, state)
        if state.outdated:
            await self._delete(adapter, place, state.outdated)
            await self._save(code, side, replace(state, outdated=""))

    async def _delete(self, adapter: Adapter, place: str, message: str) -> None:
        """Delete an outdated message. A platform can refuse to delete an old message, which then stays."""
        try:
            await adapter.delete(place, message)
        except DeliveryError as error:
            if is_retryable(error):
                raise
            log.info("match_message_not_deleted", platform=platform_of(place), why=type(error).__name__)

    async def _load(self, code: str, side: int) -> BoardState:
        found = await self._client.hget(keys.match(code), f"board:{side}")
        return BoardState(**json.loads(found)) if found else BoardState()

    async def _save(self, code: str, side: int, state: BoardState) -> None:
        await self._client.hset(keys.match(code), f"board:{side}", json.dumps(asdict(state)))
