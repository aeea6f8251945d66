"""Who one is on our pages: a person of one's own, known by a cookie.

| key | type | what |
|---|---|---|
| ``web:people`` | hash | a person by id, JSON: name, and the SHA-256 of what their cookie has |
"""

import json
import secrets
import time
from collections import deque
from hashlib import sha256
from typing import Any, NamedTuple

from aiohttp import web

from adapters.web.refusals import Refused
from bot.privacy.kept import Kept
from bot.serving import is_same_secret
from bot.texts import marked as _
from bot.texts import texts

PLATFORM = "web"
PEOPLE = "web:people"
COOKIE = "buongioco"
COOKIE_SECONDS = 400 * 86400
"""As long as browsers keep any cookie."""

ID_BYTES, TOKEN_BYTES = 6, 24
LONGEST_NAME = 32
MOST_NEW, NEW_SECONDS = 60, 60.0
"""How many people may be new in so many seconds: each stays in the store."""


class WebPerson(NamedTuple):
    """Somebody who plays on our pages."""

    id: str
    name: str

    @property
    def person(self) -> str:
        return f"{PLATFORM}:{self.id}"


def kept_of(person: str) -> list[Kept]:
    """What is kept of a person: their name, and how their cookie is known."""
    return [Kept(PEOPLE, person.partition(":")[2])]


class WebPeople:
    """All of them, in the store. Every method raises its errors."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._new: deque[float] = deque()

    async def whose(self, request: web.Request) -> WebPerson | None:
        """Who asks, by their cookie; None for a stranger."""
        id_, _dot, token = request.cookies.get(COOKIE, "").partition(".")
        if not token or not id_.isascii():
            return None
        known = await self._client.hget(PEOPLE, id_)
        if known is None:
            return None
        fields = json.loads(known)
        return WebPerson(id_, fields["name"]) if is_same_secret(_digest(token), fields["session"]) else None

    async def admit(self, language: str, name: str) -> tuple[WebPerson, str]:
        """Somebody new, and what their cookie is to hold. Refused if too many have come just now."""
        now = time.monotonic()
        while self._new and now - self._new[0] > NEW_SECONDS:
            self._new.popleft()
        if len(self._new) >= MOST_NEW:
            raise Refused(_("Too many people have come just now: try again in a minute."))
        self._new.append(now)
        guest = texts(language).gettext("Guest {number}").format(number=secrets.randbelow(900) + 100)
        token = secrets.token_urlsafe(TOKEN_BYTES)
        person = WebPerson(secrets.token_hex(ID_BYTES), clean_name(name) or guest)
        await self._keep(person, _digest(token))
        return person, f"{person.id}.{token}"

    async def rename(self, person: WebPerson, name: str) -> WebPerson:
        """The person by another name; the same if it is none."""
        name = clean_name(name)
        if not name or name == person.name:
            return person
        known = json.loads(await self._client.hget(PEOPLE, person.id))
        renamed = person._replace(name=name)
        await self._keep(renamed, known["session"])
        return renamed

    async def _keep(self, person: WebPerson, session: str) -> None:
        await self._client.hset(PEOPLE, person.id, json.dumps({"name": person.name, "session": session}))


def set_cookie(response: web.Response, value: str, *, secure: bool) -> None:
    """Have the browser say who its reader is from now on."""
    response.set_cookie(COOKIE, value, max_age=COOKIE_SECONDS, path="/", httponly=True, samesite="Lax", secure=secure)


def clean_name(name: str) -> str:
    """A name as it may stand at a table; empty if nothing is left of it."""
    printable = "".join(char if char.isprintable() else " " for char in name)
    return " ".join(printable.encode("utf-8", "ignore").decode().split())[:LONGEST_NAME].strip()


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
