"""Browsers in which people of chats are themselves: each is a session, made by a link that is good once.

A browser holds its session's token, and the store the token's SHA-256 only. So it is with links.
"""

import json
import secrets
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from bot.store import keys
from bot.store.lua import read_script
from bot.web_server import matches_digest, token_digest

ID_BYTES, TOKEN_BYTES = 6, 32
LINK_SECONDS = 600
"""How long a link is good."""

GOOD = b"1"
"""What the store has of a link that is good."""

KEPT_SECONDS = 90 * 86400
"""A session that was not used for so long is over."""

NOTED_SECONDS = 3600
"""A use is written down if the last one that was is so long ago."""

MOST_SESSIONS = 20
"""Of a person's; one more ends the one that was not used for longest."""

NOTE = read_script(__file__, "note_session")


class Session(NamedTuple):
    """A browser in which somebody is themselves; ``made`` and ``used`` in Unix seconds, the latter within an hour."""

    id: str
    made: int
    used: int


class Sessions:
    """All sessions of a store. Every method raises its errors."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._note = client.register_script(NOTE)
        self.now: Callable[[], float] = time.time

    async def create_link(self, person: str) -> str:
        """What makes whoever brings it first a session of this person's, for ten minutes.

        It tells itself whose, and the store does not: they may be forgotten meanwhile.
        """
        held = f"{person}.{secrets.token_urlsafe(TOKEN_BYTES)}"
        await self._client.set(keys.entrance(token_digest(held)), GOOD, ex=LINK_SECONDS)
        return held

    async def redeem_link(self, held: str) -> str:
        """Who was invited by this; empty if it is good no more. It is used up by that."""
        found = await self._client.getdel(keys.entrance(token_digest(held)))
        if found not in (None, GOOD):
            # Links of workers older than release 0.1.0 do not tell whose they are: once that is out this may go.
            return str(found.decode())
        return held.rpartition(".")[0] if found else ""

    async def start(self, person: str) -> str:
        """A session of a person's; returns what the browser is to hold."""
        await self._end_unused(person, MOST_SESSIONS - 1)
        key = keys.sessions(person)
        id_, token, now = secrets.token_hex(ID_BYTES), secrets.token_urlsafe(TOKEN_BYTES), int(self.now())
        fields = {"token": token_digest(token), "made": now, "used": now}
        await self._client.hset(key, id_, json.dumps(fields))
        await self._client.expire(key, KEPT_SECONDS)
        return f"{person}.{id_}.{token}"

    async def authenticate(self, held: str) -> str:
        """The person whose session a browser holds; empty if it is over, or none."""
        person, id_, token = _split(held)
        known = await self._client.hget(keys.sessions(person), id_) if token else None
        if known is None:
            return ""
        fields, now = json.loads(known), int(self.now())
        if now - fields["used"] > KEPT_SECONDS or not matches_digest(token, fields["token"]):
            return ""
        if now - fields["used"] > NOTED_SECONDS:
            used = json.dumps({**fields, "used": now})
            await self._note(keys=[keys.sessions(person)], args=[id_, known, used, KEPT_SECONDS])
            # The key stays as long as one of them is used.
            await self._end_unused(person, MOST_SESSIONS)
        return person

    async def sessions_of(self, person: str) -> list[Session]:
        """A person's sessions, the last used first."""
        return [one for one in await self._stored(person) if not self._is_over(one)]

    async def _stored(self, person: str) -> list[Session]:
        """The same, with those that are over."""
        found = await self._client.hgetall(keys.sessions(person))
        known = [(id_.decode(), json.loads(text)) for id_, text in found.items()]
        sessions = [Session(id_, fields["made"], fields["used"]) for id_, fields in known]
        return sorted(sessions, key=lambda one: (-one.used, -one.made, one.id))

    def _is_over(self, session: Session) -> bool:
        return self.now() - session.used > KEPT_SECONDS

    async def _end_unused(self, person: str, most: int) -> None:
        """End what is over, and what was not used for longest where there are more than so many."""
        for place, session in enumerate(await self._stored(person)):
            if place >= most or self._is_over(session):
                await self.end(person, session.id)

    async def end(self, person: str, id_: str) -> None:
        """End one; nothing if it is over."""
        await self._client.hdel(keys.sessions(person), id_)

    async def end_all(self, person: str) -> None:
        await self._client.delete(keys.sessions(person))

    async def leave(self, held: str) -> None:
        """End the session that a browser holds, if it does hold one."""
        if await self.authenticate(held):
            person, id_, _token = _split(held)
            await self.end(person, id_)


def _split(held: str) -> tuple[str, str, str]:
    """Person, id and token; all empty for what is no such thing."""
    parts = held.rsplit(".", 2)
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 and held.isascii() else ("", "", "")
