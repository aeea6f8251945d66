"""Other people's programs that play: identified by a token, and shown as robots.

A token is shown once, when it is created. The store has only its SHA-256.
"""

import json
import secrets
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Literal, NamedTuple, get_args

from bot.http.server import matches_digest, token_digest
from bot.identity.adapter_data import StoredField
from bot.identity.names import person_name, plain_name
from bot.platform import PSEUDONYM_PLATFORM
from bot.store import keys
from bot.store.lua import read_script

Scope = Literal["read", "play"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
GUESTS = "web:"  # id prefix of guests of the web pages, and of programs
PREFIX = "web:robot-"  # id prefix of programs: their platform is our web API
PSEUDONYM_PREFIX = f"{PSEUDONYM_PLATFORM}:robot-"  # id prefix of forgotten programs
ID_BYTES, TOKEN_BYTES = 6, 32
MAX_PROGRAMS = 1000
MAX_OF_PEOPLE = 900  # programs of all people, to leave room for the host's
MAX_EACH = 5  # programs of one person
LONGEST_PROGRAM_NAME = 60

KEEP = read_script(__file__, "keep_program")


class ProgramError(Exception):
    """A program's request is not possible; the text says why, in English.

    ``reason`` is "banned" if the host has banned the program or its owner, and "missing" if nothing of this kind exists
    for the program. It is "outdated" if the program decided on an outdated state, "too_often" if it can ask again after
    ``wait`` seconds, and "invalid" otherwise.
    """

    def __init__(
        self,
        reason: Literal["banned", "missing", "outdated", "too_often", "invalid"],
        text: str,
        wait: float | None = None,
    ) -> None:
        super().__init__(text)
        self.reason, self.wait = reason, wait


class Program(NamedTuple):
    """A program that plays. The scope "play" includes "read".

    ``owner`` created its token in a chat, and is never shown to players. It is empty for the host's programs.
    """

    id: str
    name: str
    scopes: tuple[Scope, ...]
    owner: str = ""

    @property
    def person(self) -> str:
        return f"{PREFIX}{self.id}"


def is_program(person: str) -> bool:
    """Return whether a person is a program. A program's pseudonym counts too, so its games never become rated."""
    return person.startswith((PREFIX, PSEUDONYM_PREFIX))


def is_web_guest(person: str) -> bool:
    """Return whether a person is a guest of the web pages. One person with several cookies counts as several guests."""
    return person.startswith(GUESTS) and not is_program(person)


def name_of(person: str, name: str) -> str:
    """Return a printable name: only robots and programs can have the robot sign in it."""
    has_sign = person.startswith("robot:") or is_program(person)
    return plain_name(name) if has_sign else person_name(name)


def stored_fields(person: str) -> list[StoredField]:
    """Return the field of the store with a program's data. Return an empty list for other people."""
    return [StoredField(keys.PROGRAMS, person.removeprefix(PREFIX))] if is_program(person) else []


class Programs:
    """All programs of a store. Every method can raise a store error."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._keep_if_few = client.register_script(KEEP)

    async def add(self, name: str, scopes: Sequence[Scope] = SCOPES) -> tuple[Program, str]:
        """Create a program; return it and its token. Raise ValueError if there are too many."""
        program = Program(secrets.token_hex(ID_BYTES), f"🤖 {person_name(name, LONGEST_PROGRAM_NAME)}", tuple(scopes))
        return program, await self._keep(program)

    async def add_owned(self, owner: str, scopes: Sequence[Scope], update: str) -> tuple[Program, str]:
        """Create a person's program like `add`, with a name that does not identify them.

        A repeated ``update`` returns the same program with a new token, because the first answer could have been lost.
        """
        id_ = sha256(f"{owner} {update}".encode()).hexdigest()[: 2 * ID_BYTES]
        program = Program(id_, f"🤖 {id_[:4]}", tuple(scopes), owner)
        return program, await self._keep(program)

    async def _keep(self, program: Program) -> str:
        """Store a program and return its new token. Raise ValueError if there are too many."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        fields = {"name": program.name, "scopes": program.scopes, "token": token_digest(token)}
        if program.owner:
            fields["owner"] = program.owner
        is_kept = await self._keep_if_few(
            keys=[keys.PROGRAMS],
            args=[program.id, json.dumps(fields), program.owner, MAX_PROGRAMS, MAX_OF_PEOPLE, MAX_EACH],
        )
        if not is_kept:
            raise ValueError("there are too many programs: revoke one first")
        return f"{program.id}.{token}"

    async def owned_by(self, owner: str) -> list[Program]:
        return [program for program in await self.all_programs() if program.owner == owner]

    async def revoke_owned(self, owner: str, id_: str | None = None) -> None:
        """Revoke a person's program with this id, if they have it; by default all their programs."""
        for program in await self.owned_by(owner):
            if id_ in (None, program.id):
                await self.revoke(program.id)

    async def all_programs(self) -> list[Program]:
        stored_programs = await self._client.hgetall(keys.PROGRAMS)
        programs = [_program(id_.decode(), json.loads(text)) for id_, text in stored_programs.items()]
        return sorted(programs, key=lambda program: program.name)

    async def revoke(self, id_: str) -> bool:
        """Revoke a program's token; return False if the program is unknown. Its games continue without it."""
        is_known = bool(await self._client.hdel(keys.PROGRAMS, id_))
        await self._client.delete(keys.used_keys(id_))
        return is_known

    async def authenticate(self, token: str) -> Program | None:
        id_, _dot, secret = token.partition(".")
        text = await self._client.hget(keys.PROGRAMS, id_) if secret and id_.isascii() else None
        if text is None:
            return None
        fields = json.loads(text)
        return _program(id_, fields) if matches_digest(secret, fields["token"]) else None


def _program(id_: str, fields: dict[str, Any]) -> Program:
    return Program(id_, fields["name"], tuple(fields["scopes"]), fields.get("owner", ""))
