"""The messages of matches: one in each group, edited as people enter and results come in.

When the match begins and when it is over, a new message replaces the last one, so that the group sees it.
"""

from collections.abc import Mapping

from bot.delivery.answer_queue import AnswerQueue
from bot.delivery.live_messages import Content, LiveMessages
from bot.features.duels import keys
from bot.features.duels.duel import DAY
from bot.features.duels.matches.match import Match
from bot.features.duels.matches.matches import Matches
from bot.features.duels.matches.pages import board_panel
from bot.features.duels.store import KEPT_SECONDS
from bot.people import People
from bot.platform import Adapter
from bot.viewers import Viewers

CHECK_SECONDS = 60  # interval of checks without a change, and of attempts after a failure
GIVE_UP_SECONDS = DAY  # time after the end, or after a redaction, in which a failed message is sent again


class Boards:
    """The messages of one store's matches. Only one worker calls `update_due`."""

    def __init__(
        self, matches: Matches, people: People, viewers: Viewers, adapters: Mapping[str, Adapter], answers: AnswerQueue
    ) -> None:
        self._matches, self._store, self._people, self._viewers = matches, matches.store, people, viewers
        self._messages = LiveMessages(
            "match", self._store.client, adapters, answers, self._read, keys.board, keys.board_wish, KEPT_SECONDS
        )

    async def update_due(self) -> None:
        """Advance the matches that have changed or whose time has come, and queue updates of their messages."""
        for code in await self._store.due(self._matches.now()):
            # A change from now on makes it due again.
            next_check = self._matches.now() + CHECK_SECONDS
            await self._store.set_due(code, next_check)
            match = await self._store.find(code)
            if match is None:
                await self._store.remove_due(code, next_check)
                continue
            match = await self._matches.advance(match)
            are_shown = [await self._update(match, side) for side in range(len(match.sides))]
            is_late = self._matches.now() > max(match.ends, match.redacted_at) + GIVE_UP_SECONDS
            if match.closing and (all(are_shown) or is_late):
                await self._store.remove_due(code, next_check)

    async def repost(self, match: Match, place: str) -> None:
        """Let the loop send a group's message again as the lowest one, unless the match is closed."""
        side = match.side_at(place)
        if side is not None and not match.closing:
            await self._messages.repost(_name(match, side))
            await self._store.touch(match.code)

    async def back_in_chat(self, match: Match, chat: str) -> None:
        """Let the loop update a group's message again, because the bot can write there again."""
        side = match.side_at(chat)
        if side is not None:
            await self._messages.back_in_chat(_name(match, side))
            await self._store.touch(match.code)

    async def _update(self, match: Match, side: int) -> bool:
        await self._store.move_board(match.code, side)
        return await self._messages.update(_name(match, side), await self._content(match, side))

    async def _read(self, name: str) -> Content | None:
        code, _, side = name.partition(":")
        match = await self._store.find(code)
        return await self._content(match, int(side)) if match else None

    async def _content(self, match: Match, side: int) -> Content:
        duels = await self._matches.duels_of(match)
        groups = [(await self._people.chat(group.place)).name for group in match.sides]
        place = match.sides[side].place
        viewer = await self._viewers.viewer_at(place)
        panel = board_panel(match, duels, groups, viewer.language, self._matches.now(), viewer.pages_url)
        return Content(place, panel, _edition(match))


def _name(match: Match, side: int) -> str:
    return f"{match.code}:{side}"


def _edition(match: Match) -> str:
    """Return a match's phase; each phase has its own message.

    A match that was called off, or that no group accepted, keeps its last message.
    """
    if match.closing in ("over", "few"):
        return "over"
    return "playing" if match.begun_at else "open"
