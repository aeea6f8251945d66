"""The people on our pages: guests, known by a cookie, and people of a chat, known by a session (`bot.site.sessions`).

A session takes precedence over a guest's cookie.

| key | type | value |
|---|---|---|
| ``web:people`` | hash | guests by id, as JSON: name and the SHA-256 of the cookie's token |
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
from bot.card_room import CardRoom
from bot.http.server import matches_digest, token_digest
from bot.identity import programs
from bot.identity.adapter_data import StoredField
from bot.identity.names import NO_NAME, person_name
from bot.identity.pseudonyms import GUEST, is_guest_name
from bot.platform import Person, platform_of, private_place
from bot.site.sessions import KEPT_SECONDS, Sessions
from bot.texts import gettext_noop as _

PLATFORM = "web"
PEOPLE = "web:people"
# A session in another site's frame has its own cookie name, because browsers can hold both at once.
COOKIE, SESSION, FRAMED = "buongioco", "buongioco_session", "buongioco_framed"
SESSIONS = (FRAMED, SESSION)
# Lifetimes from the last visit. Browsers keep no cookie longer than 400 days.
COOKIE_SECONDS = {COOKIE: 400 * 86400, SESSION: KEPT_SECONDS, FRAMED: KEPT_SECONDS}

READER_TAG: web.RequestKey[str] = web.RequestKey("reader_tag", str)  # of the identified reader, "" for a stranger
READER_COOKIE: web.RequestKey[str] = web.RequestKey("reader_cookie", str)  # the cookie that identified the reader

ID_BYTES, TOKEN_BYTES = 6, 24
LONGEST_NAME = 32
# Limit of new guests from all addresses together, because the store keeps them. `Limits.count_newcomer` limits each
# address.
MAX_NEW, NEW_SECONDS = 300, 60.0

RENAME = Path(__file__).with_name("rename.lua").read_text(encoding="utf-8")


class WebPerson(NamedTuple):
    """A reader of our pages; ``person`` is ``platform:id``."""

    person: str
    name: str
    handle: str = ""

    @property
    def id(self) -> str:
        return self.person.partition(":")[2]

    @property
    def is_guest(self) -> bool:
        """True for people without an account in a chat."""
        return platform_of(self.person) == PLATFORM

    @property
    def tag(self) -> str:
        """An id of twelve characters for keys and counts. It does not reveal a chat account."""
        return self.id if self.is_guest else sha256(self.person.encode()).hexdigest()[: 2 * ID_BYTES]

    @property
    def place(self) -> str:
        """The place of the reader's presses: their private chat, which shows the same as the page."""
        return private_place(self.person)

    def as_person(self, language: str) -> Person:
        return Person(self.person, self.name, self.handle, language)


def list_stored_fields(person: str) -> list[StoredField]:
    return programs.stored_fields(person) or [StoredField(PEOPLE, person.partition(":")[2])]


class WebPeople:
    """The people in the store. Every method can raise `STORE_ERRORS`."""

    def __init__(self, card_room: CardRoom) -> None:
        self._card_room = card_room
        self._client = client = card_room.redis
        self.sessions = Sessions(client)
        self._rename = client.register_script(RENAME)
        self._recent: deque[float] = deque()

    async def identify(self, request: web.Request) -> WebPerson | None:
        """Return the reader with these cookies, or None for a stranger."""
        reader = await self._identify(request)
        request[READER_TAG] = reader.tag if reader else ""
        return reader

    async def _identify(self, request: web.Request) -> WebPerson | None:
        for cookie in SESSIONS:
            person = await self.sessions.authenticate(request.cookies.get(cookie, ""))
            if person and (profile := await self._card_room.lobby.profile(person)).is_known:
                request[READER_COOKIE] = cookie
                return WebPerson(person, profile.name, profile.handle)
        id_, _dot, token = request.cookies.get(COOKIE, "").partition(".")
        if not token or not id_.isascii():
            return None
        stored_text = await self._client.hget(PEOPLE, id_)
        if stored_text is None:
            return None
        fields = json.loads(stored_text)
        if not matches_digest(token, fields["session"]):
            return None
        request[READER_COOKIE] = COOKIE
        return WebPerson(f"{PLATFORM}:{id_}", person_name(fields["name"]))

    async def session_people(self, request: web.Request) -> list[str]:
        """Return the people of the browser's sessions, "" for an invalid one."""
        return [await self.sessions.authenticate(request.cookies.get(cookie, "")) for cookie in SESSIONS]

    async def sign_out(self, request: web.Request) -> None:
        for cookie in SESSIONS:
            await self.sessions.leave(request.cookies.get(cookie, ""))

    async def add_guest(self, name: str) -> tuple[WebPerson, str]:
        """Add a guest; return them and their cookie's value. Raise `Refused` if too many came in the last minute."""
        now = time.monotonic()
        while self._recent and now - self._recent[0] > NEW_SECONDS:
            self._recent.popleft()
        if len(self._recent) >= MAX_NEW:
            raise Refused(_("Too many people came at once: try again in a minute."))
        self._recent.append(now)
        guest = GUEST.format(number=secrets.randbelow(900) + 100)
        token = secrets.token_urlsafe(TOKEN_BYTES)
        person = WebPerson(f"{PLATFORM}:{secrets.token_hex(ID_BYTES)}", clean_name(name) or guest)
        await self._client.hset(PEOPLE, person.id, json.dumps({"name": person.name, "session": token_digest(token)}))
        return person, f"{person.id}.{token}"

    async def rename(self, person: WebPerson, name: str) -> WebPerson:
        """Rename a guest. People from a chat keep their name there. Do nothing if the guest was forgotten."""
        name = clean_name(name) if person.is_guest else ""
        if not name or name == person.name:
            return person
        while stored := await self._client.hget(PEOPLE, person.id):
            renamed = json.dumps(json.loads(stored) | {"name": name})
            if await self._rename(keys=[PEOPLE], args=[person.id, stored, renamed]):
                return person._replace(name=name)
        return person


def form_names(reader: WebPerson | None) -> dict[str, str]:
    """Return the name that a reader has chosen, and the name of a reader from a chat; "" for a missing one."""
    return {
        "name": "" if reader is None or is_guest_name(reader.name) else reader.name,
        "chat_name": "" if reader is None or reader.is_guest else reader.name,
    }


def set_cookie(response: web.StreamResponse, cookie: str, value: str, *, secure: bool) -> None:
    """Set a cookie, or delete it if the value is empty. `FRAMED` works in another site's frame, and only there."""
    framed = cookie == FRAMED and secure
    flags = ["HttpOnly", "Path=/", f"Max-Age={COOKIE_SECONDS[cookie] if value else 0}"]
    # http.cookies supports "Partitioned" only from Python 3.14 on.
    flags += ["Secure", "SameSite=None", "Partitioned"] if framed else ["SameSite=Lax"]
    flags += ["Secure"] if secure and not framed else []
    response.headers.add("Set-Cookie", "; ".join((f"{cookie}={value}", *flags)))


def clean_name(name: str) -> str:
    """Return a name without forbidden characters, or "" if nothing is left."""
    name = person_name(name.encode("utf-8", "ignore").decode(), LONGEST_NAME)
    return "" if name == NO_NAME else name
