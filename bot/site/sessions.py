"""Browser sessions of chat users.

A session is started with a link that works once. The browser has the session's token, and the store has only the
token's SHA-256. Of a link's secret, too, the store has only the SHA-256.
"""

import json
import secrets
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from bot.http.server import matches_digest, token_digest
from bot.store import keys
from bot.store.lua import read_script

ID_BYTES, TOKEN_BYTES = 6, 32
LINK_SECONDS = 600  # time for which a link is valid
GOOD = b"1"  # stored value of a valid link
KEPT_SECONDS = 90 * 86400  # unused sessions end after this time
NOTED_SECONDS = 3600  # shortest time between two updates of ``used``
MAX_SESSIONS = 20  # sessions of a person; a new one beyond them ends the one unused for longest
NOTE = read_script(__file__, "note_session")


class Session(NamedTuple):
    """A browser session. ``made`` and ``used`` are in Unix seconds; ``used`` is at most an hour out of date."""

    id: str
    made: int
    used: int


class Sessions:
    """All sessions of a store. Every method can raise a store error."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._note = client.register_script(NOTE)
        self.now: Callable[[], float] = time.time

    async def create_link(self, person: str) -> str:
        """Return a secret that starts a session for this person once, within ten minutes.

        The secret names the person, because the store must not name somebody who is forgotten before using the link.
        """
        secret = f"{person}.{secrets.token_urlsafe(TOKEN_BYTES)}"
        await self._client.set(keys.entrance(token_digest(secret)), GOOD, ex=LINK_SECONDS)
        return secret

    async def redeem_link(self, secret: str) -> str:
        """Invalidate a link's secret and return its person; empty if it was not valid."""
        value = await self._client.getdel(keys.entrance(token_digest(secret)))
        if value not in (None, GOOD):
            # Links of workers before release 1.0.0 have the person in the store: remove this after that release.
            return str(value.decode())
        return secret.rpartition(".")[0] if value else ""

    async def start(self, person: str) -> str:
        """Start a session for a person; return the token for the browser."""
        await self._end_unused(person, MAX_SESSIONS - 1)
        key = keys.sessions(person)
        id_, token, now = secrets.token_hex(ID_BYTES), secrets.token_urlsafe(TOKEN_BYTES), int(self.now())
        fields = {"token": token_digest(token), "made": now, "used": now}
        await self._client.hset(key, id_, json.dumps(fields))
        await self._client.expire(key, KEPT_SECONDS)
        return f"{person}.{id_}.{token}"

    async def authenticate(self, session_token: str) -> str:
        """Return the person of a browser's session; empty if it is over or unknown."""
        person, id_, token = _split_token(session_token)
        stored_session = await self._client.hget(keys.sessions(person), id_) if token else None
        if stored_session is None:
            return ""
        fields, now = json.loads(stored_session), int(self.now())
        if now - fields["used"] > KEPT_SECONDS or not matches_digest(token, fields["token"]):
            return ""
        if now - fields["used"] > NOTED_SECONDS:
            used = json.dumps({**fields, "used": now})
            await self._note(keys=[keys.sessions(person)], args=[id_, stored_session, used, KEPT_SECONDS])
            # The key lives as long as any session is used, so the unused ones are ended here.
            await self._end_unused(person, MAX_SESSIONS)
        return person

    async def sessions_of(self, person: str) -> list[Session]:
        return [session for session in await self._load(person) if not self._is_over(session)]

    async def _load(self, person: str) -> list[Session]:
        stored_sessions = await self._client.hgetall(keys.sessions(person))
        fields_by_id = [(id_.decode(), json.loads(text)) for id_, text in stored_sessions.items()]
        sessions = [Session(id_, fields["made"], fields["used"]) for id_, fields in fields_by_id]
        return sorted(sessions, key=lambda session: (-session.used, -session.made, session.id))

    def _is_over(self, session: Session) -> bool:
        return self.now() - session.used > KEPT_SECONDS

    async def _end_unused(self, person: str, limit: int) -> None:
        """End expired sessions. Of the others, keep only the ``limit`` that were used last."""
        for index, session in enumerate(await self._load(person)):
            if index >= limit or self._is_over(session):
                await self.end(person, session.id)

    async def end(self, person: str, id_: str) -> None:
        await self._client.hdel(keys.sessions(person), id_)

    async def end_all(self, person: str) -> None:
        await self._client.delete(keys.sessions(person))

    async def leave(self, session_token: str) -> None:
        if await self.authenticate(session_token):
            person, id_, _token = _split_token(session_token)
            await self.end(person, id_)


def _split_token(session_token: str) -> tuple[str, str, str]:
    """Return person, id and token; all empty if the text is malformed."""
    words = session_token.rsplit(".", 2)
    return (words[0], words[1], words[2]) if len(words) == 3 and session_token.isascii() else ("", "", "")
