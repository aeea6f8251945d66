"""Who one is on our pages: a person of one's own, known by a cookie, or somebody of a chat, by a session's
(`bot.sessions`), which goes first.

| key | type | what |
|---|---|---|
| ``web:people`` | hash | a person by id, JSON: name, and the SHA-256 of what their cookie has |
"""

import json
import secrets
import time
from collections import deque
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from aiohttp import web

from adapters.web.refusals import Refused
from bot import programs
from bot.adapter_data import StoredField
from bot.card_room import CardRoom
from bot.names import NO_NAME, person_name
from bot.platform import Person, platform_of, private_place
from bot.pseudonyms import GUEST
from bot.sessions import KEPT_SECONDS, Sessions
from bot.texts import gettext_noop as _
from bot.web_server import matches_digest, token_digest

PLATFORM = "web"
PEOPLE = "web:people"
COOKIE, SESSION, FRAMED = "buongioco", "buongioco_session", "buongioco_framed"
"""A frame's session has a name of its own, for a browser keeps it apart: by one name it might hold both."""

SESSIONS = (FRAMED, SESSION)
COOKIE_SECONDS = {COOKIE: 400 * 86400, SESSION: KEPT_SECONDS, FRAMED: KEPT_SECONDS}
"""How long after they were last sent. A person of one's own is known as long as browsers keep any cookie."""

READER_COOKIE: web.RequestKey[str] = web.RequestKey("known_by", str)
"""The cookie that says who asks."""

ID_BYTES, TOKEN_BYTES = 6, 24
LONGEST_NAME = 32
MOST_NEW, NEW_SECONDS = 300, 60.0
"""How many people may be new in so many seconds, from all addresses together (`Limits.newcomer`): each stays in the
store.
"""

RENAME = Path(__file__).with_name("rename.lua").read_text(encoding="utf-8")


class WebPerson(NamedTuple):
    """Somebody who plays on our pages; ``person`` is ``platform:id``."""

    person: str
    name: str
    handle: str = ""

    @property
    def id(self) -> str:
        return self.person.partition(":")[2]

    @property
    def is_guest(self) -> bool:
        """Whether they are of our pages alone, and of no chat."""
        return platform_of(self.person) == PLATFORM

    @property
    def tag(self) -> str:
        """Tells them from all others, in twelve characters."""
        return self.id if self.is_guest else sha256(self.person.encode()).hexdigest()[: 2 * ID_BYTES]

    @property
    def place(self) -> str:
        """Where what they do here is done: their private chat, of which a page shows the same."""
        return private_place(self.person)

    def as_person(self, language: str) -> Person:
        """As the card room knows them; their browser speaks a language."""
        return Person(self.person, self.name, self.handle, language)


def kept_of(person: str) -> list[StoredField]:
    """What is kept of a person: their name, and how their cookie is known; or of a program."""
    return programs.stored_fields(person) or [StoredField(PEOPLE, person.partition(":")[2])]


class WebPeople:
    """All of them, in the store. Every method raises its errors."""

    def __init__(self, card_room: CardRoom) -> None:
        self._card_room = card_room
        self._client = client = card_room.redis
        self.sessions = Sessions(client)
        self._rename = client.register_script(RENAME)
        self._recent: deque[float] = deque()

    async def identify(self, request: web.Request) -> WebPerson | None:
        """Who asks, by their cookies; None for a stranger."""
        for cookie in SESSIONS:
            person = await self.sessions.authenticate(request.cookies.get(cookie, ""))
            if person and (profile := await self._card_room.lobby.profile(person)).is_known:
                request[READER_COOKIE] = cookie
                return WebPerson(person, profile.name, profile.handle)
        id_, _dot, token = request.cookies.get(COOKIE, "").partition(".")
        if not token or not id_.isascii():
            return None
        known = await self._client.hget(PEOPLE, id_)
        if known is None:
            return None
        fields = json.loads(known)
        if not matches_digest(token, fields["session"]):
            return None
        request[READER_COOKIE] = COOKIE
        return WebPerson(f"{PLATFORM}:{id_}", person_name(fields["name"]))

    async def is_signed_in(self, request: web.Request, reader: WebPerson) -> bool:
        """Whether the session with which somebody of a chat came has not been ended."""
        return reader.is_guest or reader.person in await self.session_people(request)

    async def session_people(self, request: web.Request) -> list[str]:
        """The people of chats whose sessions a browser holds."""
        return [await self.sessions.authenticate(request.cookies.get(cookie, "")) for cookie in SESSIONS]

    async def sign_out(self, request: web.Request) -> None:
        """End them all."""
        for cookie in SESSIONS:
            await self.sessions.leave(request.cookies.get(cookie, ""))

    async def add_guest(self, name: str) -> tuple[WebPerson, str]:
        """Somebody new, and what their cookie is to hold. Refused if too many have come just now."""
        now = time.monotonic()
        while self._recent and now - self._recent[0] > NEW_SECONDS:
            self._recent.popleft()
        if len(self._recent) >= MOST_NEW:
            raise Refused(_("Too many people have come just now: try again in a minute."))
        self._recent.append(now)
        guest = GUEST.format(number=secrets.randbelow(900) + 100)
        token = secrets.token_urlsafe(TOKEN_BYTES)
        person = WebPerson(f"{PLATFORM}:{secrets.token_hex(ID_BYTES)}", clean_name(name) or guest)
        await self._client.hset(PEOPLE, person.id, json.dumps({"name": person.name, "session": token_digest(token)}))
        return person, f"{person.id}.{token}"

    async def rename(self, person: WebPerson, name: str) -> WebPerson:
        """The person by another name; the same if it is none, if they are kept no more, or called as in their chat."""
        name = clean_name(name) if person.is_guest else ""
        if not name or name == person.name:
            return person
        while known := await self._client.hget(PEOPLE, person.id):
            renamed = json.dumps(json.loads(known) | {"name": name})
            if await self._rename(keys=[PEOPLE], args=[person.id, known, renamed]):
                return person._replace(name=name)
        return person


def set_cookie(response: web.StreamResponse, cookie: str, value: str, *, secure: bool) -> None:
    """Have the browser say who its reader is from now on; no more, where there is nothing to say. A page with
    ``FRAMED`` may stand in another site's frame: the browser keeps the cookie for that site's frames alone.
    """
    framed = cookie == FRAMED and secure
    flags = ["HttpOnly", "Path=/", f"Max-Age={COOKIE_SECONDS[cookie] if value else 0}"]
    # Python's own cookies know of "Partitioned" from 3.14 on.
    flags += ["Secure", "SameSite=None", "Partitioned"] if framed else ["SameSite=Lax"]
    flags += ["Secure"] if secure and not framed else []
    response.headers.add("Set-Cookie", "; ".join((f"{cookie}={value}", *flags)))


def clean_name(name: str) -> str:
    """Return a name as it may stand at a table; empty if nothing is left of it."""
    name = person_name(name.encode("utf-8", "ignore").decode(), LONGEST_NAME)
    return "" if name == NO_NAME else name
