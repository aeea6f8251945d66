"""The archive: every finished game's record, for replays, exports and ratings.

A game is stored as zlib of JSON. Its id is its table's code and the first digits of its first commitment, so that
archiving it twice stores it once; games are numbered in the order in which they came in.
"""

import json
import time
import zlib
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import Any

from bot.platform import chat_of, is_private
from bot.store import keys
from bot.tables.table import Table
from engine import Record, read

NUMBER = """
local known = redis.call('ZSCORE', KEYS[1], ARGV[1])
if known then return tonumber(known) end
local number = redis.call('ZCARD', KEYS[1]) + 1
redis.call('ZADD', KEYS[1], number, ARGV[1])
return number
"""


@dataclass(frozen=True)
class FinishedGame:
    """A finished game. ``people`` are ``platform:id`` by seat, ``chats`` the group chats that watched.

    ``ended`` is in Unix seconds; ``clock`` and ``strict`` as at the table.
    """

    id: str
    code: str
    ended: int
    people: list[str]
    chats: list[str]
    clock: int
    strict: bool
    record: Record

    @property
    def is_rated(self) -> bool:
        """Whether it counts for ratings: somebody won, and no robot took part."""
        return bool(self.record.winner) and not any(person.startswith("robot:") for person in self.people)

    @property
    def month(self) -> str:
        """When it ended, as ``2026-11``, in UTC."""
        return time.strftime("%Y-%m", time.gmtime(self.ended))

    def to_bytes(self) -> bytes:
        fields = asdict(self) | {"record": json.loads(self.record.to_json())}
        return zlib.compress(json.dumps(fields, separators=(",", ":")).encode(), 9)

    @classmethod
    def of(cls, stored: bytes) -> "FinishedGame":
        fields = json.loads(zlib.decompress(stored))
        return cls(**fields | {"record": read(json.dumps(fields["record"]))})


def game_id(table: Table) -> str:
    """What a table's game is called in the archive."""
    assert table.game
    proof = table.game.record().deals[0].proof
    return f"{table.code}-{proof.commitment[:6] if proof else '0'}"


class Archive:
    """The finished games of one store."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._number = client.register_script(NUMBER)

    async def add(self, table: Table, now: float) -> FinishedGame:
        """Keep a game that is over; one that is kept already stays as it is."""
        assert table.game
        game = FinishedGame(
            id=game_id(table),
            code=table.code,
            ended=int(now),
            people=[chair.person if chair else "" for chair in table.chairs],
            chats=list(dict.fromkeys(chat_of(place) for place in table.hosts if not is_private(place))),
            clock=table.clock,
            strict=table.strict,
            record=table.game.record(),
        )
        await self._client.set(keys.game(game.id), game.to_bytes(), nx=True)
        await self._number(keys=[keys.GAMES_ORDER], args=[game.id])
        for whose in (*game.people, *game.chats):
            if whose and not whose.startswith("robot:"):
                await self._client.set(keys.last_game(whose), game.id)
        return game

    async def last(self, whose: str) -> FinishedGame | None:
        """The game that a person or a chat finished last."""
        found = await self._client.get(keys.last_game(whose))
        return await self.get(found.decode()) if found else None

    async def get(self, id: str) -> FinishedGame | None:  # noqa: A002
        stored = await self._client.get(keys.game(id))
        return FinishedGame.of(stored) if stored else None

    async def count(self) -> int:
        return int(await self._client.zcard(keys.GAMES_ORDER))

    async def numbered(self, number: int) -> FinishedGame | None:
        """The game with this number, from 1."""
        found = await self._client.zrange(keys.GAMES_ORDER, number, number, byscore=True)
        return await self.get(found[0].decode()) if found else None

    async def all(self) -> AsyncIterator[FinishedGame]:
        """Every game, in order."""
        for number in range(1, await self.count() + 1):
            game = await self.numbered(number)
            if game:
                yield game
