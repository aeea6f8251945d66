"""Messages about duels that nobody asked for: to the players, and the result in the group.

They stay in the store until they are sent, so a crash loses none. A step that is repeated after a crash stores its
messages again, so the duel notes which were sent. Messages about an acceptance are stored before it. A challenge's
message is stored right after the duel, before the challenger gets an answer.
"""

from collections.abc import Callable, Mapping
from typing import Literal

import structlog

from bot.features.duels import keys
from bot.features.duels.duel import DAY, SIDES, Duel
from bot.features.duels.pages import accepted_panel, called_panel, card_panel, drawn_panel, over_panel, soon_panel
from bot.features.duels.store import DuelStore
from bot.identity.pseudonyms import is_pseudonym
from bot.panel import Panel
from bot.platform import Adapter, DeliveryError, is_retryable, platform_of, private_place
from bot.viewers import Viewers

Kind = Literal["called", "accepted", "drawn", "soon", "over", "board"]
"""The challenge, its acceptance, the draw of a match, a reminder, the end; and the end in the group."""

RETRY_SECONDS = 60  # pause before a failed message is sent again
GIVE_UP_SECONDS = DAY  # time after the duel's end in which failed messages are sent again
REMIND_SECONDS = DAY  # time before the end of a duel when players with deals left are reminded

log = structlog.get_logger()


class Messages:
    def __init__(self, store: DuelStore, viewers: Viewers, adapters: Mapping[str, Adapter]) -> None:
        self._store, self._viewers, self._adapters = store, viewers, adapters

    async def add(self, code: str, kind: Kind, side: int, due_at: int) -> None:
        """Store a message, to be sent at ``due_at``. If it is stored already, nothing changes."""
        await self._store.client.zadd(keys.MESSAGES, {f"{code} {kind} {side}": due_at}, nx=True)

    async def drop(self, code: str, kind: Kind) -> None:
        await self._store.client.zrem(keys.MESSAGES, *(f"{code} {kind} {side}" for side in SIDES))

    async def send_due(self, now: Callable[[], int]) -> None:
        """Send the messages whose time has come. Failed ones are tried again until a day after the duel's end."""
        client = self._store.client
        for entry in await client.zrange(keys.MESSAGES, "-inf", now(), byscore=True):
            code, kind, side = entry.decode().split(" ")
            duel = await self._store.find(code)
            if duel is None or await client.hexists(keys.duel(code), f"told:{kind}:{side}"):
                await client.zrem(keys.MESSAGES, entry)
                continue
            if (earliest := _earliest(duel, kind, now())) > now():
                await client.zadd(keys.MESSAGES, {entry: earliest})
                continue
            place = self._place(duel, kind, int(side))
            panel = await self._panel(duel, kind, int(side), place, now()) if place else None
            is_done = panel is None or await self._send(place, panel, f"duel {entry.decode()}")
            if is_done or now() > duel.ends + GIVE_UP_SECONDS:
                if panel:
                    await client.hset(keys.duel(code), f"told:{kind}:{side}", 1)
                await client.zrem(keys.MESSAGES, entry)
            else:
                await client.zadd(keys.MESSAGES, {entry: now() + RETRY_SECONDS})

    async def _send(self, place: str, panel: Panel, key: str) -> bool:
        """Send a message. Return False if it failed and must be sent again later."""
        try:
            await self._adapters[platform_of(place)].send(place, panel, key)
        except DeliveryError as error:
            log.info("duel_message_not_sent", platform=platform_of(place), why=type(error).__name__)
            return not is_retryable(error)
        return True

    def _place(self, duel: Duel, kind: str, side: int) -> str:
        """Return where a message goes; empty if nobody can read it."""
        if kind == "board":
            place = duel.place
        elif kind == "called":
            place = private_place(duel.invited.person) if duel.invited and duel.invited.person else ""
        else:
            person = duel.players[side].person if side < len(duel.players) else ""
            place = private_place(person) if person and not is_pseudonym(person) else ""
        return place if platform_of(place) in self._adapters else ""

    async def _panel(self, duel: Duel, kind: str, side: int, place: str, now: int) -> Panel | None:
        """Return a message; None if it is obsolete."""
        language = (await self._viewers.viewer_at(place)).language
        match kind:
            case "called" if not duel.closing and not duel.is_accepted:
                return called_panel(duel, language, now)
            case "accepted" if not duel.closing:
                return accepted_panel(duel, side, language, now)
            case "drawn" if not duel.closing:
                return drawn_panel(duel, side, language, now)
            case "soon" if not duel.closing and duel.next_deal(side) is not None:
                return soon_panel(duel, side, language, now)
            case "over":
                return over_panel(duel, side, language, now)
            case "board":
                return card_panel(duel, language, now)
        return None


def _earliest(duel: Duel, kind: str, now: int) -> int:
    """Return the earliest time for a message, in Unix seconds.

    After a kill, a message about an acceptance can be stored although nobody has accepted.
    """
    if kind in ("accepted", "soon") and not duel.is_accepted and not duel.closing:
        return now + RETRY_SECONDS
    return duel.ends - REMIND_SECONDS if kind == "soon" and not duel.closing else now
